"""
Find the expressions of time in an English text, and say which stretch of time each one means.

Four steps, a file each: the text is cut into tokens (`date_words`); at each token that can begin an
expression a period is read (`date_names`, `date_periods`) and placed on the calendar as seen from
the moment of asking (`date_calendar`); here, two periods make a range, and "since", "before", "in"
and the like are taken along. What only looks like a date (code, paths, versions, verbs called
"may") is left alone: a wrong date is worse than none.

Every reading looks a few tokens ahead and never further, so the time is linear in the text.
Verbs are not understood: "we built it in 3 days" reads like "we leave in 3 days".
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.text.date_calendar import Asked, Span, Toward, in_month
from recollect.text.date_names import (
    Anchor,
    Found,
    View,
    is_bare_year,
    is_day,
    is_number,
    read_day_number,
)
from recollect.text.date_periods import PERIODS, read_period
from recollect.text.date_words import MONTHS, WEEKDAYS, tokens

DAWN = datetime(1970, 1, 1, tzinfo=UTC)  # where "before X" begins
FIRST = datetime(1, 1, 1, tzinfo=UTC)  # or here, if X is earlier
FAR = datetime(9999, 12, 31, tzinfo=UTC)  # where what has no end yet ends

# A preposition belongs to the expression. Those that are True vouch for a month or a year.
_LEADS = {
    "in": True,
    "during": True,
    "throughout": True,
    "on": False,
    "at": False,
    "over": False,
    "within": False,
}
_BOUNDS = frozenset(["before", "after", "since", "until", "till"])
_DASHES = frozenset(["-", "–"])
_LINKS = _DASHES | {"to", "through", "until", "till"}
_HEADS = frozenset([*PERIODS, *_LEADS, *_BOUNDS, "the", "between", "from"])

_YEAR = timedelta(days=365)
_RECURRING = frozenset(["every", "each"])
_LISTED = frozenset([*WEEKDAYS, *MONTHS, "and", "or", ",", "other", "first", "second", "last", "-"])

# A name in code or in a path is no date: docs/may, friday.py, @may, today(), day-today.
_CLINGS_BEFORE = re.compile(r"\w\.$|[\w/\\@#$=+-]$")
_CLINGS_AFTER = re.compile(r"[/\\@=(\[_]|-\w|\.[a-z0-9_]|::")


@dataclass(frozen=True, slots=True)
class When:
    """An expression of time in a text, and the stretch of time it means."""

    start: datetime  # aware UTC, inclusive
    end: datetime  # aware UTC, exclusive
    at: int  # where the expression begins in the text
    to: int  # where it ends
    text: str
    exact: bool  # an absolute date ("2026-05-08", "May 8, 2026") rather than a relative one


def find_dates(text: str, *, asked_at: datetime, toward: Toward = "past") -> tuple[When, ...]:
    """
    Return the expressions of time in *text*, in order and apart from each other.

    Days are those of the time zone of *asked_at* (UTC if it has none). *toward* decides what says
    no year or week: "on Friday" is the latest Friday that has begun, or the first not yet over.
    """
    try:
        v = View(text, tokens(text), Asked.of(asked_at, toward))
    except OverflowError:  # the first or the last day of the calendar, in a zone beyond it
        return ()
    found: list[When] = []
    i = 0
    while word := v.word(i):
        if word in _RECURRING:
            i = _behind_list(v, i + 1)  # every Monday and Friday
            continue
        reading = _read(v, i) if word in _HEADS or is_number(word) else None
        if reading is None:
            i += 1
            continue
        span, past, anchor = reading
        at, to = v.tokens[i].at, v.tokens[past - 1].to
        found.append(When(span.start, span.end, at, to, text[at:to], anchor == "absolute"))
        i = past
    return tuple(found)


def _read(v: View, i: int) -> Found | None:
    at = v.tokens[i].at
    if _CLINGS_BEFORE.search(v.text[max(at - 2, 0) : at]):
        return None
    try:
        found = _expression(v, i)
    except (OverflowError, ValueError):  # no such day, or outside the years 1 to 9999
        return None
    if found is None or found.span.start >= found.span.end:
        return None
    return None if _CLINGS_AFTER.match(v.text, v.tokens[found.past - 1].to) else found


def _expression(v: View, i: int) -> Found | None:
    word = v.word(i)
    if word == "between":
        return _range(v.vouch(), i + 1, frozenset(["and"]))
    if word == "from":
        return _range(v.vouch(), i + 1, _LINKS)
    if word in _BOUNDS:
        return _bounded(v, i)
    if word in _LEADS:
        return _range_or_period(v.vouch() if _LEADS[word] else v, i + 1)
    return _range_or_period(v, i)


def _range_or_period(v: View, i: int) -> Found | None:
    found = read_period(v, i)
    link_at = found.past if found else i + 1
    if v.word(link_at) not in _LINKS or (found is None and is_bare_year(v.word(i))):
        return found
    return _range(v.vouch(), i, _LINKS) or found


def _range(v: View, i: int, links: frozenset[str]) -> Found | None:
    """Read "X to Y", both ends included."""
    left = read_period(v, i)
    if left is None:
        return _days_to_date(v, i, links)
    if not _is_link(v, left.past, links):
        return None
    at_right = left.past + 1
    if is_bare_year(v.word(at_right)) and left.span.end - left.span.start < _YEAR:
        return None  # Friday - 2024 budget
    if v.word(at_right) in ("now", "present"):
        span = Span(left.span.start, v.asked.at)
        return Found(span, at_right + 1, "relative")
    # What one end leaves open, the other decides: in "March to May 2025" the year, in "last Monday
    # to Friday" the week. Where both leave it open, the end is placed first.
    if left.anchor == "floating":
        right = read_period(v, at_right)
        if right:
            left = read_period(v.vouch(v.asked.turned("past", right.span.start)), i) or left
    else:
        right = read_period(v.vouch(v.asked.turned("future", left.span.start)), at_right)
    if right is None:
        return _date_to_day(v, left, at_right)
    if left.span.start >= right.span.end:
        return None
    return Found(Span(left.span.start, right.span.end), right.past, _joint(left, right))


def _joint(left: Found, right: Found) -> Anchor:
    anchors = {left.anchor, right.anchor}
    return "absolute" if "absolute" in anchors and "relative" not in anchors else "relative"


def _days_to_date(v: View, i: int, links: frozenset[str]) -> Found | None:
    """Read "8 to 12 May", "the 8th and the 12th of May"."""
    number = read_day_number(v, i)
    if number is None or not _is_link(v, number[1], links):
        return None
    right = read_period(v, number[1] + 1)
    if right is None or right.anchor == "relative" or not is_day(right.span):
        return None
    last = v.asked.date_of(right.span.start)
    first = in_month(last.year, last.month, number[0])
    if first is None or first >= last:
        return None
    return right._replace(span=Span(v.asked.day(first).start, right.span.end))


def _date_to_day(v: View, left: Found, i: int) -> Found | None:
    """Read "May 8 – 12", "from May 8 to the 12th"."""
    number = read_day_number(v, i)
    if number is None or left.anchor == "relative" or not is_day(left.span):
        return None
    first = v.asked.date_of(left.span.start)
    last = in_month(first.year, first.month, number[0])
    if last is None or first >= last:
        return None
    return left._replace(span=Span(left.span.start, v.asked.day(last).end), past=number[1])


def _is_link(v: View, i: int, links: frozenset[str]) -> bool:
    if v.word(i) not in links:
        return False
    # A dash on a new line begins the next item of a list.
    is_dash = v.word(i) in _DASHES
    return not (is_dash and "\n" in v.text[v.tokens[i - 1].to : v.tokens[i + 1].at])


def _bounded(v: View, i: int) -> Found | None:
    """Read "since Monday", "before May", "after 2019", "until Friday" (Friday included)."""
    bound = v.word(i)
    asked = v.asked.turned("past") if bound == "since" else v.asked
    found = read_period(v.vouch(asked), i + 1)
    if found is None:
        return None
    if bound in ("since", "after"):
        start = found.span.start if bound == "since" else found.span.end
        is_open = start >= asked.at or (bound == "after" and asked.toward == "future")
        return found._replace(span=Span(start, FAR if is_open else asked.at))
    end = found.span.start if bound == "before" else found.span.end
    return found._replace(span=Span(DAWN if end > DAWN else FIRST, end))


def _behind_list(v: View, i: int) -> int:
    while v.word(i) in _LISTED:
        i += 1
    return i
