"""Home: what waits, what goes on, what the store holds; first steps if it is empty."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.memory import Memory, Status
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

DAYS = 14
MAX_COUNTED = 300
RECENT = 6
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
    now = datetime.now(UTC)
    since = now - timedelta(days=DAYS - 1)
    recent = rec.memories.list(
        everywhere=True,
        statuses=list(Status),
        since=since.replace(hour=0, minute=0, second=0, microsecond=0),
        limit=MAX_COUNTED,
    )
    calls = [call for call in rec.models.calls(limit=CALLS) if call.asked_at.date() == now.date()]
    return request.render(
        "home.html",
        status=request.rec.maintenance.status(),
        days=day_bars(recent, since.date()),
        is_cut=len(recent) == MAX_COUNTED,
        latest=rec.memories.list(everywhere=True, statuses=list(Status), limit=RECENT),
        retrievals=rec.retrievals.list(limit=RECENT),
        names=PlaceNames.read(rec),
        spent_tokens=sum(call.input_tokens + call.output_tokens for call in calls),
        spent_calls=len(calls),
    )


def day_bars(memories: Sequence[Memory], first: date) -> list[DayBar]:
    """Return the bars of the picture, one for each day from *first*."""
    counts = Counter(memory.observed_at.date() for memory in memories)
    highest = max([1, *counts.values()])
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return [
        DayBar(day=day, count=counts[day], height=round(100 * counts[day] / highest, 1))
        for day in days
    ]


routes = [Route("/", page(show_home), methods=["GET"])]
