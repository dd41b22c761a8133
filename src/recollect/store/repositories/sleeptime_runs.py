"""Runs of sleeptime, and their edits of blocks."""

from datetime import datetime

from recollect.domain.sleeptime import MAX_RETRY_DELAY, SleeptimeEdit, SleeptimeRun
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository, field_values

_RUN = """
id agent_id conversation_id state trigger event_id first_position last_position made_by note
requested_at ended_at attempts lease_until
"""
_EDIT = """
run_id place block_id label version_before version_after proposal_id replaced_proposal_id
"""
_run = record_shape(SleeptimeRun, _RUN)
_edit = record_shape(SleeptimeEdit, _EDIT)


class SleeptimeRunRepository(Repository):
    """Runs of sleeptime, and their edits of blocks."""

    _statements = "sleeptime_runs"

    def add(self, run: SleeptimeRun) -> None:
        """Store a run that is due; a second open one of the same conversation is refused."""
        self._run("add_run", **_values(run))

    def set(self, run: SleeptimeRun) -> None:
        """Store how far a run is."""
        self._run("set_run", **_values(run))

    def get(self, run_id: str) -> SleeptimeRun | None:
        """Return the run with that id, or None."""
        return self._first(_run, "run", id=run_id)

    def claimable(self, *, now: datetime, limit: int) -> list[SleeptimeRun]:
        """Return the open runs that no worker has and that are due, the first requested first."""
        longest = now + MAX_RETRY_DELAY
        return self._all(_run, "claimable_runs", now=now, longest_lease=longest, limit=limit)

    def open_run(self, conversation_id: str) -> SleeptimeRun | None:
        """Return the run of a conversation that is due or reading, or None."""
        return self._first(_run, "open_run", conversation_id=conversation_id)

    def of_agent(self, agent_id: str, *, limit: int) -> list[SleeptimeRun]:
        """Return the runs of an agent, the latest first."""
        return self._all(_run, "runs", agent_id=agent_id, limit=limit)

    def read_to(self, conversation_id: str) -> int:
        """Return the position of the last message that was read, -1 if none was."""
        position: int = self._value("read_to", conversation_id=conversation_id)
        return position

    def unread_turns(self, conversation_id: str, *, after: int) -> int:
        """Return how many messages of the user come after a position."""
        count: int = self._value("unread_turns", conversation_id=conversation_id, after=after)
        return count

    def add_edit(self, edit: SleeptimeEdit) -> None:
        """Store an edit of a block."""
        self._run("add_edit", **field_values(edit))

    def edits(self, run_id: str) -> list[SleeptimeEdit]:
        """Return the edits of a run, in order."""
        return self._all(_edit, "edits", run_id=run_id)


def _values(run: SleeptimeRun) -> dict[str, object]:
    values = field_values(run)
    return {name: value for name, value in values.items() if name in _RUN.split()}
