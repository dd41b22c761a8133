"""
Phrases that name a conversation by its position, and the conversations they mean.

"Our last session", "three chats ago", "the first time we talked in July", "the session right after
the one in which Ann said …". Conversations are given in order of time, and named by position.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from benchmarks.time_phrases import NUMBERS, is_latest_of_its_name, month_day, month_name


@dataclass(frozen=True)
class NamedSessions:
    """Conversations in words: `about` fits "What was … about?", `during` "What did we say …?"."""

    kind: str
    about: str
    during: str
    positions: tuple[int, ...]


def named_sessions(times: Sequence[datetime], asked_at: datetime) -> Iterator[NamedSessions]:
    """Yield ways to name some of the conversations at *times*, all before *asked*."""
    yield from _last(len(times))
    yield from _first(len(times))
    yield from _within_months(times, asked_at)
    yield from _beside_days(times, asked_at)


def beside_quote(quote: str, place: int, count: int) -> Iterator[NamedSessions]:
    """Yield ways to name what stands beside the conversation in which *quote* was said."""
    quoted = f"the one in which we said “{quote}”"
    if place + 1 < count:
        after = f"the session right after {quoted}"
        yield NamedSessions("after a quote", after, f"in {after}", (place + 1,))
    if place > 0:
        before = f"the conversation just before {quoted}"
        yield NamedSessions("before a quote", before, f"in {before}", (place - 1,))


def _last(count: int) -> Iterator[NamedSessions]:
    last = (count - 1,)
    for kind, about in (
        ("last session", "our last conversation"),
        ("last session", "our last session"),
        ("last session", "the previous chat"),
        ("last session", "our most recent conversation"),
    ):
        yield NamedSessions(kind, about, f"in {about}", last)
    yield NamedSessions("last time", "our last talk", "last time", last)
    yield NamedSessions("last time", "our latest chat", "the last time we talked", last)
    yield NamedSessions("last time", "our last chat", "when we last spoke", last)
    if count > 1:
        before_last = (count - 2,)
        yield NamedSessions(
            "session before last",
            "the session before last",
            "in the session before last",
            before_last,
        )
        yield NamedSessions(
            "session before last", "our second to last chat", "the time before last", before_last
        )
    for back in range(2, min(count, 9) + 1):
        for noun in ("sessions", "conversations", "chats"):
            ago = f"{NUMBERS[back]} {noun} ago"
            yield NamedSessions("sessions ago", f"our talk {ago}", ago, (count - back,))
    for many in range(2, min(count - 1, 4) + 1):
        positions = tuple(range(count - many, count))
        several = f"our last {NUMBERS[many]} conversations"
        yield NamedSessions("last several", several, f"in {several}", positions)
        yield NamedSessions(
            "last several", several, f"in the past {NUMBERS[many]} sessions", positions
        )


def _first(count: int) -> Iterator[NamedSessions]:
    for about, during in (
        ("our first conversation", "the first time we talked"),
        ("our very first session", "in our very first conversation"),
        ("our first chat", "when we first talked"),
        ("our earliest conversation", "in our earliest conversation"),
    ):
        yield NamedSessions("first session", about, during, (0,))
    if count > 2:
        yield NamedSessions(
            "second session", "our second conversation", "the second time we talked", (1,)
        )
    if count > 3:
        yield NamedSessions("second session", "our third session", "in our third session", (2,))
        several = "our first two conversations"
        yield NamedSessions("first several", several, f"in {several}", (0, 1))


def _within_months(times: Sequence[datetime], asked_at: datetime) -> Iterator[NamedSessions]:
    months: dict[tuple[int, int], list[int]] = {}
    for place, at in enumerate(times):
        months.setdefault((at.year, at.month), []).append(place)
    for (year, month), places in months.items():
        at = times[places[0]]
        is_past = (year, month) != (asked_at.year, asked_at.month)
        if len(places) < 2 or not is_past or not is_latest_of_its_name(at.date(), asked_at.date()):
            continue
        name = month_name(at)
        first, last = f"our first conversation in {name}", f"our last session in {name}"
        yield NamedSessions(
            "first of month", first, f"the first time we talked in {name}", (places[0],)
        )
        yield NamedSessions(
            "last of month", last, f"the last time we spoke in {name}", (places[-1],)
        )
        yield NamedSessions(
            "last of month",
            f"the last chat of {name}",
            f"in the last chat of {name}",
            (places[-1],),
        )


def _beside_days(times: Sequence[datetime], asked_at: datetime) -> Iterator[NamedSessions]:
    for at in times:
        if not is_latest_of_its_name(at.date(), asked_at.date()):
            continue
        same_day = [position for position, other in enumerate(times) if other.date() == at.date()]
        day = month_day(at)
        if same_day[-1] + 1 < len(times):
            after = (same_day[-1] + 1,)
            yield NamedSessions(
                "next after day",
                f"the first conversation after {day}",
                f"in the first session after {day}",
                after,
            )
            yield NamedSessions(
                "next after day",
                f"our next session after {day}",
                f"the next time we talked after {day}",
                after,
            )
        if same_day[0] > 0:
            before = (same_day[0] - 1,)
            yield NamedSessions(
                "last before day",
                f"the last conversation before {day}",
                f"in the last session before {day}",
                before,
            )
            yield NamedSessions(
                "last before day",
                f"our last chat before {day}",
                f"the last time we talked before {day}",
                before,
            )
