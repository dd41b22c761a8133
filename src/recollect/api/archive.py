"""An agent's archive of passages."""

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.wire.requests.archive import (
    TOKEN_LIMIT,
    InsertPassageRequest,
    ListPassagesRequest,
    SearchPassagesRequest,
)


class Archive(VerbGroup):
    """An agent's archive of passages."""

    def insert(
        self,
        agent: AgentLike,
        content: str,
        *,
        tags: Texts = (),
        title: str = "",
        observed_at: Moment = None,
        by: str = "user",
        token_limit: int = TOKEN_LIMIT,
    ) -> Memory:
        """
        Store a passage in an agent's archive: a memory of agent scope.

        With `by="agent"` it is marked as written by an agent wherever it is shown.
        """
        return self._send(InsertPassageRequest, locals())

    def search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        project: Place = None,
        tags: Texts = (),
        tag_match: str = "any",
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        offset: int = 0,
        below_threshold: bool = False,
    ) -> list[Hit]:
        """Return the passages that answer *query*, best first; the newest if it is empty.

        Passages of other projects than *project* are left out, if it is given.
        With *below_threshold* the best *limit* are returned however good they are.
        """
        return self._send(SearchPassagesRequest, locals())

    def list(
        self,
        agent: AgentLike,
        *,
        after: Memory | str | None = None,
        before: Memory | str | None = None,
        newest_first: bool = False,
        limit: int = 100,
    ) -> list[Memory]:
        """Return passages in the order in which they were observed.

        *after* and *before* are passages, or their ids, in the order of the result. With *before*
        alone, the *limit* passages that come right before it are returned.
        """
        return self._send(ListPassagesRequest, locals())
