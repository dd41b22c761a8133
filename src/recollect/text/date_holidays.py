"""
Read a holiday that has the same date each year: "on Christmas Day", "since Halloween".

A holiday is often a topic ("the Christmas party", "a poem for Valentine's Day"), so it counts as a
date only if no noun follows that it belongs to. Holidays whose date changes are not supported.
"""

from datetime import date

from recollect.text.date_calendar import TimeSpan
from recollect.text.date_names import PeriodMatch, TokenView, read_year

_NAMES = {
    (12, 24): "christmas eve, xmas eve",
    (12, 25): "christmas, christmas day, xmas, xmas day",
    (12, 26): "boxing day",
    (12, 31): "new year eve, new years eve",
    (1, 1): "new year, new years, new year day, new years day",
    (2, 14): "valentine day, valentines day",
    (3, 17): "st patrick day, st patricks day",
    (4, 1): "april fools, april fools day",
    (6, 19): "juneteenth",
    (7, 14): "bastille day",
    (10, 31): "halloween",
}
_DATES = {name: day for day, names in _NAMES.items() for name in names.split(", ")}
HOLIDAY_FIRST_WORDS = frozenset(name.split()[0] for name in _DATES)
_MAX_WORDS = 3  # words in a name
_NEVER_BEFORE = frozenset(["a", "about", "an", "every", "each", "for", "our", "my", "the"])
_BEFORE_HOLIDAY = frozenset(["around", "at", "by", "on", "over"])

# Words that may follow a date; any other word is a noun that the holiday belongs to.
_AFTER_HOLIDAY_TEXT = """
about again and at before but did do does for from had has have he how i in is it me my or our she
so that the their there they this to until was we were what when where which who why with you your
"""
_AFTER_HOLIDAY = frozenset(_AFTER_HOLIDAY_TEXT.split())


def read_holiday(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "on Christmas", "New Year's Eve", "Halloween 2024", "Christmas Day last year"."""
    holiday = _holiday_at(v, i)
    if holiday is None or v.word(i - 1) in _NEVER_BEFORE:
        return None
    month, day, end = holiday
    is_expected = v.expects_period or v.word(i - 1) in _BEFORE_HOLIDAY
    if year := read_year(v, end):
        span = _day_span(v, year[0], month, day)
        return PeriodMatch(span, year[1], year[2]) if _stands_alone(v, year[1]) else None
    if not (is_expected or v.word(end - 1) in ("day", "eve")) or not _stands_alone(v, end):
        return None
    nearest = v.calendar.nearest_yearly(lambda year: _day_span(v, year, month, day))
    return PeriodMatch(nearest, end, "floating") if nearest else None


def read_adjacent_holiday(v: TokenView, i: int, step: int) -> PeriodMatch | None:
    """Read the holiday after "last", "this" or "next"."""
    holiday = _holiday_at(v, i)
    if holiday is None or not _stands_alone(v, holiday[2]):
        return None
    month, day, end = holiday
    span = v.calendar.adjacent_yearly(lambda year: _day_span(v, year, month, day), step)
    return PeriodMatch(span, end, "relative") if span else None


def _holiday_at(v: TokenView, i: int) -> tuple[int, int, int] | None:
    """Return month and day of the longest holiday name at *i*, and the index after it."""
    best: tuple[int, int, int] | None = None
    name = v.word(i)
    for _ in range(_MAX_WORDS):
        i += 1
        if name in _DATES:
            best = (*_DATES[name], i)
        i = _skip_punctuation(v, i)
        if not v.word(i):
            break
        name += f" {v.word(i)}"
    return best


def _skip_punctuation(v: TokenView, i: int) -> int:
    """Return the index after punctuation inside a name: New Year's, Fools', St. Patrick's."""
    if v.word(i) not in ("'", "’", "."):
        return i
    return i + 1 + (v.word(i + 1) == "s")


def _day_span(v: TokenView, year: int, month: int, day: int) -> TimeSpan:
    return v.calendar.day(date(year, month, day))


def _stands_alone(v: TokenView, i: int) -> bool:
    i = _skip_punctuation(v, i)
    return not v.word(i)[:1].isalpha() or v.word(i) in _AFTER_HOLIDAY
