"""Single memories: read, list, change their status."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.noun import Noun
from recollect.domain.memory import Memory
from recollect.wire.requests import memories as requests


class Memories(Noun):
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
