"""Home: what waits, what goes on, what the store holds; first steps if it is empty."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.memory import Status
from recollect.lazy_dataclass import dataclass
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

RECENT = 6
CLIENTS = 10
CALLS = 500


@dataclass(frozen=True, kw_only=True)
class DayBar:
    """One day of the picture: how many memories, and the height of its bar in percent."""

    day: date
    count: int
    height: float


def show_home(request: PageRequest) -> Response:
    """Show the state of the memory."""
    rec = request.rec
    today = datetime.now(UTC).date()
    status = rec.maintenance.status(rows=False)
    calls = [call for call in rec.models.calls(limit=CALLS) if call.asked_at.date() == today]
    names = PlaceNames.read(rec)
    return request.render(
        "home.html",
        approvals=len(rec.agents.approvals()) if names.agents else 0,
        status=status,
        days=day_bars(status.memories_by_day),
        latest=rec.memories.list(everywhere=True, statuses=list(Status), limit=RECENT),
        retrievals=rec.retrievals.list(limit=RECENT),
        clients=rec.maintenance.clients(limit=CLIENTS),
        names=names,
        spent_tokens=sum(call.input_tokens + call.output_tokens for call in calls),
        spent_calls=len(calls),
    )


def day_bars(counts: Mapping[str, int]) -> list[DayBar]:
    """Return the bars of the picture, one for each day."""
    highest = max([1, *counts.values()])
    return [
        DayBar(day=date.fromisoformat(day), count=count, height=round(100 * count / highest, 1))
        for day, count in counts.items()
    ]


routes = [Route("/", page(show_home), methods=["GET"])]
