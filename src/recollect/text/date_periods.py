"""
Read one period at a place in the text: a named one, or one counted from now or from another.

"Last week", "two days ago", "the past month", "the end of May", "the day before X". A reader of a
part or of a neighbour reads its X among the simple periods only, so no text can make the readers
call each other without end.
"""

import re

from recollect.text.date_calendar import CLOCK_UNITS, ONE_DAY, Asked, Span, shifted
from recollect.text.date_holidays import HOLIDAY_HEADS, read_holiday, read_holiday_beside
from recollect.text.date_names import (
    NAMES,
    Found,
    View,
    heads,
    is_day,
    is_number,
    is_plain_word,
    longest,
    season_in_year,
    with_part_of_day,
)
from recollect.text.date_words import (
    DAY_PARTS,
    DAY_WORDS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    PARTS,
    RELATIVE,
    SEASONS,
    SURE_WEEKDAYS,
    UNITS,
    VAGUE,
    WEEKDAYS,
)

_BIG_UNITS = ("week", "month", "quarter", "year")
_BEYOND = {("before", "last"): -2, ("after", "next"): 2}
_ROLLS = ("hour", "week", "month", "year")  # "the last year" ends now, "last year" in December
_AHEAD = ("next", "coming", "upcoming")
_NTH = frozenset([*WEEKDAYS, "day", "week", "half", "quarter"])
_COUNT = re.compile(r"([0-9]{1,4})(?:[-–]([0-9]{1,4}))?")

# Behind another word, "last two weeks" is something that takes time: "it will last two weeks".
_BEFORE_LAST = frozenset(["the", "these", "in", "within", "over", "during", "for", "from"])


def read_period(v: View, i: int) -> Found | None:
    """Return the longest period that begins at *i*, with or without "the"."""
    return longest(v, i, PERIODS)


def _day_word(v: View, i: int) -> Found:
    """Read "yesterday", "tomorrow morning", "tonight"."""
    if v.word(i) == "tonight":
        return Found(v.asked.hours(v.asked.today, *DAY_PARTS["night"]), i + 1, "relative")
    day = v.asked.unit("day", DAY_WORDS[v.word(i)])
    return with_part_of_day(v, Found(day, i + 1, "relative"))


def _beside_now(v: View, i: int) -> Found | None:
    """Read "last week", "this spring", "next Friday night", "this past May", "last night"."""
    step = RELATIVE[v.word(i)]
    if v.word(i) == "last" and v.word(i - 1) == "the" and v.word(i + 1) in _ROLLS:
        return None
    i += 1
    if v.word(i - 1) == "this" and v.word(i) in ("past", "last", "coming"):
        step = 1 if v.word(i) == "coming" else -1
        i += 1
    if v.word(i + 1) == "of" or is_plain_word(v, i):
        return None  # the last week of school, this may break
    if v.word(i) in HOLIDAY_HEADS and (holiday := read_holiday_beside(v, i, step)):
        return holiday
    if v.word(i) == "week" and (weekday_at := _weekday_behind(v, i + 1)):
        day = v.asked.weekday(WEEKDAYS[v.word(weekday_at)], step)
        return with_part_of_day(v, Found(day, weekday_at + 1, "relative"))
    span = _beside(v.asked, v.word(i), step)
    if span is None:
        return None
    found = Found(span, i + 1, "relative")
    return with_part_of_day(v, found) if v.word(i) in WEEKDAYS else found


def _weekday_behind(v: View, i: int) -> int | None:
    """Return where the weekday stands in "last week on Thursday"."""
    i += v.word(i) == "on"
    return i if v.word(i) in SURE_WEEKDAYS else None


def _beside(asked: Asked, name: str, step: int) -> Span | None:
    if name in _BIG_UNITS:
        return asked.unit(name, step)
    if name == "weekend":
        return asked.weekend(step)
    if name in WEEKDAYS:
        return asked.weekly_beside(WEEKDAYS[name], step)
    if name in MONTHS:
        return asked.yearly_beside(lambda year: asked.months(year, MONTHS[name]), step)
    if name == "winter" and step == 0:
        return asked.yearly(season_in_year(asked, name))  # two winters touch each year
    if name in SEASONS:
        return asked.yearly_beside(season_in_year(asked, name), step)
    if name in DAY_PARTS and (step == 0 or (step < 0 and name in ("night", "evening"))):
        return asked.hours(asked.today + step * ONE_DAY, *DAY_PARTS[name])
    return None


