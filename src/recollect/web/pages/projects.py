"""Projects, and the timeline of a project or topic: what was believed when."""

from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.memory import Memory, Status
from recollect.lazy_dataclass import dataclass
from recollect.web.downloads import download
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

SHOWN = 60
ENDED = frozenset({Status.SUPERSEDED, Status.ARCHIVED})
BELIEVED = (Status.ACTIVE, Status.CONTRADICTED, Status.SUPERSEDED, Status.ARCHIVED)


@dataclass(frozen=True, kw_only=True)
class Period:
    """When a memory was believed, and its bar on an axis of 100 units. `end` None: still."""

    memory: Memory
    begin: datetime
    end: datetime | None
    x: float
    width: float


def show_projects(request: PageRequest) -> Response:
    """List the projects."""
    projects = request.rec.projects.list()
    if (file := download(request, "projects", projects)) is not None:
        return file
    return request.render("projects.html", projects=projects, names=PlaceNames.read(request.rec))


def show_timeline(request: PageRequest) -> Response:
    """Show what was believed when, about a project or a topic."""
    topic, project = request.query("q").strip(), request.query("project")
    names = PlaceNames.read(request.rec)
    identities = {item.id: item.identity or item.name for item in names.all_projects}
    filters: dict[str, Any] = {
        "statuses": BELIEVED,
        "project": identities.get(project, project) or None,
        "everywhere": not project,
        "limit": SHOWN,
    }
    if topic:
        memories = [hit.memory for hit in request.rec.search(topic, **filters)]
    else:
        memories = request.rec.memories.list(**filters)
    periods = validity_periods(memories, datetime.now(UTC))
    if (file := download(request, "timeline", periods)) is not None:
        return file
    return request.render(
        "timeline.html", periods=periods, topic=topic, project=project, names=names
    )


def validity_periods(memories: list[Memory], now: datetime) -> list[Period]:
    """Return when each memory was believed, oldest first."""
    ordered = sorted(memories, key=lambda memory: (memory.observed_at, memory.id))
    if not ordered:
        return []
    first = ordered[0].observed_at
    span_s = max(1.0, (max(now, ordered[-1].observed_at) - first).total_seconds())
    periods: list[Period] = []
    for memory in ordered:
        end = memory.updated_at if memory.status in ENDED else None
        begin = memory.observed_at
        last = max(begin, end or now)
        x = 100 * (begin - first).total_seconds() / span_s
        width = 100 * (last - begin).total_seconds() / span_s
        periods.append(
            Period(memory=memory, begin=begin, end=end, x=min(x, 99.0), width=max(width, 1.0))
        )
    return periods


routes = [
    Route("/projects", page(show_projects), methods=["GET"]),
    Route("/timeline", page(show_timeline), methods=["GET"]),
]
