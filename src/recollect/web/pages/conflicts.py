"""Conflicts: two memories side by side, to decide which is true or that both are."""

from starlette.responses import Response
from starlette.routing import Route

from recollect.web.downloads import download
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

SHOWN = 50


def show_conflicts(request: PageRequest) -> Response:
    """List the memories that contradict each other."""
    pairs = request.rec.memories.conflicts(limit=SHOWN)
    if (file := download(request, "conflicts", pairs)) is not None:
        return file
    return request.render("conflicts.html", pairs=pairs, names=PlaceNames.read(request.rec))


def settle(request: PageRequest) -> Response:
    """Settle one conflict."""
    both = request.value("verdict") == "both"
    true_id, other_id = request.value("keep"), request.value("other")
    if request.value("verdict") == "other":
        true_id, other_id = other_id, true_id
    request.rec.memories.settle_conflict(
        true_id, other_id, both=both, reason=request.value("reason")
    )
    notice = "Both are true." if both else "Settled. The other memory is superseded."
    return request.redirect("/ui/conflicts", notice)


routes = [
    Route("/conflicts", page(show_conflicts), methods=["GET"]),
    Route("/conflicts", page(settle), methods=["POST"]),
]
