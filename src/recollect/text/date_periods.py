"""
Read one period at a position in the text: named, or relative to now or to another period.

"Last week", "two days ago", "the past month", "the end of May", "the day before X". A reader whose
period refers to another X reads X among the simple periods only, which bounds the recursion.
"""

import re

from recollect.text import date_words
from recollect.text.date_calendar import CLOCK_UNITS, ONE_DAY, Calendar, TimeSpan, shift_date
from recollect.text.date_holidays import HOLIDAY_FIRST_WORDS, read_adjacent_holiday, read_holiday
from recollect.text.date_names import (
    NAMED_READERS,
    PeriodMatch,
    TokenView,
    add_readers,
    is_day,
    is_number,
    is_ordinary_word,
    longest_period,
    with_part_of_day,
    yearly_season,
)

_BIG_UNITS = ("week", "month", "quarter", "year")
_TWO_STEPS = {("before", "last"): -2, ("after", "next"): 2}
_ROLLING_UNITS = ("hour", "week", "month", "year")  # "the last year" ends now
_FUTURE_WORDS = ("next", "coming", "upcoming")
_NTH_NOUNS = frozenset([*date_words.WEEKDAYS, "day", "week", "half", "quarter"])
_COUNT = re.compile(r"([0-9]{1,4})(?:[-–]([0-9]{1,4}))?")

# After any other word, "last" is a verb: "it will last two weeks".
_BEFORE_LAST = frozenset(["the", "these", "in", "within", "over", "during", "for", "from"])


def read_period(v: TokenView, i: int) -> PeriodMatch | None:
    """Return the longest period that begins at *i*; "the" is skipped."""
    return longest_period(v, i, PERIOD_READERS)


def _read_day_word(v: TokenView, i: int) -> PeriodMatch:
    """Read "yesterday", "tomorrow morning", "tonight"."""
    if v.word(i) == "tonight":
        night = v.calendar.hours(v.calendar.today, *date_words.DAY_PARTS["night"])
        return PeriodMatch(night, i + 1, "relative")
    day = v.calendar.unit("day", date_words.DAY_WORDS[v.word(i)])
    return with_part_of_day(v, PeriodMatch(day, i + 1, "relative"))


