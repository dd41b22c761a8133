"""Tool calls of captured sessions. Derived from sources: they can be read again at any time."""

from collections.abc import Sequence

from recollect.domain.scope import Owner
from recollect.domain.tool_call import ActionKind, RecordedCall
from recollect.store.database_connection import RowList, record_shape
from recollect.store.repositories.repository import Repository, field_values

_call = record_shape(
    RecordedCall, "source_id session kind name subject outcome error start called_at"
)


class ToolCallRepository(Repository):
    """Tool calls by file, program or session, and the sources that wait to be read for them."""

    _statements = "tool_calls"

    def add(self, source_id: str, calls: Sequence[RecordedCall]) -> None:
        """
        Store the calls of an unread source, which is then no longer unread.

        Earlier captures of the same session lose the calls that this one contains again.
        """
        if calls:
            rows = RowList(field_values(call, without=("session",)) for call in calls)
            self._run("delete_repeated", source_id=source_id, rows=rows)
            self._run("add_calls", rows=rows)
        self._run("remove_unread", source_id=source_id)

    def unread_sources(self, *, limit: int) -> list[str]:
        """Return the ids of sources whose calls are not stored yet, oldest first."""
        return self._column("unread_sources", limit=limit)

    def calls_named(
        self, kind: ActionKind, names: Sequence[str], owners: Sequence[Owner], *, limit: int
    ) -> list[RecordedCall]:
        """Return the calls of a kind with one of *names*, captured for *owners*, latest first."""
        values = {"kind": kind, "names": list(names), "owners": _pairs(owners), "limit": limit}
        return self._all(_call, "calls_named", **values)

    def failures(self, owners: Sequence[Owner], *, limit: int) -> list[RecordedCall]:
        """Return the calls captured for *owners* that have an error, the latest first."""
        return self._all(_call, "failures", owners=_pairs(owners), limit=limit)

    def of_sources(self, source_ids: Sequence[str]) -> list[RecordedCall]:
        """Return the calls of some sources, in the order in which they were made."""
        return self._all(_call, "of_sources", source_ids=list(source_ids))

    def latest_session(self, owners: Sequence[Owner]) -> str | None:
        """Return the session with calls that was captured last for *owners*, or None."""
        session: str | None = self._value("latest_session", owners=_pairs(owners))
        return session

    def sources_of_sessions(self, sessions: Sequence[str], owners: Sequence[Owner]) -> list[str]:
        """Return the ids of the sources of some sessions, captured for *owners*, oldest first."""
        values = {"sessions": list(sessions), "owners": _pairs(owners)}
        return self._column("sources_of_sessions", **values)


def _pairs(owners: Sequence[Owner]) -> list[list[str]]:
    return [[owner.scope, owner.id] for owner in owners]
