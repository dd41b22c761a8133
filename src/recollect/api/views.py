"""Saved searches."""

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.retrieval import Hit, SavedSearch
from recollect.wire.requests import views as requests


class Views(VerbGroup):
    """Save searches and run them again."""

    def save(
        self,
        name: str,
        query: str,
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
    ) -> SavedSearch:
        """Save a search with its filters under a name; an existing one is replaced."""
        return self._send(requests.SaveViewRequest, locals())

    def delete(self, name: str) -> None:
        """Delete a saved search."""
        return self._send(requests.DeleteViewRequest, locals())

    def run(self, name: str) -> list[Hit]:
        """Run a saved search."""
        return self._send(requests.RunViewRequest, locals())

    def list(self) -> list[SavedSearch]:
        """Return every saved search."""
        return self._send(requests.ListViewsRequest, locals())
