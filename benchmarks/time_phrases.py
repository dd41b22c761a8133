"""
How people name a time in the past, and every stretch of time they may mean by it.

Each phrase is made for a moment somebody wants to hear about, as seen from the moment of asking. A
phrase that careful people read in several ways carries all readings: whoever makes questions keeps
only those where every reading means the same conversations. The arithmetic is this file's own, on
purpose: it labels questions that the rules for dates in `recollect.text` are measured on, so it
must not share their mistakes.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

Span = tuple[datetime, datetime]  # from the first moment to the first one after it

DAY = timedelta(days=1)
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = _NUMBERS.split()
SEASONS = {"spring": (3, 5), "summer": (6, 8), "fall": (9, 11), "autumn": (9, 11)}
HOLIDAYS = {
    (1, 1): "on New Year's Day",
    (2, 14): "on Valentine's Day",
    (10, 31): "on Halloween",
    (12, 24): "on Christmas Eve",
    (12, 25): "on Christmas Day",
    (12, 31): "on New Year's Eve",
}


@dataclass(frozen=True)
class Phrase:
    """A time in words, its kind, and what it may mean."""

    kind: str
    text: str
    readings: tuple[Span, ...]


def phrases(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    """Yield the ways to name the time of *target* at the moment *asked*, which is later."""
    yield from _absolute_days(target, asked_at)
    yield from _relative_days(target, asked_at)
    yield from _weekdays(target, asked_at)
    yield from _weeks(target, asked_at)
    yield from _months(target, asked_at)
    yield from _parts_of_months(target, asked_at)
    yield from _ranges(target, asked_at)
    yield from _long_ago(target, asked_at)


def month_name(day: date) -> str:
    return calendar.month_name[day.month]


def ordinal(number: int) -> str:
    ending = (
        "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    )
    return f"{number}{ending}"


def month_day(day: date) -> str:
    return f"{month_name(day)} {ordinal(day.day)}"


def is_latest_of_its_name(day: date, asked_on: date) -> bool:
    """Return whether "June" or "June 8th", said when asked, means that of *day*."""
    return timedelta(0) < asked_on - day < timedelta(days=330)


def _days(first: date, last: date) -> Span:
    return datetime.combine(first, time()), datetime.combine(last + DAY, time())


def _month(year: int, month: int) -> Span:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return _days(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))


def _absolute_days(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day = target.date()
    span = (_days(day, day),)
    full = f"{month_name(day)} {day.day}, {day.year}"
    yield Phrase("full date", f"on {full}", span)
    yield Phrase("full date", f"on {day.day} {month_name(day)} {day.year}", span)
    yield Phrase("iso date", f"on {day.isoformat()}", span)
    if is_latest_of_its_name(day, asked_at.date()):
        yield Phrase("month and day", f"on {month_day(day)}", span)
        yield Phrase("month and day", f"on {day.day} {month_name(day)}", span)
        yield Phrase("the 8th of May", f"on the {ordinal(day.day)} of {month_name(day)}", span)
        yield Phrase("short month", f"on {calendar.month_abbr[day.month]} {day.day}", span)
        if (day.month, day.day) in HOLIDAYS:
            yield Phrase("holiday", HOLIDAYS[day.month, day.day], span)
    if day.month == asked_at.month and day.year == asked_at.year and day < asked_at.date():
        yield Phrase("the 8th", f"on the {ordinal(day.day)}", span)


def _relative_days(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day, today = target.date(), asked_at.date()
    ago = (today - day).days
    span = (_days(day, day),)
    if ago == 0:
        yield Phrase("today", "earlier today", span)
        if target.hour < 12 < asked_at.hour and target.hour > 4:
            morning = datetime.combine(day, time(4)), datetime.combine(day, time(12))
            yield Phrase("today", "this morning", (morning,))
    elif ago == 1:
        yield Phrase("yesterday", "yesterday", span)
        if target.hour >= 18:
            evening = datetime.combine(day, time(18)), datetime.combine(today, time(4))
            yield Phrase("last night", "last night", (evening,))
    elif ago == 2:
        yield Phrase("before yesterday", "the day before yesterday", span)
        couple = (_days(day, day), _days(day - DAY, day))
        yield Phrase("a couple of days", "a couple of days ago", couple)
    if 2 <= ago <= 12:
        yield Phrase("days ago", f"{NUMBERS[ago]} days ago", span)
        yield Phrase("days ago", f"{ago} days ago", span)
    if 3 <= ago <= 4:
        few = [_days(today - last * DAY, today - first * DAY) for first, last in ((2, 5), (3, 4))]
        yield Phrase("a few days", "a few days ago", tuple(few))
    if ago == 7:
        about = (_days(day, day), _days(day - DAY, day + DAY))
        yield Phrase("a week ago", "a week ago", about)
        yield Phrase("a week ago", "a week ago today", span)
    for days in (3, 5, 10):
        if 0 < ago < days:
            past = (asked_at - days * DAY, asked_at), _days(today - days * DAY, today)
            yield Phrase("in the last days", f"in the last {NUMBERS[days]} days", past)


def _weekdays(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day, today = target.date(), asked_at.date()
    ago = (today - day).days
    name = calendar.day_name[day.weekday()]
    span = (_days(day, day),)
    if 1 <= ago <= 6:
        yield Phrase("on a weekday", f"on {name}", span)
        yield Phrase("this past weekday", f"this past {name}", span)
        yield Phrase("since a weekday", f"since {name}", ((span[0][0], asked_at),))
    monday = today - today.weekday() * DAY
    in_last_week = monday - 7 * DAY <= day < monday
    # On a Thursday "last Tuesday" may be two days ago or nine; "last Friday" is six.
    if in_last_week and ago <= 7:
        yield Phrase("last weekday", f"last {name}", span)
    if in_last_week and day.weekday() < 6 and today.weekday() < 6:
        yield Phrase("weekday of last week", f"on {name} last week", span)
        yield Phrase("weekday of last week", f"on {name} of last week", span)
    if 14 <= ago <= 20 and day.weekday() == today.weekday():
        yield Phrase("two weeks ago today", "two weeks ago today", span)


def _weeks(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day, today = target.date(), asked_at.date()
    monday = today - today.weekday() * DAY
    sunday = today - (today.weekday() + 1) % 7 * DAY  # where weeks begin with it
    for back, words in (
        (0, ("this week", "earlier this week")),
        (1, ("last week", "the previous week")),
        (2, ("the week before last", "two weeks ago")),
        (3, ("three weeks ago",)),
    ):
        weeks = [
            _days(first - 7 * back * DAY, first - (7 * back - 6) * DAY)
            for first in (monday, sunday)
        ]
        if not all(start <= target < end for start, end in weeks):
            continue
        for text in words:
            about = [_days(today - (7 * back + 3) * DAY, today - (7 * back - 3) * DAY)]
            is_count = text.endswith("weeks ago")
            yield Phrase(text, text, (*weeks, *(about if is_count else ())))
    if (today - day).days < 7:
        past = (asked_at - 7 * DAY, asked_at), _days(today - 7 * DAY, today)
        yield Phrase("in the past week", "in the past week", past)
        yield Phrase("in the past week", "over the last seven days", past)
    saturday = monday - 2 * DAY
    if saturday <= day < monday and today.weekday() < 5:
        weekend = (_days(saturday, saturday + DAY),)
        yield Phrase("weekend", "over the weekend", weekend)
        yield Phrase("weekend", "last weekend", weekend)
    first = day - day.weekday() * DAY
    if is_latest_of_its_name(day, today):
        yield Phrase(
            "the week of", f"in the week of {month_day(first)}", (_days(first, first + 6 * DAY),)
        )


def _months(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day, today = target.date(), asked_at.date()
    back = 12 * (today.year - day.year) + today.month - day.month
    span = _month(day.year, day.month)
    name = month_name(day)
    yield Phrase("month and year", f"in {name} {day.year}", (span,))
    yield Phrase("month and year", f"back in {name} of {day.year}", (span,))
    if back == 0:
        yield Phrase("this month", "this month", (span,))
        yield Phrase("this month", "earlier this month", (span,))
    if 1 <= back <= 10:
        yield Phrase("month", f"in {name}", (span,))
        yield Phrase("month", f"back in {name}", (span,))
        yield Phrase("month", f"during {name}", (span,))
    if back == 1:
        yield Phrase("last month", "last month", (span,))
    if back == 2:
        yield Phrase("month before last", "the month before last", (span,))
    if 2 <= back <= 6:
        middle = today - timedelta(days=round(30.4 * back))
        about = _days(middle - 15 * DAY, middle + 15 * DAY)
        yield Phrase("months ago", f"{NUMBERS[back]} months ago", (span, about))


def _parts_of_months(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day = target.date()
    if not is_latest_of_its_name(day, asked_at.date()) or (day.year, day.month) == (
        asked_at.year,
        asked_at.month,
    ):
        return
    name = month_name(day)
    last = calendar.monthrange(day.year, day.month)[1]

    def part(kind: str, text: str, *stretches: tuple[int, int]) -> Iterator[Phrase]:
        spans = [_days(day.replace(day=first), day.replace(day=two)) for first, two in stretches]
        if all(start <= target < end for start, end in spans):
            yield Phrase(kind, text, tuple(spans))

    yield from part("beginning of month", f"at the beginning of {name}", (1, 6), (1, 10))
    yield from part("beginning of month", f"in early {name}", (1, 7), (1, 10))
    yield from part("middle of month", f"in the middle of {name}", (13, 17), (10, 20))
    yield from part("middle of month", f"in mid-{name}", (13, 17), (10, 20))
    yield from part("end of month", f"at the end of {name}", (26, last), (21, last))
    yield from part("end of month", f"in late {name}", (24, last), (21, last))
    yield from part("half of month", f"in the first half of {name}", (1, 15))
    yield from part("half of month", f"in the second half of {name}", (16, last), (15, last))
    yield from part("first week of month", f"in the first week of {name}", (1, 7))


def _ranges(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    day, today = target.date(), asked_at.date()
    first, last = day - 3 * DAY, day + 4 * DAY
    if last >= today or not is_latest_of_its_name(first, today):
        return
    span = (_days(first, last),)
    yield Phrase("between", f"between {month_day(first)} and {month_day(last)}", span)
    yield Phrase(
        "from to", f"from {month_name(first)} {first.day} to {month_name(last)} {last.day}", span
    )
    if first.month == last.month:
        yield Phrase("from to", f"from {month_name(first)} {first.day} to {last.day}", span)
    since = datetime.combine(first, time())
    yield Phrase("since a day", f"since {month_day(first)}", ((since, asked_at),))
    after = datetime.combine(first + DAY, time())
    yield Phrase("after a day", f"after {month_day(first)}", ((after, asked_at),))
    before = datetime.combine(last, time())
    yield Phrase("before a day", f"before {month_day(last)}", ((datetime.min, before),))
    yield Phrase(
        "before a month",
        f"before {month_name(today)}",
        ((datetime.min, _month(today.year, today.month)[0]),),
    )


def _long_ago(target: datetime, asked_at: datetime) -> Iterator[Phrase]:
    if target.year < asked_at.year:
        whole = (_days(date(target.year, 1, 1), date(target.year, 12, 31)),)
        yield Phrase("year", f"in {target.year}", whole)
        if target.year == asked_at.year - 1:
            yield Phrase("year", "last year", whole)
    for name, (first, last) in SEASONS.items():
        end = _month(target.year, last)[1]
        if first <= target.month <= last and end <= asked_at < end + 240 * DAY:
            span = (_month(target.year, first)[0], end)
            yield Phrase("season", f"in the {name}", (span,))
            yield Phrase(
                "season",
                f"last {name}" if asked_at.year > target.year else f"this past {name}",
                (span,),
            )