def _rolling(v: View, i: int) -> Found | None:
    """Read "the last 10 days", "the past week", "the next few hours"."""
    lead, before = v.word(i), v.word(i - 1)
    if lead == "last" and before.isalpha() and before not in _BEFORE_LAST:
        return None
    count = None if v.word(i + 1) in ("a", "an") else _count(v, i + 1)
    _, most, past = count or (1, 1, i + 1)
    unit = UNITS.get(v.word(past))
    if unit is None or v.word(past + 1) == "of":
        return None
    if count is None and not (
        (lead == "past" and before == "the" and unit not in ("second", "minute"))
        or (lead == "last" and before == "the" and unit in _ROLLS)
    ):
        return None  # at the last minute, the last day
    span = v.asked.ahead(unit, most) if lead in _AHEAD else v.asked.back(unit, most)
    return Found(span, past + 1, "relative")


def _counted(v: View, i: int) -> Found | None:
    """Read "3 days ago", "a year ago today", "in 3 days", "two days before May 8"."""
    count = _count(v, i)
    if count is None or v.word(i - 1) == "half":
        return None
    least, most, at_unit = count
    unit = UNITS.get(v.word(at_unit))
    if unit is None:
        return _weekdays_ago(v, at_unit, least) if least == most else None
    after = v.word(at_unit + 1)
    if after == "ago" and v.word(at_unit + 2) == "today" and unit in _BIG_UNITS and least == most:
        day = v.asked.day(shifted(v.asked.today, unit, -most))
        return Found(day, at_unit + 3, "relative")
    if after == "ago":
        return Found(_units(v.asked, unit, -most, -least), at_unit + 2, "relative")
    if after == "from" and v.word(at_unit + 2) in ("now", "today"):
        return Found(_units(v.asked, unit, least, most), at_unit + 3, "relative")
    if after in ("before", "after") and unit not in CLOCK_UNITS:
        return _shifted(v, at_unit + 1, unit, most)
    # "It loads in 5 seconds" is no date; "remind me in two hours" is, when the future is meant.
    is_short = unit == "second" or (unit in CLOCK_UNITS and v.asked.toward == "past")
    if v.word(i - 1) == "in" and not is_short and after != "of":
        return Found(_units(v.asked, unit, least, most), at_unit + 1, "relative")
    return None


def _weekdays_ago(v: View, i: int, count: int) -> Found | None:
    """Read "two Fridays ago", the count being read."""
    weekday = v.word(i).removesuffix("s")
    if weekday not in SURE_WEEKDAYS or v.word(i + 1) != "ago" or count < 1:
        return None
    last = v.asked.date_of(v.asked.weekly_beside(WEEKDAYS[weekday], -1).start)
    return Found(v.asked.day(last - 7 * (count - 1) * ONE_DAY), i + 2, "relative")


def _count(v: View, i: int) -> tuple[int, int, int] | None:
    """Return how many at least and at most, and the place behind: "two", "2-3", "a couple of"."""
    word = v.word(i)
    if is_number(word):
        match = _COUNT.fullmatch(word) if v.word(i + 1) in UNITS else None
        if match is None:
            return None
        least, most = int(match[1]), int(match[2] or match[1])
        return (least, most, i + 1) if least <= most else None
    vague = i + (word == "a")
    if v.word(vague) in VAGUE:
        return (*VAGUE[v.word(vague)], vague + 1 + (v.word(vague + 1) == "of"))
    if word in NUMBERS:
        return NUMBERS[word], NUMBERS[word], i + 1
    return None


def _units(asked: Asked, unit: str, first: int, last: int) -> Span:
    return Span(asked.unit(unit, first).start, asked.unit(unit, last).end)


def _shifted(v: View, i: int, unit: str, count: int) -> Found | None:
    found = longest(v.vouch(), i + 1, SIMPLE)
    if found is None:
        return None
    step = -count if v.word(i) == "before" else count
    day = shifted(v.asked.date_of(found.span.start), unit, step)
    return found._replace(span=v.asked.day(day))


