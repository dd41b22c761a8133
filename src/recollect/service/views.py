"""Saved searches: a name for a question with its filters."""

from recollect.domain.retrieval import Hit, View
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.read import Question, question_of, search
from recollect.service.services import Services
from recollect.text.clean_text import clean
from recollect.wire.requests.recollect import SearchRequest


def save_view(services: Services, name: object, asked: Question) -> View:
    """Keep a question under a name; one that has the name already is replaced."""
    called = inputs.text_of("name", name, most=inputs.MAX_NAME).strip()
    if not called:
        raise InvalidInput("a view needs a name")
    inputs.plain_name("view", called)
    now = services.clock.now()
    view = View(
        name=called,
        query=asked.query,
        asking=asked.as_json(),
        created_at=now,
        updated_at=now,
    )
    services.store.write(lambda tables: tables.retrievals.save_view(view))
    with services.store.read() as tables:
        return tables.retrievals.view(called) or view


def views(services: Services) -> list[View]:
    """Return every saved search, by name."""
    with services.store.read() as tables:
        return tables.retrievals.views()


def run_view(services: Services, name: object) -> list[Hit]:
    """Ask a saved question again."""
    with services.store.read() as tables:
        view = tables.retrievals.view(clean(name)) if isinstance(name, str) else None
    if view is None:
        raise NotFound(f"there is no view {name!r}; list them with `recollect views`")
    asking = {name: value for name, value in view.asking.items() if name != "any_tags"}
    request = SearchRequest.of({**asking, "query": view.query})
    return search(services, question_of(request, request.query))


def delete_view(services: Services, name: object) -> None:
    """Remove a saved search."""
    gone = isinstance(name, str) and services.store.write(
        lambda tables: tables.retrievals.delete_view(clean(name))
    )
    if not gone:
        raise NotFound(f"there is no view {name!r}; list them with `recollect views`")
