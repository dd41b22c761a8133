"""
Read a named date at a position in the text: a month, a weekday, a year, "May 8th", 2026-05-08.

A reader gets the tokens and the index of its first word, and returns a match or None. Names that
are ordinary words as well ("may", "march", "sat", "spring") count as dates only if the context
confirms it: a day, a year, a preposition, or a capital letter after certain words.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

from recollect.lazy_dataclass import dataclass
from recollect.text.date_calendar import (
    CLOCK_UNITS,
    ONE_DAY,
    Calendar,
    TimeSpan,
    YearlyPeriod,
    date_in_month,
)
from recollect.text.date_words import (
    AMBIGUOUS_WORDS,
    COUNTED_NOUNS,
    DAY_PARTS,
    DECADES,
    MONTHS,
    ORDINALS,
    QUARTERS,
    RELATIVE_OFFSETS,
    SEASONS,
    UNAMBIGUOUS_MONTHS,
    UNAMBIGUOUS_WEEKDAYS,
    WEEKDAY_PREFIXES,
    WEEKDAYS,
    Token,
)

Anchor = Literal["absolute", "relative", "floating"]  # floating: without a year or week

# After one of these, a capitalised "May" is a month and "Q2" a quarter.
_BEFORE_CAPITALIZED_NAME = frozenset(
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
_MONTH_NAME_DATE = r"(?P<day>[0-9]{1,2})([-/])(?P<month>[a-z]+)\2(?P<year>(?:19|20)[0-9]{2})"
_WITH_MONTH_NAME = re.compile(_MONTH_NAME_DATE)


class PeriodMatch(NamedTuple):
    """A time span, the index after its last token, and what it is relative to."""

    span: TimeSpan
    end: int
    anchor: Anchor


@dataclass(frozen=True, slots=True)
class TokenView:
    """
    The tokens of a text, and the calendar its dates are relative to.

    *expects_period*: the words before announce a period ("in", "since"), so "may" is a month and
    2024 a year.
    """

    text: str
    tokens: list[Token]
    calendar: Calendar
    expects_period: bool = False

    def word(self, i: int) -> str:
        """Return the word at *i*."""
        return self.tokens[i].word

    def is_capital(self, i: int) -> bool:
        """Return whether the word at *i* begins with a capital letter."""
        return self.text[self.tokens[i].start].isupper()

    def expecting_period(self, calendar: Calendar | None = None) -> "TokenView":
        """Return this view with `expects_period` set, and with another calendar if given."""
        return TokenView(self.text, self.tokens, calendar or self.calendar, True)


Reader = Callable[[TokenView, int], PeriodMatch | None]
ReaderTable = dict[str, tuple[Reader, ...]]


def add_readers(base: ReaderTable, *entries: tuple[Reader, Iterable[str]]) -> ReaderTable:
    """Return *base* with more readers by first word; the key "0" stands for any number."""
    table = dict(base)
    for reader, words in entries:
        for word in words:
            table[word] = (*table.get(word, ()), reader)
    return table


def longest_period(v: TokenView, i: int, table: ReaderTable) -> PeriodMatch | None:
    """Return the longest match at *i* among the readers of *table*; "the" is skipped."""
    i += v.word(i) == "the"
    word = v.word(i)
    best: PeriodMatch | None = None
    for reader in table.get("0" if is_number(word) else word, ()):
        period = reader(v, i)
        if period and (best is None or period.end > best.end):
            best = period
    return best


def is_number(word: str) -> bool:
    """Return whether *word* begins with a digit."""
    return "0" <= word < ":"  # ":" follows "9"


def is_bare_year(word: str) -> bool:
    """Return whether *word* is a number that may be a year."""
    return len(word) == 4 and _YEAR.fullmatch(word) is not None


def is_day(span: TimeSpan) -> bool:
    """Return whether *span* is at most one day, even a day on which clocks go back."""
    return span.end - span.start <= timedelta(hours=25)


def is_ordinary_word(v: TokenView, i: int) -> bool:
    """Return whether a name at *i* is more likely a verb: lower case and before another word."""
    word = v.word(i)
    if word not in AMBIGUOUS_WORDS or v.is_capital(i):
        return False
    return word not in MONTHS or v.word(i + 1).isalpha() or v.word(i - 1) == "this"


def read_day_number(v: TokenView, i: int) -> tuple[int, int] | None:
    """Return a bare day of the month at *i* ("8", "the 8th"), and the index after it."""
    i += v.word(i) == "the"
    match = _DAY.fullmatch(v.word(i))
    if match is None or match[3] or match[4] or v.word(i + 1) in COUNTED_NOUNS:
        return None
    return int(match[1]), i + 1


def with_part_of_day(v: TokenView, period: PeriodMatch) -> PeriodMatch:
    """Narrow a day to its morning, afternoon, evening or night, if one is named after it."""
    hours = DAY_PARTS.get(v.word(period.end))
    if hours is None:
        return period
    day = v.calendar.date_of(period.span.start)
    return PeriodMatch(v.calendar.hours(day, *hours), period.end + 1, period.anchor)


def yearly_season(calendar: Calendar, season: str) -> YearlyPeriod:
    """Return the function that gives the months of a season in a year."""
    return lambda year: calendar.months(year, SEASONS[season], 3)


def _read_month_first(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "May 8th, 2026", "May 8-12", "May 2026", "May last year", "in May"."""
    month = MONTHS[v.word(i)]
    j = i + 1
    if v.word(j) == "." and v.word(i) not in UNAMBIGUOUS_MONTHS and is_number(v.word(j + 1)):
        j += 1  # Sept. 8
    day_at = j + (v.word(j) == "the")
    if (match := _DAY.fullmatch(v.word(day_at))) and v.word(day_at + 1) not in COUNTED_NOUNS:
        return _days_of_month(v, match, month, day_at + 1)
    if year := read_year(v, j):
        return PeriodMatch(v.calendar.months(year[0], month), year[1], year[2])
    if not (v.expects_period or v.word(i) in UNAMBIGUOUS_MONTHS or _is_confirmed_by_context(v, i)):
        return None
    span = v.calendar.nearest_yearly(lambda year: v.calendar.months(year, month))
    return _floating_match(span, i + 1)


