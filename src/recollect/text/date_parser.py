"""
Find dates and times in a text, and resolve each to a time span.

The text is split into tokens (`date_words`); dates of other languages are translated to English
tokens before (`foreign_dates`). At each token that can begin an expression, a period
is read (`date_names`, `date_periods`) and resolved relative to the moment of asking
(`date_calendar`). This module combines two periods into a range, and handles "since", "before",
"in" and similar words. Text that only looks like a date (code, paths, versions, the verb "may") is
skipped: a wrong date is worse than none.

Every reader looks only a few tokens ahead, so the time is linear in the length of the text. Verbs
are not interpreted: "we built it in 3 days" is read like "we leave in 3 days".
"""

import re
from datetime import UTC, datetime, timedelta

from recollect.lazy_dataclass import dataclass
from recollect.text.date_calendar import Calendar, Direction, TimeSpan, date_in_month
from recollect.text.date_names import (
    Anchor,
    PeriodMatch,
    TokenView,
    is_bare_year,
    is_day,
    is_number,
    read_day_number,
)
from recollect.text.date_periods import PERIOD_READERS, read_period
from recollect.text.date_words import MONTHS, WEEKDAYS
from recollect.text.foreign_dates import date_tokens

DEFAULT_START = datetime(1970, 1, 1, tzinfo=UTC)  # start of "before X"
MIN_TIME = datetime(1, 1, 1, tzinfo=UTC)  # start of "before X" if X is before 1970
MAX_TIME = datetime(9999, 12, 31, tzinfo=UTC)  # end of an open range

# A preposition is part of the expression. True: it confirms that a month or a year follows.
_PREPOSITIONS = dict.fromkeys(("in", "during", "throughout"), True)
_PREPOSITIONS |= dict.fromkeys(("on", "at", "over", "within"), False)
_BOUND_WORDS = frozenset(["before", "after", "since", "until", "till"])
_DASHES = frozenset(["-", "–"])
_RANGE_WORDS = _DASHES | {"to", "through", "until", "till"}
_FIRST_WORDS = frozenset([*PERIOD_READERS, *_PREPOSITIONS, *_BOUND_WORDS, "the", "between", "from"])

_YEAR = timedelta(days=365)
_RECURRING_WORDS = frozenset(["every", "each"])
_LIST_WORDS = {*WEEKDAYS, *MONTHS, "and", "or", ",", "other", "first", "second", "last", "-"}

# A name in code or in a path is not a date: docs/may, friday.py, @may, today(), day-today.
_JOINED_BEFORE = re.compile(r"\w\.$|[\w/\\@#$=+-]$", re.ASCII)
_JOINED_AFTER = re.compile(r"[/\\@=(\[_]|-\w|\.[a-z0-9_]|::")


@dataclass(frozen=True, slots=True)
class DateExpression:
    """A date or time expression in a text, and the time span it means."""

    start: datetime  # aware UTC, inclusive
    end: datetime  # aware UTC, exclusive
    text_start: int  # where the expression starts in the text
    text_end: int  # where it ends
    text: str
    is_absolute: bool  # an absolute date ("2026-05-08", "May 8, 2026") rather than a relative one


def find_dates(
    text: str, *, asked_at: datetime, direction: Direction = "past"
) -> tuple[DateExpression, ...]:
    """
    Return the date and time expressions in *text*, in order and without overlaps.

    Days are those of the time zone of *asked_at* (UTC if it has none). *direction* resolves dates
    without a year or week: "on Friday" is the latest Friday that has begun, or the next not ended.
    """
    try:
        v = TokenView(text, date_tokens(text), Calendar.for_moment(asked_at, direction))
    except OverflowError:  # the first or the last day of the calendar, in a zone beyond it
        return ()
    expressions: list[DateExpression] = []
    i = 0
    while word := v.word(i):
        if word in _RECURRING_WORDS:
            i = _skip_list(v, i + 1)  # every Monday and Friday
            continue
        period = _read_at(v, i) if word in _FIRST_WORDS or is_number(word) else None
        if period is None:
            i += 1
            continue
        span, end, anchor = period
        position = v.tokens[i].start, v.tokens[end - 1].end
        words = text[slice(*position)]
        expressions.append(DateExpression(*span, *position, words, anchor == "absolute"))
        i = end
    return tuple(expressions)


def _read_at(v: TokenView, i: int) -> PeriodMatch | None:
    text_start = v.tokens[i].start
    if _JOINED_BEFORE.search(v.text[max(text_start - 2, 0) : text_start]):
        return None
    try:
        period = _read_expression(v, i)
    except (OverflowError, ValueError):  # no such day, or outside the years 1 to 9999
        return None
    if period is None or period.span.start >= period.span.end:
        return None
    return None if _JOINED_AFTER.match(v.text, v.tokens[period.end - 1].end) else period