def _read_adjacent(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "last week", "this spring", "next Friday night", "this past May", "last night"."""
    step = date_words.RELATIVE_OFFSETS[v.word(i)]
    if v.word(i) == "last" and v.word(i - 1) == "the" and v.word(i + 1) in _ROLLING_UNITS:
        return None
    i += 1
    if v.word(i - 1) == "this" and v.word(i) in ("past", "last", "coming"):
        step = 1 if v.word(i) == "coming" else -1
        i += 1
    if v.word(i + 1) == "of" or is_ordinary_word(v, i):
        return None  # the last week of school, this may break
    if v.word(i) in HOLIDAY_FIRST_WORDS and (holiday := read_adjacent_holiday(v, i, step)):
        return holiday
    if v.word(i) == "week" and (weekday_at := _weekday_after_week(v, i + 1)):
        day = v.calendar.weekday(date_words.WEEKDAYS[v.word(weekday_at)], step)
        return with_part_of_day(v, PeriodMatch(day, weekday_at + 1, "relative"))
    span = _adjacent_span(v.calendar, v.word(i), step)
    if span is None:
        return None
    period = PeriodMatch(span, i + 1, "relative")
    return with_part_of_day(v, period) if v.word(i) in date_words.WEEKDAYS else period


def _weekday_after_week(v: TokenView, i: int) -> int | None:
    """Return the index of the weekday in "last week on Thursday"."""
    i += v.word(i) == "on"
    return i if v.word(i) in date_words.UNAMBIGUOUS_WEEKDAYS else None


def _adjacent_span(calendar: Calendar, name: str, step: int) -> TimeSpan | None:
    if name in _BIG_UNITS:
        return calendar.unit(name, step)
    if name == "weekend":
        return calendar.weekend(step)
    if name in date_words.WEEKDAYS:
        return calendar.adjacent_weekday(date_words.WEEKDAYS[name], step)
    if name in date_words.MONTHS:
        return calendar.adjacent_yearly(
            lambda year: calendar.months(year, date_words.MONTHS[name]), step
        )
    if name == "winter" and step == 0:
        return calendar.nearest_yearly(yearly_season(calendar, name))  # two winters touch each year
    if name in date_words.SEASONS:
        return calendar.adjacent_yearly(yearly_season(calendar, name), step)
    if name in date_words.DAY_PARTS and (step == 0 or (step < 0 and name in ("night", "evening"))):
        return calendar.hours(calendar.today + step * ONE_DAY, *date_words.DAY_PARTS[name])
    return None


def _read_rolling(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the last 10 days", "the past week", "the next few hours"."""
    lead, before = v.word(i), v.word(i - 1)
    if lead == "last" and before.isalpha() and before not in _BEFORE_LAST:
        return None
    count = None if v.word(i + 1) in ("a", "an") else _read_count(v, i + 1)
    _, most, end = count or (1, 1, i + 1)
    unit = date_words.UNITS.get(v.word(end))
    if unit is None or v.word(end + 1) == "of":
        return None
    if count is None and not (
        (lead == "past" and before == "the" and unit not in ("second", "minute"))
        or (lead == "last" and before == "the" and unit in _ROLLING_UNITS)
    ):
        return None  # at the last minute, the last day
    read_units = v.calendar.next_units if lead in _FUTURE_WORDS else v.calendar.last_units
    return PeriodMatch(read_units(unit, most), end + 1, "relative")


def _read_counted(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "3 days ago", "a year ago today", "in 3 days", "two days before May 8"."""
    count = _read_count(v, i)
    if count is None or v.word(i - 1) == "half":
        return None
    least, most, at_unit = count
    unit = date_words.UNITS.get(v.word(at_unit))
    if unit is None:
        return _read_weekdays_ago(v, at_unit, least) if least == most else None
    after = v.word(at_unit + 1)
    if after == "ago" and v.word(at_unit + 2) == "today" and unit in _BIG_UNITS and least == most:
        day = v.calendar.day(shift_date(v.calendar.today, unit, -most))
        return PeriodMatch(day, at_unit + 3, "relative")
    if after == "ago":
        return PeriodMatch(_units_span(v.calendar, unit, -most, -least), at_unit + 2, "relative")
    if after == "from" and v.word(at_unit + 2) in ("now", "today"):
        return PeriodMatch(_units_span(v.calendar, unit, least, most), at_unit + 3, "relative")
    if after in ("before", "after") and unit not in CLOCK_UNITS:
        return _read_shifted(v, at_unit + 1, unit, most)
    # "It loads in 5 seconds" is not a date; "remind me in two hours" is one in the future.
    is_short = unit == "second" or (unit in CLOCK_UNITS and v.calendar.direction == "past")
    if v.word(i - 1) == "in" and not is_short and after != "of":
        return PeriodMatch(_units_span(v.calendar, unit, least, most), at_unit + 1, "relative")
    return None


def _read_weekdays_ago(v: TokenView, i: int, count: int) -> PeriodMatch | None:
    """Read "Fridays ago" after a count that has been read."""
    weekday = v.word(i).removesuffix("s")
    if weekday not in date_words.UNAMBIGUOUS_WEEKDAYS or v.word(i + 1) != "ago" or count < 1:
        return None
    last = v.calendar.date_of(v.calendar.adjacent_weekday(date_words.WEEKDAYS[weekday], -1).start)
    return PeriodMatch(v.calendar.day(last - 7 * (count - 1) * ONE_DAY), i + 2, "relative")


def _read_count(v: TokenView, i: int) -> tuple[int, int, int] | None:
    """Return the least and greatest count, and the index after: "two", "2-3", "a couple of"."""
    word = v.word(i)
    if is_number(word):
        match = _COUNT.fullmatch(word) if v.word(i + 1) in date_words.UNITS else None
        if match is None:
            return None
        least, most = int(match[1]), int(match[2] or match[1])
        return (least, most, i + 1) if least <= most else None
    vague = i + (word == "a")
    if v.word(vague) in date_words.VAGUE_COUNTS:
        return (*date_words.VAGUE_COUNTS[v.word(vague)], vague + 1 + (v.word(vague + 1) == "of"))
    if word in date_words.NUMBERS:
        return date_words.NUMBERS[word], date_words.NUMBERS[word], i + 1
    return None


def _units_span(calendar: Calendar, unit: str, first: int, last: int) -> TimeSpan:
    return TimeSpan(calendar.unit(unit, first).start, calendar.unit(unit, last).end)


def _read_shifted(v: TokenView, i: int, unit: str, count: int) -> PeriodMatch | None:
    period = longest_period(v.expecting_period(), i + 1, SIMPLE_READERS)
    if period is None:
        return None
    step = -count if v.word(i) == "before" else count
    day = shift_date(v.calendar.date_of(period.span.start), unit, step)
    return period._replace(span=v.calendar.day(day))


def _read_neighbour(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the day before yesterday", "the week after May 8", "the month before last"."""
    unit, side = v.word(i), v.word(i + 1)
    if side not in ("before", "after"):
        return None
    period = longest_period(v.expecting_period(), i + 2, SIMPLE_READERS)
    if period and side == "before":
        end = v.calendar.date_of(period.span.start)
        return period._replace(span=v.calendar.days(shift_date(end, unit, -1), end))
    if period:
        first = v.calendar.date_of(period.span.end)
        return period._replace(span=v.calendar.days(first, shift_date(first, unit, 1)))
    if step := _TWO_STEPS.get((side, v.word(i + 2))):
        return PeriodMatch(v.calendar.unit(unit, step), i + 3, "relative")
    return None


def _read_week_of(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the week of May 4", "the weekend of May 9", "the month of May"."""
    if v.word(i - 1) != "the" or v.word(i + 1) != "of":
        return None
    period = longest_period(v.expecting_period(), i + 2, SIMPLE_READERS)
    if period is None:
        return None
    if v.word(i) == "month":
        is_month = 27 * ONE_DAY < period.span.end - period.span.start < 32 * ONE_DAY
        return period if is_month else None
    if not is_day(period.span):
        return None
    day = v.calendar.date_of(period.span.start)
    monday = day - day.weekday() * ONE_DAY
    first = monday + (5 if v.word(i) == "weekend" else 0) * ONE_DAY
    return period._replace(span=v.calendar.days(first, monday + 7 * ONE_DAY))


def _read_earlier(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "earlier today", "earlier this week": the part before now."""
    if v.word(i + 1) != "today" and not (v.word(i + 1) == "this" and v.word(i + 2) in _BIG_UNITS):
        return None
    period = longest_period(v, i + 1, SIMPLE_READERS)
    return period._replace(span=TimeSpan(period.span.start, v.calendar.now)) if period else None


def _read_weekend(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the weekend", "the weekend before last"."""
    if v.word(i - 1) != "the":
        return None
    if step := _TWO_STEPS.get((v.word(i + 1), v.word(i + 2))):
        return PeriodMatch(v.calendar.weekend(step), i + 3, "relative")
    return PeriodMatch(v.calendar.nearest_weekend(), i + 1, "floating")


def _read_part(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "early May", "mid-2024", "the end of last year"."""
    j = i + 1
    if v.word(i) in ("early", "mid", "late"):
        j += v.word(j) in ("-", "in")
    elif v.word(j) == "of":
        j += 1
    else:
        return None
    period = _read_whole(v, j)
    span = v.calendar.third(period.span, date_words.PERIOD_PARTS[v.word(i)]) if period else None
    return period._replace(span=span) if period and span else None


def _read_nth(v: TokenView, i: int) -> PeriodMatch | None:
    """Read "the first week of May", "the last Friday in June", "the second half of 2025"."""
    nth, kind = date_words.ORDINALS[v.word(i)], v.word(i + 1)
    if kind not in _NTH_NOUNS or v.word(i + 2) not in ("of", "in"):
        return None
    period = _read_whole(v, i + 3)
    if period is None or is_day(period.span):
        return None
    if kind in date_words.WEEKDAYS:
        span = v.calendar.nth_weekday(period.span, date_words.WEEKDAYS[kind], nth)
    elif kind in ("day", "week"):
        span = v.calendar.nth_days(period.span, 7 if kind == "week" else 1, nth)
    else:
        span = v.calendar.fraction(period.span, 2 if kind == "half" else 4, nth)
    return period._replace(span=span) if span else None


def _read_whole(v: TokenView, i: int) -> PeriodMatch | None:
    """Read the period that a part belongs to: a simple one, or "the month" for this month."""
    if v.word(i) == "the" and v.word(i + 1) in _BIG_UNITS:
        return PeriodMatch(v.calendar.unit(v.word(i + 1), 0), i + 2, "relative")
    return longest_period(v.expecting_period(), i, SIMPLE_READERS)


SIMPLE_READERS = add_readers(
    NAMED_READERS,
    (_read_day_word, [*date_words.DAY_WORDS, "tonight"]),
    (_read_adjacent, date_words.RELATIVE_OFFSETS),
    (read_holiday, HOLIDAY_FIRST_WORDS),
)
PERIOD_READERS = add_readers(
    SIMPLE_READERS,
    (_read_rolling, ["last", "previous", "past", *_FUTURE_WORDS]),
    (_read_counted, ["0", *date_words.NUMBERS, *date_words.VAGUE_COUNTS]),
    (_read_neighbour, ["day", *_BIG_UNITS]),
    (_read_week_of, ["week", "weekend", "month"]),
    (_read_earlier, ["earlier"]),
    (_read_weekend, ["weekend"]),
    (_read_part, date_words.PERIOD_PARTS),
    (_read_nth, date_words.ORDINALS),
)
