"""Saved searches: a name for a question with its filters."""

from recollect.domain.retrieval import Hit, View
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.deps import Deps
from recollect.service.places import Where
from recollect.service.read import Question, question, search
from recollect.text.clean import clean


def save_view(deps: Deps, name: object, asked: Question) -> View:
    """Keep a question under a name; one that has the name already is replaced."""
    called = inputs.text_of("name", name, most=inputs.MAX_NAME).strip()
    if not called:
        raise InvalidInput("a view needs a name")
    inputs.plain_name("view", called)
    now = deps.clock.now()
    view = View(
        name=called,
        query=asked.query,
        asking=asked.as_json(),
        created_at=now,
        updated_at=now,
    )
    deps.store.write(lambda tables: tables.retrievals.save_view(view))
    with deps.store.read() as tables:
        return tables.retrievals.view(called) or view


def views(deps: Deps) -> list[View]:
    """Return every saved search, by name."""
    with deps.store.read() as tables:
        return tables.retrievals.views()


def run_view(deps: Deps, name: object) -> list[Hit]:
    """Ask a saved question again."""
    with deps.store.read() as tables:
        view = tables.retrievals.view(clean(name)) if isinstance(name, str) else None
    if view is None:
        raise NotFound(f"there is no view {name!r}; list them with `recollect views`")
    asking = dict(view.asking)
    where = Where.of(*(asking.pop(part, None) for part in ("project", "repo", "agent", "session")))
    return search(deps, question(view.query, where=where, **asking))


def delete_view(deps: Deps, name: object) -> None:
    """Remove a saved search."""
    gone = isinstance(name, str) and deps.store.write(
        lambda tables: tables.retrievals.delete_view(clean(name))
    )
    if not gone:
        raise NotFound(f"there is no view {name!r}; list them with `recollect views`")