def _read_expression(v: TokenView, i: int) -> PeriodMatch | None:
    word = v.word(i)
    if word == "between":
        return _read_range(v.expecting_period(), i + 1, frozenset(["and"]))
    if word == "from":
        return _read_range(v.expecting_period(), i + 1, _RANGE_WORDS)
    if word in _BOUND_WORDS:
        return _read_bounded(v, i)
    if word in _PREPOSITIONS:
        return _read_range_or_period(v.expecting_period() if _PREPOSITIONS[word] else v, i + 1)
    return _read_range_or_period(v, i)


def _read_range_or_period(v: TokenView, i: int) -> PeriodMatch | None:
    period = read_period(v, i)
    link_at = period.end if period else i + 1
    if v.word(link_at) not in _RANGE_WORDS or (period is None and is_bare_year(v.word(i))):
        return period
    return _read_range(v.expecting_period(), i, _RANGE_WORDS) or period


def _read_range(v: TokenView, i: int, links: frozenset[str]) -> PeriodMatch | None:
    """Read "X to Y", both ends included."""
    left = read_period(v, i)
    if left is None:
        return _read_days_to_date(v, i, links)
    if not _is_link(v, left.end, links):
        return None
    at_right = left.end + 1
    if is_bare_year(v.word(at_right)) and left.span.end - left.span.start < _YEAR:
        return None  # Friday - 2024 budget
    if v.word(at_right) in ("now", "present"):
        span = TimeSpan(left.span.start, v.calendar.now)
        return PeriodMatch(span, at_right + 1, "relative")
    # If one end has no year or week, the other decides it: in "March to May 2025" the year, in
    # "last Monday to Friday" the week. If neither has one, the second end is resolved first.
    if left.anchor == "floating":
        right = read_period(v, at_right)
        if right:
            calendar = v.calendar.with_direction("past", right.span.start)
            left = read_period(v.expecting_period(calendar), i) or left
    else:
        calendar = v.calendar.with_direction("future", left.span.start)
        right = read_period(v.expecting_period(calendar), at_right)
    if right is None:
        return _read_date_to_day(v, left, at_right)
    if left.span.start >= right.span.end:
        return None
    span = TimeSpan(left.span.start, right.span.end)
    return PeriodMatch(span, right.end, _range_anchor(left, right))


def _range_anchor(left: PeriodMatch, right: PeriodMatch) -> Anchor:
    anchors = {left.anchor, right.anchor}
    return "absolute" if "absolute" in anchors and "relative" not in anchors else "relative"


def _read_days_to_date(v: TokenView, i: int, links: frozenset[str]) -> PeriodMatch | None:
    """Read "8 to 12 May", "the 8th and the 12th of May"."""
    number = read_day_number(v, i)
    if number is None or not _is_link(v, number[1], links):
        return None
    right = read_period(v, number[1] + 1)
    if right is None or right.anchor == "relative" or not is_day(right.span):
        return None
    last = v.calendar.date_of(right.span.start)
    first = date_in_month(last.year, last.month, number[0])
    if first is None or first >= last:
        return None
    return right._replace(span=TimeSpan(v.calendar.day(first).start, right.span.end))


def _read_date_to_day(v: TokenView, left: PeriodMatch, i: int) -> PeriodMatch | None:
    """Read "May 8 – 12", "from May 8 to the 12th"."""
    number = read_day_number(v, i)
    if number is None or left.anchor == "relative" or not is_day(left.span):
        return None
    first = v.calendar.date_of(left.span.start)
    last = date_in_month(first.year, first.month, number[0])
    if last is None or first >= last:
        return None
    return left._replace(span=TimeSpan(left.span.start, v.calendar.day(last).end), end=number[1])


def _is_link(v: TokenView, i: int, links: frozenset[str]) -> bool:
    if v.word(i) not in links:
        return False
    # A dash on a new line begins the next item of a list.
    is_dash = v.word(i) in _DASHES
    return not (is_dash and "\n" in v.text[v.tokens[i - 1].end : v.tokens[i + 1].start])


def _read_bounded(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "since Monday", "before May", "after 2019", "until Friday" (Friday included)."""
    bound = v.word(i)
    calendar = v.calendar.with_direction("past") if bound == "since" else v.calendar
    period = read_period(v.expecting_period(calendar), i + 1)
    if period is None:
        return None
    if bound in ("since", "after"):
        start = period.span.start if bound == "since" else period.span.end
        is_open = start >= calendar.now or (bound == "after" and calendar.direction == "future")
        return period._replace(span=TimeSpan(start, MAX_TIME if is_open else calendar.now))
    end = period.span.start if bound == "before" else period.span.end
    return period._replace(span=TimeSpan(DEFAULT_START if end > DEFAULT_START else MIN_TIME, end))


def _skip_list(v: TokenView, i: int) -> int:
    while v.word(i) in _LIST_WORDS:
        i += 1
    return i
