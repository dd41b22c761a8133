"""Single memories: read, list, correct, change their status."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.maintenance import ConflictPair
from recollect.domain.memory import Memory
from recollect.domain.source import SourceWindow
from recollect.wire.requests import memories as requests
from recollect.wire.requests.memories import SOURCE_MARGIN


class Memories(VerbGroup):
    """Read, list and change single memories."""

    def ingest_many(self, items: Sequence[Mapping[str, Any]]) -> list[Memory]:
        """Store several memories, all or none; each is a dict of `ingest`'s arguments."""
        return self._send(requests.IngestManyRequest, locals())

    def get(self, memory_id: str) -> Memory:
        """Return one memory."""
        return self._send(requests.GetMemoryRequest, locals())

    def set_status(
        self, memory_id: str, status: str, *, reason: str = "", by: str = "user"
    ) -> Memory:
        """Change a memory's status to inbox, active, superseded, contradicted or archived."""
        return self._send(requests.SetStatusRequest, locals())

    def confirm(self, memory_id: str) -> Memory:
        """Record that a memory is still true, which makes it fresh again."""
        return self._send(requests.ConfirmMemoryRequest, locals())

    def edit(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        type: str | None = None,
        scope: str | None = None,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        tags: Texts | None = None,
        rationale: str | None = None,
        observed_at: Moment = None,
        reason: str = "",
    ) -> Memory:
        """
        Correct a memory: its wording, type, scope, tags or date. Return the new, active memory.

        The new memory has the quotes of the original and replaces it; the original stays readable
        as superseded, and `undo` of the new memory restores it. What is None stays as it is.
        """
        return self._send(requests.EditMemoryRequest, locals())

    def read_source(
        self,
        source_id: str,
        *,
        start: int = 0,
        end: int | None = None,
        margin: int = SOURCE_MARGIN,
    ) -> SourceWindow:
        """Return characters *start* to *end* of a source, with *margin* characters around them."""
        return self._send(requests.ReadSourceRequest, locals())

    def conflicts(self, *, limit: int = 50) -> list[ConflictPair]:
        """Return pairs of current memories that contradict each other, the newest first."""
        return self._send(requests.ListConflictsRequest, locals())

    def settle_conflict(
        self, memory_id: str, other_id: str, *, both: bool = False, reason: str = ""
    ) -> list[Memory]:
        """
        Keep one of two contradicting memories: *memory_id* is active, *other_id* superseded.

        If *both* are true, both are active, and the contradiction is no longer reported. Return
        the two memories; `undo` reverts the change of one.
        """
        return self._send(requests.SettleConflictRequest, locals())

    def list(
        self,
        *,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        everywhere: bool = False,
        limit: int = 10,
    ) -> list[Memory]:
        """Return the newest memories that pass the filters of `search`."""
        return self._send(requests.ListMemoriesRequest, locals())
