"""Retrievals: what agents asked lately, what they were given, what was left out and why."""

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Retrieval
from recollect.errors import NotFound
from recollect.web.downloads import download
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

PAGE_SIZE = 30
MAX_FILE = 1_000


def show_retrievals(request: PageRequest) -> Response:
    """List the latest retrievals."""
    number, agent = request.page_number(), request.query("agent")
    wants_file = bool(request.query("format"))
    retrievals = request.rec.retrievals.list(
        agent=agent or None,
        limit=MAX_FILE if wants_file else PAGE_SIZE + 1,
        offset=0 if wants_file else (number - 1) * PAGE_SIZE,
    )
    if (file := download(request, "retrievals", retrievals)) is not None:
        return file
    return request.render(
        "retrievals.html",
        retrievals=retrievals[:PAGE_SIZE],
        number=number,
        has_more=len(retrievals) > PAGE_SIZE,
        names=PlaceNames.read(request.rec),
        agent=agent,
    )


def show_retrieval(request: PageRequest) -> Response:
    """Show one retrieval with its results and what was left out."""
    retrieval = request.rec.explain(request.path("id"))
    if not isinstance(retrieval, Retrieval):
        return request.redirect(f"/ui/memories/{retrieval.memory.id}")
    memories: dict[str, Memory] = {}
    for hit in retrieval.hits:
        try:
            memories[hit.memory_id] = request.rec.memories.get(hit.memory_id)
        except NotFound:  # it was forgotten since
            continue
    return request.render(
        "retrieval.html",
        retrieval=retrieval,
        memories=memories,
        names=PlaceNames.read(request.rec),
        asking={
            name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            for name, value in retrieval.asking.items()
        },
    )


routes = [
    Route("/retrievals", page(show_retrievals), methods=["GET"]),
    Route("/retrievals/{id}", page(show_retrieval), methods=["GET"]),
]