def _neighbour(v: View, i: int) -> Found | None:
    """Read "the day before yesterday", "the week after May 8", "the month before last"."""
    unit, side = v.word(i), v.word(i + 1)
    if side not in ("before", "after"):
        return None
    found = longest(v.vouch(), i + 2, SIMPLE)
    if found and side == "before":
        past = v.asked.date_of(found.span.start)
        return found._replace(span=v.asked.days(shifted(past, unit, -1), past))
    if found:
        first = v.asked.date_of(found.span.end)
        return found._replace(span=v.asked.days(first, shifted(first, unit, 1)))
    if step := _BEYOND.get((side, v.word(i + 2))):
        return Found(v.asked.unit(unit, step), i + 3, "relative")
    return None


def _week_of(v: View, i: int) -> Found | None:
    """Read "the week of May 4", "the weekend of May 9", "the month of May"."""
    if v.word(i - 1) != "the" or v.word(i + 1) != "of":
        return None
    found = longest(v.vouch(), i + 2, SIMPLE)
    if found is None:
        return None
    if v.word(i) == "month":
        is_month = 27 * ONE_DAY < found.span.end - found.span.start < 32 * ONE_DAY
        return found if is_month else None
    if not is_day(found.span):
        return None
    day = v.asked.date_of(found.span.start)
    monday = day - day.weekday() * ONE_DAY
    first = monday + (5 if v.word(i) == "weekend" else 0) * ONE_DAY
    return found._replace(span=v.asked.days(first, monday + 7 * ONE_DAY))


def _earlier(v: View, i: int) -> Found | None:
    """Read "earlier today", "earlier this week": what of it is over."""
    if v.word(i + 1) != "today" and not (v.word(i + 1) == "this" and v.word(i + 2) in _BIG_UNITS):
        return None
    found = longest(v, i + 1, SIMPLE)
    return found._replace(span=Span(found.span.start, v.asked.at)) if found else None


def _weekend(v: View, i: int) -> Found | None:
    """Read "the weekend", "the weekend before last"."""
    if v.word(i - 1) != "the":
        return None
    if step := _BEYOND.get((v.word(i + 1), v.word(i + 2))):
        return Found(v.asked.weekend(step), i + 3, "relative")
    return Found(v.asked.weekends(), i + 1, "floating")


def _part(v: View, i: int) -> Found | None:
    """Read "early May", "mid-2024", "the end of last year"."""
    j = i + 1
    if v.word(i) in ("early", "mid", "late"):
        j += v.word(j) in ("-", "in")
    elif v.word(j) == "of":
        j += 1
    else:
        return None
    found = _whole(v, j)
    span = v.asked.third(found.span, PARTS[v.word(i)]) if found else None
    return found._replace(span=span) if found and span else None


def _nth(v: View, i: int) -> Found | None:
    """Read "the first week of May", "the last Friday in June", "the second half of 2025"."""
    nth, kind = ORDINALS[v.word(i)], v.word(i + 1)
    if kind not in _NTH or v.word(i + 2) not in ("of", "in"):
        return None
    found = _whole(v, i + 3)
    if found is None or is_day(found.span):
        return None
    if kind in WEEKDAYS:
        span = v.asked.weekday_in(found.span, WEEKDAYS[kind], nth)
    elif kind in ("day", "week"):
        span = v.asked.part(found.span, 7 if kind == "week" else 1, nth)
    else:
        span = v.asked.fraction(found.span, 2 if kind == "half" else 4, nth)
    return found._replace(span=span) if span else None


def _whole(v: View, i: int) -> Found | None:
    """Read what a part is of: a simple period, or "the month" for this month."""
    if v.word(i) == "the" and v.word(i + 1) in _BIG_UNITS:
        return Found(v.asked.unit(v.word(i + 1), 0), i + 2, "relative")
    return longest(v.vouch(), i, SIMPLE)


SIMPLE = heads(
    NAMES,
    (_day_word, [*DAY_WORDS, "tonight"]),
    (_beside_now, RELATIVE),
    (read_holiday, HOLIDAY_HEADS),
)
PERIODS = heads(
    SIMPLE,
    (_rolling, ["last", "previous", "past", *_AHEAD]),
    (_counted, ["0", *NUMBERS, *VAGUE]),
    (_neighbour, ["day", *_BIG_UNITS]),
    (_week_of, ["week", "weekend", "month"]),
    (_earlier, ["earlier"]),
    (_weekend, ["weekend"]),
    (_part, PARTS),
    (_nth, ORDINALS),
)
