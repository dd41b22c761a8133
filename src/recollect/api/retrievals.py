"""The log of retrievals."""

from recollect.api.arguments import AgentLike
from recollect.api.verb_group import VerbGroup
from recollect.domain.retrieval import Retrieval
from recollect.wire.requests import retrievals as requests


class Retrievals(VerbGroup):
    """The log of retrievals: what was asked, what was returned, what was left out."""

    def list(
        self,
        *,
        agent: AgentLike | None = None,
        memory: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Retrieval]:
        """Return logged retrievals, newest first: all, of an *agent*, or that found a *memory*."""
        return self._send(requests.ListRetrievalsRequest, locals())
