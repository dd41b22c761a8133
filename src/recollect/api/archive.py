"""An agent's archive of passages."""

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.noun import Noun
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.wire.requests.archive import TOKEN_LIMIT, InsertPassageRequest, SearchPassagesRequest


class Archive(Noun):
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
        below_threshold: bool = False,
    ) -> list[Hit]:
        """Return the passages that answer *query*, best first; the newest if it is empty.

        Passages of other projects than *project* are left out, if it is given.
        With *below_threshold* the best *limit* are returned however good they are.
        """
        return self._send(SearchPassagesRequest, locals())
