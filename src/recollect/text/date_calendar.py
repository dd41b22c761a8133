"""
Convert periods such as "last week" to time spans, relative to a moment in a time zone.

Days are those of the given time zone; every result is in UTC. Dates outside the years 1 to 9999
raise OverflowError or ValueError, which the caller handles.
"""

from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, Self

from recollect.lazy_dataclass import dataclass

Direction = Literal["past", "future"]

ONE_DAY = timedelta(days=1)
CLOCK_UNITS = {unit: timedelta(**{f"{unit}s": 1}) for unit in ("second", "minute", "hour")}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_YEARS_TO_SEARCH = 9  # enough for the nearest 29 February (1896 to 1904)
_MONTHS_TO_SEARCH = 60  # enough for any "Friday the 31st"


class TimeSpan(NamedTuple):
    """A time span in UTC: *start* is inclusive, *end* exclusive."""

    start: datetime
    end: datetime


# Returns the span of a yearly period in one year, or None if it does not occur (29 February).
YearlyPeriod = Callable[[int], TimeSpan | None]


@dataclass(frozen=True, slots=True)
class Calendar:
    """
    A calendar seen from one moment in one time zone.

    A period without a year or week ("May", "Friday") is the latest that has begun at *pivot*, or
    with direction "future" the first that has not ended then. The pivot is *now*, except for the
    second end of a range.
    """

    now: datetime
    zone: tzinfo
    today: date
    pivot: datetime
    direction: Direction

    @classmethod
    def for_moment(cls, asked_at: datetime, direction: Direction) -> Self:
        """Return the calendar of *asked_at* and its time zone (UTC if it has none)."""
        zone = asked_at.tzinfo or UTC
        now = asked_at.replace(tzinfo=zone).astimezone(UTC)
        return cls(now, zone, now.astimezone(zone).date(), now, direction)

    def with_direction(self, direction: Direction, pivot: datetime | None = None) -> "Calendar":
        """Return the same calendar with another *direction* and, if given, another *pivot*."""
        return Calendar(self.now, self.zone, self.today, pivot or self.pivot, direction)

    def date_of(self, moment: datetime) -> date:
        """Return the date of *moment* in the calendar's time zone."""
        return moment.astimezone(self.zone).date()

    def hours(self, day: date, first: int, until: int) -> TimeSpan:
        """Return the hours of *day* from *first* to before *until*; 24 is midnight after it."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=self.zone)
        # Within one zone Python adds wall-clock time, so 18:00 stays 18:00 when the clocks change.
        start, end = midnight + timedelta(hours=first), midnight + timedelta(hours=until)
        return TimeSpan(start.astimezone(UTC), end.astimezone(UTC))

    def days(self, first: date, until: date) -> TimeSpan:
        """Return the days from *first* to before *until*."""
        return TimeSpan(self._midnight(first), self._midnight(until))

    def day(self, day: date) -> TimeSpan:
        """Return one day."""
        return self.days(day, day + ONE_DAY)

    def months(self, year: int, month: int, count: int = 1) -> TimeSpan:
        """Return *count* months of a year; month 13 is the January after."""
        return self.days(_first_of_month(year, month), _first_of_month(year, month + count))

    def unit(self, unit: str, offset: int) -> TimeSpan:
        """Return the calendar day, week, month… that is *offset* units from now."""
        if unit in CLOCK_UNITS:
            moment = (self.now + offset * CLOCK_UNITS[unit]).astimezone(self.zone)
            moment = moment.replace(microsecond=0)
            if unit != "second":
                moment = moment.replace(second=0, minute=0 if unit == "hour" else moment.minute)
            return TimeSpan(moment.astimezone(UTC), moment.astimezone(UTC) + CLOCK_UNITS[unit])
        if unit == "day":
            return self.day(self.today + offset * ONE_DAY)
        if unit == "week":
            monday = self._monday(offset)
            return self.days(monday, monday + 7 * ONE_DAY)
        size = _MONTHS_IN[unit]
        month = (self.today.month - 1) // size * size + 1
        return self.months(self.today.year, month + offset * size, size)

    def weekend(self, offset: int) -> TimeSpan:
        """Return the Saturday and Sunday of the week that is *offset* weeks from now."""
        monday = self._monday(offset)
        return self.days(monday + 5 * ONE_DAY, monday + 7 * ONE_DAY)

    def weekday(self, weekday: int, week: int) -> TimeSpan:
        """Return the given weekday of the week that is *week* weeks from now."""
        return self.day(self._monday(week) + weekday * ONE_DAY)

    def last_units(self, unit: str, count: int) -> TimeSpan:
        """Return the last *count* units up to now: whole days, or exact hours and minutes."""
        if unit in CLOCK_UNITS:
            return TimeSpan(self.now - count * CLOCK_UNITS[unit], self.now)
        return TimeSpan(self.day(shift_date(self.today, unit, -count)).start, self.now)

    def next_units(self, unit: str, count: int) -> TimeSpan:
        """Return the next *count* units from now: whole days, or exact hours and minutes."""
        if unit in CLOCK_UNITS:
            return TimeSpan(self.now, self.now + count * CLOCK_UNITS[unit])
        return TimeSpan(self.now, self.day(shift_date(self.today, unit, count)).end)

    def nearest_yearly(self, in_year: YearlyPeriod) -> TimeSpan | None:
        """Return the occurrence of a yearly period that is nearest to the pivot."""
        year = self.date_of(self.pivot).year
        if self.direction == "past":
            spans = _yearly_spans(in_year, range(year, year - _YEARS_TO_SEARCH, -1))
            return next((span for span in spans if span.start <= self.pivot), None)
        # A winter of last year may not have ended.
        spans = _yearly_spans(in_year, range(year - 1, year + _YEARS_TO_SEARCH))
        return next((span for span in spans if span.end > self.pivot), None)

    def adjacent_yearly(self, in_year: YearlyPeriod, step: int) -> TimeSpan | None:
        """Return a yearly period: the last that has ended, this year's, or the next to begin."""
        year = self.today.year
        if step < 0:
            spans = _yearly_spans(in_year, range(year, year - _YEARS_TO_SEARCH, -1))
            return next((span for span in spans if span.end <= self.now), None)
        if step > 0:
            spans = _yearly_spans(in_year, range(year, year + _YEARS_TO_SEARCH))
            return next((span for span in spans if span.start > self.now), None)
        return in_year(year)

    def nearest_weekday(self, weekday: int) -> TimeSpan:
        """Return the weekday that is nearest to the pivot."""
        day = self.date_of(self.pivot)
        if self.direction == "past":
            return self.day(day - (day.weekday() - weekday) % 7 * ONE_DAY)
        return self.day(day + (weekday - day.weekday()) % 7 * ONE_DAY)

    def adjacent_weekday(self, weekday: int, step: int) -> TimeSpan:
        """Return a weekday: the last before today, this week's, or the next after today."""
        if step < 0:
            return self.day(self.today - ((self.today.weekday() - weekday - 1) % 7 + 1) * ONE_DAY)
        if step > 0:
            return self.day(self.today + ((weekday - self.today.weekday() - 1) % 7 + 1) * ONE_DAY)
        return self.weekday(weekday, 0)

    def nearest_weekend(self) -> TimeSpan:
        """Return the weekend that is nearest to the pivot."""
        saturday = self.date_of(self.nearest_weekday(5).start)
        if self.direction == "future" and self.date_of(self.pivot).weekday() == 6:
            saturday -= 7 * ONE_DAY  # on Sunday, the weekend has not ended
        return self.days(saturday, saturday + 2 * ONE_DAY)

    def nearest_month_day(self, day: int, weekday: int | None = None) -> TimeSpan | None:
        """Return the day of the month nearest to the pivot: the 8th, or a Friday the 13th."""
        pivot_day = self.date_of(self.pivot)
        step = -1 if self.direction == "past" else 1
        for offset in range(_MONTHS_TO_SEARCH):
            first = _first_of_month(pivot_day.year, pivot_day.month + step * offset)
            candidate = date_in_month(first.year, first.month, day)
            if candidate is None or (candidate - pivot_day).days * step < 0:
                continue
            if weekday in (None, candidate.weekday()):
                return self.day(candidate)
        return None

    def third(self, span: TimeSpan, which: int) -> TimeSpan | None:
        """Return the first, middle or last third of *span*, in whole days if it has them."""
        if span.end - span.start >= 3 * ONE_DAY:
            return self.fraction(span, 3, which + 1)
        size = (span.end - span.start) / 3
        return TimeSpan(span.start + which * size, span.end - (2 - which) * size)

    def nth_days(self, span: TimeSpan, size: int, nth: int) -> TimeSpan | None:
        """Return the *nth* group of *size* days in *span*, or the last for -1."""
        first, until = self.date_of(span.start), self.date_of(span.end)
        start = until - size * ONE_DAY if nth < 0 else first + (nth - 1) * size * ONE_DAY
        end = min(start + size * ONE_DAY, until)
        return self.days(start, end) if first <= start < end else None

    def fraction(self, span: TimeSpan, parts: int, nth: int) -> TimeSpan | None:
        """Return the *nth* half, third or quarter of *span*; parts of a year are whole months."""
        nth = parts if nth < 0 else nth
        if nth > parts:
            return None
        first, until = self.date_of(span.start), self.date_of(span.end)
        days = (until - first).days
        if days in (365, 366):
            return self.months(first.year, first.month + 12 // parts * (nth - 1), 12 // parts)
        start, end = (first + days * n // parts * ONE_DAY for n in (nth - 1, nth))
        return self.days(start, end)

    def nth_weekday(self, span: TimeSpan, weekday: int, nth: int) -> TimeSpan | None:
        """Return the *nth* Monday, Tuesday… of *span*, or the last for -1."""
        first, until = self.date_of(span.start), self.date_of(span.end)
        if nth < 0:
            day = until - ((until.weekday() - weekday - 1) % 7 + 1) * ONE_DAY
        else:
            day = first + ((weekday - first.weekday()) % 7 + 7 * (nth - 1)) * ONE_DAY
        return self.day(day) if first <= day < until else None

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone).astimezone(UTC)

    def _monday(self, week: int) -> date:
        return self.today + (7 * week - self.today.weekday()) * ONE_DAY


def date_in_month(year: int, month: int, day: int) -> date | None:
    """Return a date, or None if the month has no such day."""
    exists = 1 <= day <= 28 or 1 <= day <= monthrange(year, month)[1]
    return date(year, month, day) if exists else None


def shift_date(day: date, unit: str, count: int) -> date:
    """Return the date *count* units after *day*, or the last of that month if it is shorter."""
    if unit in ("day", "week"):
        return day + count * (7 if unit == "week" else 1) * ONE_DAY
    first = _first_of_month(day.year, day.month + count * _MONTHS_IN[unit])
    return first.replace(day=min(day.day, monthrange(first.year, first.month)[1]))


def _first_of_month(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _yearly_spans(in_year: YearlyPeriod, years: range) -> Iterator[TimeSpan]:
    return (span for year in years if (span := in_year(year)))