def _read_day_first(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "8 May 2026", "the 8th of May", "8-12 May", "the 8th of last month", "on the 8th"."""
    j = i + 1 + (v.word(i + 1) == "of")
    month = MONTHS.get(v.word(j))
    if month is None and v.word(i - 1) != "the":
        return None
    match = _DAY.fullmatch(v.word(i))
    if match is None or match[4]:
        return None
    if month:
        is_verb = j == i + 1 and is_ordinary_word(v, j)  # version 8 may break
        return None if is_verb else _days_of_month(v, match, month, j + 1)
    if not match[2] or match[3]:
        return None
    if j > i + 1 and v.word(j) in RELATIVE_OFFSETS and v.word(j + 1) == "month":
        first = v.calendar.date_of(v.calendar.unit("month", RELATIVE_OFFSETS[v.word(j)]).start)
        day = date_in_month(first.year, first.month, int(match[1]))
        return PeriodMatch(v.calendar.day(day), j + 2, "relative") if day else None
    if v.word(i - 2) in _BEFORE_BARE_DAY and not v.word(i + 1).isalnum():  # on the 8th floor
        return _floating_match(v.calendar.nearest_month_day(int(match[1])), i + 1)
    return None


def _read_ordinal_first(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the first of May"."""
    month = MONTHS.get(v.word(i + 2))
    match = _DAY.fullmatch(str(ORDINALS[v.word(i)]))
    if month is None or match is None or v.word(i + 1) != "of" or v.word(i - 1) == "a":
        return None
    return _days_of_month(v, match, month, i + 3)


def _days_of_month(v: TokenView, match: re.Match[str], month: int, end: int) -> PeriodMatch | None:
    first, last = int(match[1]), int(match[3] or match[1])

    def in_year(year: int) -> TimeSpan | None:
        first_day, last_day = date_in_month(year, month, first), date_in_month(year, month, last)
        if not (first_day and last_day and first_day <= last_day):
            return None
        return v.calendar.days(first_day, last_day + ONE_DAY)

    if match[4]:
        span = in_year(int(match[4]))
        return PeriodMatch(span, end, "absolute") if span else None
    if year := read_year(v, end):
        span = in_year(year[0])
        return PeriodMatch(span, year[1], year[2]) if span else None
    return _floating_match(v.calendar.nearest_yearly(in_year), end)


def read_year(v: TokenView, i: int) -> tuple[int, int, Anchor] | None:
    """Read the year after a month or a holiday: ", 2026", "of 2026", "last year"."""
    i += v.word(i) in (",", "of", "in")
    if is_bare_year(v.word(i)) and v.word(i + 1) not in COUNTED_NOUNS:
        return int(v.word(i)), i + 1, "absolute"
    if v.word(i) in RELATIVE_OFFSETS and v.word(i + 1) == "year" and v.word(i - 1) != ",":
        return v.calendar.today.year + RELATIVE_OFFSETS[v.word(i)], i + 2, "relative"
    return None


def _read_weekday(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "Friday", "Friday, May 8", "Friday the 13th", "Friday of last week", "Friday night"."""
    weekday = WEEKDAYS[v.word(i)]
    before = v.word(i - 1)
    if before in WEEKDAY_PREFIXES or before in ORDINALS or before in RELATIVE_OFFSETS:
        return None  # the last Friday of the sprint
    dated = longest_period(v, i + 1 + (v.word(i + 1) == ","), DATE_READERS)
    if dated and is_day(dated.span):
        return dated
    if v.word(i) not in UNAMBIGUOUS_WEEKDAYS:
        is_expected = v.expects_period or before in _BEFORE_SHORT_WEEKDAY
        if not is_expected or is_ordinary_word(v, i):
            return None
    j = i + 1 + (v.word(i + 1) == "the")
    if (match := _DAY.fullmatch(v.word(j))) and match[2] and not match[3]:
        return _floating_match(v.calendar.nearest_month_day(int(match[1]), weekday), j + 1)
    j = i + 1 + (v.word(i + 1) == "of")
    if v.word(j) in RELATIVE_OFFSETS and v.word(j + 1) == "week":
        day = v.calendar.weekday(weekday, RELATIVE_OFFSETS[v.word(j)])
        return with_part_of_day(v, PeriodMatch(day, j + 2, "relative"))
    return with_part_of_day(v, PeriodMatch(v.calendar.nearest_weekday(weekday), i + 1, "floating"))


def _read_numeric(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "2026-05-08", "2026-05-08T10:00Z", "12/05/2026", "8.5.2026", "8-May-2026"."""
    word = v.word(i)
    if len(word) < len("1.1.2026"):
        return None
    iso = _ISO.fullmatch(word)
    if iso and v.text[v.tokens[i].start - 1 : v.tokens[i].start] in ('"', "'"):
        return None  # a value in code
    patterns = (_SLASHED, _DOTTED, _WITH_MONTH_NAME)
    match = iso or next(filter(None, (pattern.fullmatch(word) for pattern in patterns)), None)
    if match is None:
        return None
    month = MONTHS.get(match["month"]) or int(match["month"])
    day = int(match["day"])
    if match.re is _SLASHED and month > 12:
        month, day = day, month
    date_found = date_in_month(int(match["year"]), month, day) if 1 <= month <= 12 else None
    if date_found is None:
        return None
    if iso and iso["time"]:
        return PeriodMatch(_iso_moment(v.calendar, date_found, iso), i + 1, "absolute")
    return PeriodMatch(v.calendar.day(date_found), i + 1, "absolute")


def _iso_moment(calendar: Calendar, day: date, iso: re.Match[str]) -> TimeSpan:
    clock = time.fromisoformat(iso["time"].upper()).replace(microsecond=0)
    start = datetime.combine(day, clock, tzinfo=clock.tzinfo or calendar.zone).astimezone(UTC)
    return TimeSpan(start, start + CLOCK_UNITS["second" if iso["second"] else "minute"])


def _read_bare_year(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "2024", "2019-2021" or "2026-05" if a period is expected, and "2025 Q3" anywhere."""
    match = _YEARS.fullmatch(v.word(i)) if len(v.word(i)) >= 4 else None
    if match is None or v.word(i + 1) in COUNTED_NOUNS:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    if match[0] == match[1] and (quarter := QUARTERS.get(v.word(i + 1))):
        return PeriodMatch(v.calendar.months(first, 3 * quarter - 2, 3), i + 2, "absolute")
    if not (v.expects_period or v.word(i - 1) in _BEFORE_YEAR) or last < first:
        return None
    if match[3]:
        return PeriodMatch(v.calendar.months(first, int(match[3])), i + 1, "absolute")
    return PeriodMatch(v.calendar.months(first, 1, 12 * (last - first + 1)), i + 1, "absolute")


def _read_quarter(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "Q3 2025", "in Q2"."""
    month = 3 * QUARTERS[v.word(i)] - 2
    if year := read_year(v, i + 1):
        return PeriodMatch(v.calendar.months(year[0], month, 3), year[1], year[2])
    if not (v.expects_period or _is_confirmed_by_context(v, i)):
        return None  # "Q2: what is a token?"
    span = v.calendar.nearest_yearly(lambda year: v.calendar.months(year, month, 3))
    return _floating_match(span, i + 1)


def _read_season(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "spring 2025", "the summer of last year", "in winter"."""
    in_year = yearly_season(v.calendar, v.word(i))
    if (year := read_year(v, i + 1)) and (span := in_year(year[0])):
        return PeriodMatch(span, year[1], year[2])
    if not v.expects_period or v.is_capital(i):
        return None  # "in Spring, beans are singletons"
    return _floating_match(v.calendar.nearest_yearly(in_year), i + 1)


def _read_decade(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the 1990s", and if a period is expected "the 90s", "the '90s", "the nineties"."""
    mark = v.word(i) in ("'", "’")
    if v.word(i - 1) != "the":
        return None
    first = DECADES.get(v.word(i + mark))
    if first is None and (match := _DECADE.fullmatch(v.word(i + mark))):
        first = int(match[1])
    if first is None or (first < 100 and not v.expects_period):
        return None
    first += 1900 if first < 100 else 0
    return PeriodMatch(v.calendar.months(first, 1, 120), i + 1 + mark, "absolute")


def _floating_match(span: TimeSpan | None, end: int) -> PeriodMatch | None:
    return PeriodMatch(span, end, "floating") if span else None


def _is_confirmed_by_context(v: TokenView, i: int) -> bool:
    return v.word(i - 1) in _BEFORE_CAPITALIZED_NAME and v.is_capital(i)


DATE_READERS = add_readers(
    {},
    (_read_numeric, ["0"]),
    (_read_day_first, ["0"]),
    (_read_ordinal_first, ORDINALS),
    (_read_month_first, MONTHS),
)
NAMED_READERS = add_readers(
    DATE_READERS,
    (_read_bare_year, ["0"]),
    (_read_weekday, WEEKDAYS),
    (_read_quarter, QUARTERS),
    (_read_season, SEASONS),
    (_read_decade, ["0", "'", "’", *DECADES]),
)
