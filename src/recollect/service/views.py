"""Saved searches: a name for a query with its filters."""

from recollect.domain.retrieval import Hit, SavedSearch
from recollect.errors import InvalidInput, NotFound
from recollect.service.memory_query import memory_query_of
from recollect.service.search_memories import search
from recollect.service.services import Services
from recollect.service.validate import plain_name
from recollect.wire.requests import views as requests
from recollect.wire.requests.recollect import SearchRequest


def save_view(services: Services, request: requests.SaveViewRequest) -> SavedSearch:
    """Save a query under a name; a view of the same name is replaced."""
    name = plain_name("view", request.name.strip())
    if not name:
        raise InvalidInput("a view needs a name")
    query = memory_query_of(request, request.query)
    now = services.clock.now()
    text, asking = query.query, query.as_json()
    view = SavedSearch(name=name, query=text, asking=asking, created_at=now, updated_at=now)
    services.store.write(lambda tables: tables.retrievals.save_view(view))
    with services.store.read() as tables:
        return tables.retrievals.view(name) or view


def list_views(services: Services, request: requests.ListViewsRequest) -> list[SavedSearch]:
    """Return every saved search, by name."""
    with services.store.read() as tables:
        return tables.retrievals.views()


def run_view(services: Services, request: requests.RunViewRequest) -> list[Hit]:
    """Run a saved search."""
    with services.store.read() as tables:
        view = tables.retrievals.view(request.name)
    if view is None:
        raise _not_found(request.name)
    fields = {name: value for name, value in view.asking.items() if name != "any_tags"}
    return search(services, SearchRequest.of({**fields, "query": view.query}))


def delete_view(services: Services, request: requests.DeleteViewRequest) -> None:
    """Delete a saved search."""
    if not services.store.write(lambda tables: tables.retrievals.delete_view(request.name)):
        raise _not_found(request.name)


def _not_found(name: str) -> NotFound:
    return NotFound(f"there is no view {name!r}; list them with `recollect views`")
