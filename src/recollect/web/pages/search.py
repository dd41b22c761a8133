"""
Search and browse memories.

Without a query the newest memories are listed. With one, each hit shows the parts of its score. If
nothing is returned, the closest match is explained; `more` explains what else was left out.
"""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.memory import MemoryType, Status
from recollect.domain.retrieval import DEFAULT_STATUSES, Hit, WhyNot, caution_about
from recollect.web.downloads import download
from recollect.web.page import PageRequest, address, page
from recollect.web.place_names import PlaceNames

PAGE_SIZE = 20
MAX_LIMIT = 1_000  # of the API
LEFT_OUT = 5


def show_search(request: PageRequest) -> Response:
    """Show the hits of a query, or why a memory is not among them."""
    query = request.query("q").strip()
    if not query:
        return request.redirect("/ui/memories")
    filters = _filters(request)
    hits, nothing = request.rec.engine.search_or_explain(query, **filters, limit=PAGE_SIZE)
    if (file := download(request, "search", hits)) is not None:
        return file
    asked_about = request.query("why").strip()
    why_not = None
    if asked_about:
        why_not = request.rec.why_not(asked_about, query, **filters)
    names = PlaceNames.read(request.rec)
    return request.render(
        "search.html",
        query=query,
        hits=hits,
        caution=caution_about(hits),
        why_not=why_not,
        nothing=None if why_not else nothing,
        left_out=_left_out(request, query, filters, hits) if request.query("more") else None,
        names=names,
        chosen=_chosen_filters(request),
        types=list(MemoryType),
        statuses=list(Status),
        here_query=_here_query(request),
    )


def show_memories(request: PageRequest) -> Response:
    """List the newest memories that pass the filters."""
    number = request.page_number()
    limit = min(MAX_LIMIT, number * PAGE_SIZE + 1)
    filters = _filters(request)
    wants_file = bool(request.query("format"))
    memories = request.rec.memories.list(**filters, limit=MAX_LIMIT if wants_file else limit)
    if (file := download(request, "memories", memories)) is not None:
        return file
    start = (number - 1) * PAGE_SIZE
    names = PlaceNames.read(request.rec)
    return request.render(
        "memories.html",
        memories=[(memory, names.of(memory)) for memory in memories[start : start + PAGE_SIZE]],
        number=number,
        has_more=len(memories) > start + PAGE_SIZE,
        names=names,
        chosen=_chosen_filters(request),
        types=list(MemoryType),
        statuses=list(Status),
        here_query=_here_query(request),
    )


def _filters(request: PageRequest) -> dict[str, Any]:
    """Return the filters of `search` that the query string names."""
    project, agent = request.query("project"), request.query("agent")
    names = PlaceNames.read(request.rec) if project else None
    identities = {} if names is None else {item.id: item.identity for item in names.all_projects}
    return {
        "types": request.queries("type") or None,
        "statuses": request.queries("status") or None,
        "tags": request.queries("tag"),
        "since": request.query("since") or None,
        "until": request.query("until") or None,
        "project": identities.get(project) or project or None,
        "agent": agent or None,
        "everywhere": not (project or agent),
    }


def _chosen_filters(request: PageRequest) -> dict[str, Any]:
    names = ("project", "agent", "since", "until", "tag", "type", "status")
    return {name: request.query(name) for name in names}


def _here_query(request: PageRequest) -> str:
    """Return the query string of this page, to which a field can be added."""
    fields = {
        name: value
        for name, value in request.http.query_params.items()
        if value and name not in ("page", "format", "more", "why")
    }
    return address("", **fields).lstrip("?") + ("&" if fields else "")


def _left_out(
    request: PageRequest, query: str, filters: dict[str, Any], hits: list[Hit]
) -> list[tuple[Hit, WhyNot]]:
    """Return the best matches of the whole store that were not returned, and why."""
    returned = {hit.memory.id for hit in hits}
    every_status = [status for status in Status if status not in DEFAULT_STATUSES]
    everywhere = request.rec.search(
        query,
        everywhere=True,
        statuses=[*DEFAULT_STATUSES, *every_status],
        limit=LEFT_OUT + len(returned),
    )
    missing = [hit for hit in everywhere if hit.memory.id not in returned][:LEFT_OUT]
    return [(hit, request.rec.why_not(hit.memory.id, query, **filters)) for hit in missing]


routes = [
    Route("/search", page(show_search), methods=["GET"]),
    Route("/memories", page(show_memories), methods=["GET"]),
]
