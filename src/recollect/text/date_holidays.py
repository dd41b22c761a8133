"""
Read a holiday that falls on the same date each year: "on Christmas Day", "since Halloween".

A holiday is as often a thing spoken about ("the Christmas party", "a poem for Valentine's Day") as
a time, so it counts only where the words beside it leave no noun for it to belong to. Holidays that
move with the moon, the week or the country are not known.
"""

from datetime import date

from recollect.text.date_calendar import Span
from recollect.text.date_names import Found, View, read_year

_DATES = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "xmas": (12, 25),
    "xmas day": (12, 25),
    "xmas eve": (12, 24),
    "boxing day": (12, 26),
    "new year": (1, 1),
    "new years": (1, 1),
    "new year day": (1, 1),
    "new years day": (1, 1),
    "new year eve": (12, 31),
    "new years eve": (12, 31),
    "halloween": (10, 31),
    "valentine day": (2, 14),
    "valentines day": (2, 14),
    "st patrick day": (3, 17),
    "st patricks day": (3, 17),
    "april fools": (4, 1),
    "april fools day": (4, 1),
    "juneteenth": (6, 19),
    "bastille day": (7, 14),
}
HOLIDAY_HEADS = frozenset(name.split()[0] for name in _DATES)
_LONGEST = 3  # words in a name
_NEVER_BEFORE = frozenset(["a", "about", "an", "every", "each", "for", "our", "my", "the"])
_BEFORE_SHORT = frozenset(["around", "at", "by", "on", "over"])

# What a sentence goes on with behind a time; any other word is what the holiday belongs to.
_BEHIND = """
about again and at before but did do does for from had has have he how i in is it me my or our she
so that the their there they this to until was we were what when where which who why with you your
"""
_GOES_ON = frozenset(_BEHIND.split())


def read_holiday(v: View, i: int) -> Found | None:
    """Read "on Christmas", "New Year's Eve", "Halloween 2024", "Christmas Day last year"."""
    named = _named(v, i)
    if named is None or v.word(i - 1) in _NEVER_BEFORE:
        return None
    month, day, past = named
    is_vouched = v.vouched or v.word(i - 1) in _BEFORE_SHORT
    if year := read_year(v, past):
        span = _on(v, year[0], month, day)
        return Found(span, year[1], year[2]) if _stands_alone(v, year[1]) else None
    if not (is_vouched or v.word(past - 1) in ("day", "eve")) or not _stands_alone(v, past):
        return None
    span_then = v.asked.yearly(lambda year: _on(v, year, month, day))
    return Found(span_then, past, "floating") if span_then else None


def read_holiday_beside(v: View, i: int, step: int) -> Found | None:
    """Read the holiday behind "last", "this" or "next"."""
    named = _named(v, i)
    if named is None or not _stands_alone(v, named[2]):
        return None
    month, day, past = named
    span = v.asked.yearly_beside(lambda year: _on(v, year, month, day), step)
    return Found(span, past, "relative") if span else None


def _named(v: View, i: int) -> tuple[int, int, int] | None:
    """Return month and day of the longest name at *i*, and the place behind it."""
    best: tuple[int, int, int] | None = None
    name = v.word(i)
    for _ in range(_LONGEST):
        i += 1
        if name in _DATES:
            best = (*_DATES[name], i)
        i = _behind_mark(v, i)
        if not v.word(i):
            break
        name += f" {v.word(i)}"
    return best


def _behind_mark(v: View, i: int) -> int:
    """Return the place behind what stands inside a name: New Year's, Fools', St. Patrick's."""
    if v.word(i) not in ("'", "’", "."):
        return i
    return i + 1 + (v.word(i + 1) == "s")


def _on(v: View, year: int, month: int, day: int) -> Span:
    return v.asked.day(date(year, month, day))


def _stands_alone(v: View, i: int) -> bool:
    i = _behind_mark(v, i)
    return not v.word(i)[:1].isalpha() or v.word(i) in _GOES_ON
