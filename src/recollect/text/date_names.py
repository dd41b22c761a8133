"""
Read a date by its name at a place in the text: a month, a weekday, a year, "May 8th", 2026-05-08.

A reader is given a view and the place of its head word, and returns what it found or None. Names
that are words as well ("may", "march", "sat", "spring") count as dates only where something vouches
for them: a day, a year, a preposition, a capital letter behind a witness.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

from recollect.text.date_calendar import CLOCK_UNITS, ONE_DAY, Asked, InYear, Span, in_month
from recollect.text.date_words import (
    COUNTED,
    DAY_PARTS,
    DECADES,
    FEASTS,
    MONTHS,
    ORDINALS,
    PLAIN_WORDS,
    QUARTERS,
    RELATIVE,
    SEASONS,
    SURE_MONTHS,
    SURE_WEEKDAYS,
    WEEKDAYS,
    Token,
)

Anchor = Literal["absolute", "relative", "floating"]  # floating: says no year, or no week

# Before a capital letter, these make a month of May and a quarter of Q2.
_WITNESSES = frozenset(
    ["about", "around", "by", "for", "from", "of", "starting", "the", "through", "to"]
)
_BEFORE_SHORT_WEEKDAY = frozenset(["on", "by"])
_BEFORE_YEAR = frozenset(["by", "around", "circa", "year"])
_BEFORE_BARE_DAY = frozenset(["on", "by", "since", "until", "till", "before", "after"])

_DAY = re.compile(
    r"([0-9]{1,2})(st|nd|rd|th)?(?:[-–]([0-9]{1,2})(?:st|nd|rd|th)?)?(?:,((?:19|20)[0-9]{2}))?"
)
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_DECADE = re.compile(r"((?:19|20)[0-9]0|[3-9]0)s")
_YEARS = re.compile(r"((?:19|20)[0-9]{2})(?:[-–]((?:19|20)[0-9]{2})|-(0[1-9]|1[0-2]))?")
_ISO = re.compile(
    r"(?P<year>[12][0-9]{3})([-/])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})"
    r"(?:t(?P<time>[0-9]{2}:[0-9]{2}(?P<second>:[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?:z|[+-][0-9]{2}:?[0-9]{2})?))?"
)
_SLASHED = re.compile(r"(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})/(?P<year>(?:19|20)[0-9]{2})")
_DOTTED = re.compile(r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>(?:19|20)[0-9]{2})")
_NAMED = re.compile(r"(?P<day>[0-9]{1,2})([-/])(?P<month>[a-z]+)\2(?P<year>(?:19|20)[0-9]{2})")


class Found(NamedTuple):
    """A stretch of time, the place behind its last token, and what it hangs on."""

    span: Span
    past: int
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class View:
    """
    The tokens of a text with a moment in mind.

    *vouched*: the words around say that a period follows ("in", "since"), so that "may" is a month
    and 2024 a year.
    """

    text: str
    tokens: list[Token]
    asked: Asked
    vouched: bool = False

    def word(self, i: int) -> str:
        """Return the word at *i*."""
        return self.tokens[i].word

    def is_capital(self, i: int) -> bool:
        """Return whether the word at *i* begins with a capital letter."""
        return self.text[self.tokens[i].at].isupper()

    def vouch(self, asked: Asked | None = None) -> "View":
        """Return the view of a place where a period is expected."""
        return View(self.text, self.tokens, asked or self.asked, True)


Reader = Callable[[View, int], Found | None]
Heads = dict[str, tuple[Reader, ...]]


def heads(base: Heads, *entries: tuple[Reader, Iterable[str]]) -> Heads:
    """Return which readers each head word calls, those of *base* too; "0" is for any number."""
    table = dict(base)
    for reader, words in entries:
        for word in words:
            table[word] = (*table.get(word, ()), reader)
    return table


def longest(v: View, i: int, table: Heads) -> Found | None:
    """Return the longest reading at *i*, with or without "the", by the readers of *table*."""
    i += v.word(i) == "the"
    word = v.word(i)
    best: Found | None = None
    for reader in table.get("0" if is_number(word) else word, ()):
        found = reader(v, i)
        if found and (best is None or found.past > best.past):
            best = found
    return best


def is_number(word: str) -> bool:
    """Return whether *word* begins with a digit."""
    return "0" <= word < ":"  # ":" follows "9"


def is_bare_year(word: str) -> bool:
    """Return whether *word* is a number that may be a year."""
    return len(word) == 4 and _YEAR.fullmatch(word) is not None


def is_day(span: Span) -> bool:
    """Return whether *span* is no longer than a day, even one on which clocks go back."""
    return span.end - span.start <= timedelta(hours=25)


def is_plain_word(v: View, i: int) -> bool:
    """Return whether a name at *i* is rather a verb or a noun: small, and before another word."""
    word = v.word(i)
    if word not in PLAIN_WORDS or v.is_capital(i):
        return False
    return word not in MONTHS or v.word(i + 1).isalpha() or v.word(i - 1) == "this"


def read_day_number(v: View, i: int) -> tuple[int, int] | None:
    """Return a bare day of the month at *i* ("8", "the 8th"), and the place behind it."""
    i += v.word(i) == "the"
    match = _DAY.fullmatch(v.word(i))
    if match is None or match[3] or match[4] or v.word(i + 1) in COUNTED:
        return None
    return int(match[1]), i + 1


def with_part_of_day(v: View, found: Found) -> Found:
    """Narrow a day to its morning, afternoon, evening or night, if one is named behind it."""
    hours = DAY_PARTS.get(v.word(found.past))
    if hours is None:
        return found
    day = v.asked.date_of(found.span.start)
    return Found(v.asked.hours(day, *hours), found.past + 1, found.anchor)


def season_in_year(asked: Asked, season: str) -> InYear:
    """Return which months of each year a season is."""
    return lambda year: asked.months(year, SEASONS[season], 3)


def _month_first(v: View, i: int) -> Found | None:
    """Read "May 8th, 2026", "May 8-12", "May 2026", "May last year", "in May"."""
    month = MONTHS[v.word(i)]
    j = i + 1
    if v.word(j) == "." and v.word(i) not in SURE_MONTHS and is_number(v.word(j + 1)):
        j += 1  # Sept. 8
    day_at = j + (v.word(j) == "the")
    if (match := _DAY.fullmatch(v.word(day_at))) and v.word(day_at + 1) not in COUNTED:
        return _days_of_month(v, match, month, day_at + 1)
    if year := read_year(v, j):
        return Found(v.asked.months(year[0], month), year[1], year[2])
    if not (v.vouched or v.word(i) in SURE_MONTHS or _has_witness(v, i)):
        return None
    return _floating(v.asked.yearly(lambda year: v.asked.months(year, month)), i + 1)


def _day_first(v: View, i: int) -> Found | None:
    """Read "8 May 2026", "the 8th of May", "8-12 May", "the 8th of last month", "on the 8th"."""
    j = i + 1 + (v.word(i + 1) == "of")
    month = MONTHS.get(v.word(j))
    if month is None and v.word(i - 1) != "the":
        return None
    match = _DAY.fullmatch(v.word(i))
    if match is None or match[4]:
        return None
    if month:
        is_verb = j == i + 1 and is_plain_word(v, j)  # version 8 may break
        return None if is_verb else _days_of_month(v, match, month, j + 1)
    if not match[2] or match[3]:
        return None
    if j > i + 1 and v.word(j) in RELATIVE and v.word(j + 1) == "month":
        first = v.asked.date_of(v.asked.unit("month", RELATIVE[v.word(j)]).start)
        day = in_month(first.year, first.month, int(match[1]))
        return Found(v.asked.day(day), j + 2, "relative") if day else None
    if v.word(i - 2) in _BEFORE_BARE_DAY and not v.word(i + 1).isalnum():  # on the 8th floor
        return _floating(v.asked.monthly(int(match[1])), i + 1)
    return None


def _ordinal_first(v: View, i: int) -> Found | None:
    """Read "the first of May"."""
    month = MONTHS.get(v.word(i + 2))
    match = _DAY.fullmatch(str(ORDINALS[v.word(i)]))
    if month is None or match is None or v.word(i + 1) != "of" or v.word(i - 1) == "a":
        return None
    return _days_of_month(v, match, month, i + 3)


def _days_of_month(v: View, match: re.Match[str], month: int, past: int) -> Found | None:
    first, last = int(match[1]), int(match[3] or match[1])

    def in_year(year: int) -> Span | None:
        start, end = in_month(year, month, first), in_month(year, month, last)
        return v.asked.days(start, end + ONE_DAY) if start and end and start <= end else None

    if match[4]:
        span = in_year(int(match[4]))
        return Found(span, past, "absolute") if span else None
    if year := read_year(v, past):
        span = in_year(year[0])
        return Found(span, year[1], year[2]) if span else None
    return _floating(v.asked.yearly(in_year), past)


def read_year(v: View, i: int) -> tuple[int, int, Anchor] | None:
    """Read the year behind a month or a holiday: ", 2026", "of 2026", "last year"."""
    i += v.word(i) in (",", "of", "in")
    if is_bare_year(v.word(i)) and v.word(i + 1) not in COUNTED:
        return int(v.word(i)), i + 1, "absolute"
    if v.word(i) in RELATIVE and v.word(i + 1) == "year" and v.word(i - 1) != ",":
        return v.asked.today.year + RELATIVE[v.word(i)], i + 2, "relative"
    return None


def _weekday(v: View, i: int) -> Found | None:
    """Read "Friday", "Friday, May 8", "Friday the 13th", "Friday of last week", "Friday night"."""
    weekday = WEEKDAYS[v.word(i)]
    before = v.word(i - 1)
    if before in FEASTS or before in ORDINALS or before in RELATIVE:
        return None  # the last Friday of the sprint
    dated = longest(v, i + 1 + (v.word(i + 1) == ","), DATES)
    if dated and is_day(dated.span):
        return dated
    if v.word(i) not in SURE_WEEKDAYS:
        is_vouched = v.vouched or before in _BEFORE_SHORT_WEEKDAY
        if not is_vouched or is_plain_word(v, i):
            return None
    j = i + 1 + (v.word(i + 1) == "the")
    if (match := _DAY.fullmatch(v.word(j))) and match[2] and not match[3]:
        return _floating(v.asked.monthly(int(match[1]), weekday), j + 1)
    j = i + 1 + (v.word(i + 1) == "of")
    if v.word(j) in RELATIVE and v.word(j + 1) == "week":
        day = v.asked.weekday(weekday, RELATIVE[v.word(j)])
        return with_part_of_day(v, Found(day, j + 2, "relative"))
    return with_part_of_day(v, Found(v.asked.weekly(weekday), i + 1, "floating"))


def _numeric(v: View, i: int) -> Found | None:
    """Read "2026-05-08", "2026-05-08T10:00Z", "12/05/2026", "8.5.2026", "8-May-2026"."""
    word = v.word(i)
    if len(word) < len("1.1.2026"):
        return None
    iso = _ISO.fullmatch(word)
    if iso and v.text[v.tokens[i].at - 1 : v.tokens[i].at] in ('"', "'"):
        return None  # a value in code
    match = iso or _SLASHED.fullmatch(word) or _DOTTED.fullmatch(word) or _NAMED.fullmatch(word)
    if match is None:
        return None
    month = MONTHS.get(match["month"]) or int(match["month"])
    day = int(match["day"])
    if match.re is _SLASHED and month > 12:
        month, day = day, month
    found = in_month(int(match["year"]), month, day) if 1 <= month <= 12 else None
    if found is None:
        return None
    span = _moment(v.asked, found, iso) if iso and iso["time"] else v.asked.day(found)
    return Found(span, i + 1, "absolute")


def _moment(asked: Asked, day: date, iso: re.Match[str]) -> Span:
    clock = time.fromisoformat(iso["time"].upper()).replace(microsecond=0)
    start = datetime.combine(day, clock, tzinfo=clock.tzinfo or asked.zone).astimezone(UTC)
    return Span(start, start + CLOCK_UNITS["second" if iso["second"] else "minute"])


def _bare_year(v: View, i: int) -> Found | None:
    """Read "2024", "2019-2021" or "2026-05" where a period is expected, and "2025 Q3" anywhere."""
    match = _YEARS.fullmatch(v.word(i)) if len(v.word(i)) >= 4 else None
    if match is None or v.word(i + 1) in COUNTED:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    if match[0] == match[1] and (quarter := QUARTERS.get(v.word(i + 1))):
        return Found(v.asked.months(first, 3 * quarter - 2, 3), i + 2, "absolute")
    if not (v.vouched or v.word(i - 1) in _BEFORE_YEAR) or last < first:
        return None
    if match[3]:
        return Found(v.asked.months(first, int(match[3])), i + 1, "absolute")
    return Found(v.asked.months(first, 1, 12 * (last - first + 1)), i + 1, "absolute")


def _quarter(v: View, i: int) -> Found | None:
    """Read "Q3 2025", "in Q2"."""
    month = 3 * QUARTERS[v.word(i)] - 2
    if year := read_year(v, i + 1):
        return Found(v.asked.months(year[0], month, 3), year[1], year[2])
    if not (v.vouched or _has_witness(v, i)):
        return None  # "Q2: what is a token?"
    return _floating(v.asked.yearly(lambda year: v.asked.months(year, month, 3)), i + 1)


def _season(v: View, i: int) -> Found | None:
    """Read "spring 2025", "the summer of last year", "in winter"."""
    in_year = season_in_year(v.asked, v.word(i))
    if (year := read_year(v, i + 1)) and (span := in_year(year[0])):
        return Found(span, year[1], year[2])
    if not v.vouched or v.is_capital(i):
        return None  # "in Spring, beans are singletons"
    return _floating(v.asked.yearly(in_year), i + 1)


def _decade(v: View, i: int) -> Found | None:
    """Read "the 1990s", and where a period is expected "the 90s", "the '90s", "the nineties"."""
    mark = v.word(i) in ("'", "’")
    if v.word(i - 1) != "the":
        return None
    first = DECADES.get(v.word(i + mark))
    if first is None and (match := _DECADE.fullmatch(v.word(i + mark))):
        first = int(match[1])
    if first is None or (first < 100 and not v.vouched):
        return None
    first += 1900 if first < 100 else 0
    return Found(v.asked.months(first, 1, 120), i + 1 + mark, "absolute")


def _floating(span: Span | None, past: int) -> Found | None:
    return Found(span, past, "floating") if span else None


def _has_witness(v: View, i: int) -> bool:
    return v.word(i - 1) in _WITNESSES and v.is_capital(i)


DATES = heads(
    {},
    (_numeric, ["0"]),
    (_day_first, ["0"]),
    (_ordinal_first, ORDINALS),
    (_month_first, MONTHS),
)
NAMES = heads(
    DATES,
    (_bare_year, ["0"]),
    (_weekday, WEEKDAYS),
    (_quarter, QUARTERS),
    (_season, SEASONS),
    (_decade, ["0", "'", "’", *DECADES]),
)
