"""Runs of agents and their tool calls."""

from datetime import datetime

from recollect.domain.agent_run import Run, RunCall
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import EARLIEST, LATEST, Repository, field_values

_RUN = """
id conversation_id state stop_reason model max_steps steps input_tokens output_tokens cost_usd
first_position error started_at updated_at
"""
_CALL = """
id run_id conversation_id step place message_id call_id tool state expires_at updated_at
"""
_run = record_shape(Run, _RUN)
_call = record_shape(RunCall, _CALL)


class RunRepository(Repository):
    """Runs of agents and their tool calls."""

    _statements = "runs"

    def add(self, run: Run) -> None:
        """Store a new run; a second open one of the same conversation is refused."""
        self._run("add_run", **field_values(run))

    def set(self, run: Run) -> None:
        """Store the state, the stop reason and the usage of a run."""
        self._run("set_run", **field_values(run))

    def get(self, run_id: str) -> Run | None:
        """Return the run with that id, or None."""
        return self._first(_run, "run", id=run_id)

    def open_run(self, conversation_id: str) -> Run | None:
        """Return the run of a conversation that has not ended, or None."""
        return self._first(_run, "open_run", conversation_id=conversation_id)

    def of_conversation(self, conversation_id: str, *, limit: int) -> list[Run]:
        """Return the runs of a conversation, the latest first."""
        return self._all(_run, "runs", conversation_id=conversation_id, limit=limit)

    def add_call(self, call: RunCall) -> None:
        """Store a tool call that the model made."""
        self._run("add_call", **field_values(call))

    def set_call(self, call: RunCall) -> None:
        """Store the state of a tool call."""
        self._run("set_call", **field_values(call))

    def call(self, call_id: str) -> RunCall | None:
        """Return the tool call with that id of ours, or None."""
        return self._first(_call, "call", id=call_id)

    def calls(self, run_id: str) -> list[RunCall]:
        """Return the tool calls of a run, in order."""
        return self._all(_call, "calls", run_id=run_id)

    def awaiting(
        self, *, after: datetime | None = None, until: datetime | None = None, limit: int
    ) -> list[RunCall]:
        """Return calls that wait for a decision and expire in a time range, in that order."""
        times = {"after": after or EARLIEST, "until": until or LATEST}
        return self._all(_call, "awaiting", **times, limit=limit)
