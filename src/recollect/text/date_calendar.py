"""
From names of periods to stretches of time, as seen from the moment of asking.

A day is a day of the asker's time zone; every result is UTC. This file knows the calendar and
nothing of words. Whatever leaves the years 1 to 9999 raises OverflowError or ValueError, for the
caller to drop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, Self

Toward = Literal["past", "future"]

ONE_DAY = timedelta(days=1)
CLOCK_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_LEAP_YEARS = 9  # 29 February may be this many years less one away (1896 to 1904)
_MONTHS_TO_A_MATCH = 60  # enough for any "Friday the 31st"


class Span(NamedTuple):
    """A stretch of time, in UTC: *start* belongs to it, *end* does not."""

    start: datetime
    end: datetime


# What a period is in a given year; None where there is none (29 February).
InYear = Callable[[int], Span | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """
    The moment and the place of asking, and what to do with a period that says no year or week.

    Such a period is the latest that has begun at *pivot*, or toward the future the first that has
    not ended there. The pivot is the moment of asking, except for the other end of a range.
    """

    at: datetime
    zone: tzinfo
    today: date
    pivot: datetime
    toward: Toward

    @classmethod
    def of(cls, asked_at: datetime, toward: Toward) -> Self:
        """Read the zone from *asked_at*; a moment without one is UTC."""
        zone = asked_at.tzinfo or UTC
        at = asked_at.replace(tzinfo=zone).astimezone(UTC)
        return cls(at, zone, at.astimezone(zone).date(), at, toward)

    def turned(self, toward: Toward, pivot: datetime | None = None) -> "Asked":
        """Return the same moment, looking *toward* another way or from another place."""
        return Asked(self.at, self.zone, self.today, pivot or self.pivot, toward)

    def date_of(self, moment: datetime) -> date:
        """Return the day of the asker's calendar on which *moment* falls."""
        return moment.astimezone(self.zone).date()

    def hours(self, day: date, first: int, past: int) -> Span:
        """Return the hours of *day* from *first* to before *past*; past 24 they are of the next."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=self.zone)
        # Within one zone, Python adds on the face of the clock: 18:00 stays 18:00 when it changes.
        start, end = midnight + timedelta(hours=first), midnight + timedelta(hours=past)
        return Span(start.astimezone(UTC), end.astimezone(UTC))

    def days(self, first: date, past: date) -> Span:
        """Return the days from *first* to before *past*."""
        return Span(self._midnight(first), self._midnight(past))

    def day(self, day: date) -> Span:
        """Return one day."""
        return self.days(day, day + ONE_DAY)

    def months(self, year: int, month: int, count: int = 1) -> Span:
        """Return *count* months of a year; month 13 is the January after."""
        return self.days(_first(year, month), _first(year, month + count))

    def unit(self, unit: str, offset: int) -> Span:
        """Return the calendar's day, week, month… that lies *offset* of them from now."""
        if unit in CLOCK_UNITS:
            then = (self.at + offset * CLOCK_UNITS[unit]).astimezone(self.zone)
            then = then.replace(microsecond=0)
            if unit != "second":
                then = then.replace(second=0, minute=0 if unit == "hour" else then.minute)
            return Span(then.astimezone(UTC), then.astimezone(UTC) + CLOCK_UNITS[unit])
        if unit == "day":
            return self.day(self.today + offset * ONE_DAY)
        if unit == "week":
            monday = self._monday(offset)
            return self.days(monday, monday + 7 * ONE_DAY)
        size = _MONTHS_IN[unit]
        month = (self.today.month - 1) // size * size + 1
        return self.months(self.today.year, month + offset * size, size)

    def weekend(self, offset: int) -> Span:
        """Return the Saturday and Sunday of the week that lies *offset* weeks from now."""
        monday = self._monday(offset)
        return self.days(monday + 5 * ONE_DAY, monday + 7 * ONE_DAY)

    def weekday(self, weekday: int, week: int) -> Span:
        """Return the day of the week that lies *week* weeks from now."""
        return self.day(self._monday(week) + weekday * ONE_DAY)

    def back(self, unit: str, count: int) -> Span:
        """Return the last *count* units up to now: whole days, or exact hours and minutes."""
        if unit in CLOCK_UNITS:
            return Span(self.at - count * CLOCK_UNITS[unit], self.at)
        return Span(self.day(shifted(self.today, unit, -count)).start, self.at)

    def ahead(self, unit: str, count: int) -> Span:
        """Return the next *count* units from now: whole days, or exact hours and minutes."""
        if unit in CLOCK_UNITS:
            return Span(self.at, self.at + count * CLOCK_UNITS[unit])
        return Span(self.at, self.day(shifted(self.today, unit, count)).end)

    def yearly(self, in_year: InYear) -> Span | None:
        """Return what comes every year, by the pivot."""
        year = self.date_of(self.pivot).year
        if self.toward == "past":
            years = range(year, year - _LEAP_YEARS, -1)
            return next((s for s in _each(in_year, years) if s.start <= self.pivot), None)
        years = range(year - 1, year + _LEAP_YEARS)  # a winter of last year may still go on
        return next((s for s in _each(in_year, years) if s.end > self.pivot), None)

    def yearly_beside(self, in_year: InYear, step: int) -> Span | None:
        """Return what comes every year: the last one over, this year's, or the next to begin."""
        year = self.today.year
        if step < 0:
            years = range(year, year - _LEAP_YEARS, -1)
            return next((s for s in _each(in_year, years) if s.end <= self.at), None)
        if step > 0:
            years = range(year, year + _LEAP_YEARS)
            return next((s for s in _each(in_year, years) if s.start > self.at), None)
        return in_year(year)

    def weekly(self, weekday: int) -> Span:
        """Return a day of the week, by the pivot."""
        day = self.date_of(self.pivot)
        if self.toward == "past":
            return self.day(day - (day.weekday() - weekday) % 7 * ONE_DAY)
        return self.day(day + (weekday - day.weekday()) % 7 * ONE_DAY)

    def weekly_beside(self, weekday: int, step: int) -> Span:
        """Return a day of the week: the last before today, this week's, or the next after today."""
        if step < 0:
            return self.day(self.today - ((self.today.weekday() - weekday - 1) % 7 + 1) * ONE_DAY)
        if step > 0:
            return self.day(self.today + ((weekday - self.today.weekday() - 1) % 7 + 1) * ONE_DAY)
        return self.weekday(weekday, 0)

    def weekends(self) -> Span:
        """Return the weekend, by the pivot."""
        saturday = self.date_of(self.weekly(5).start)
        if self.toward == "future" and self.date_of(self.pivot).weekday() == 6:
            saturday -= 7 * ONE_DAY  # it is Sunday: the weekend is still on
        return self.days(saturday, saturday + 2 * ONE_DAY)

    def monthly(self, day: int, weekday: int | None = None) -> Span | None:
        """Return a day of the month, by the pivot: the 8th, or a Friday the 13th."""
        here = self.date_of(self.pivot)
        step = -1 if self.toward == "past" else 1
        for offset in range(_MONTHS_TO_A_MATCH):
            first = _first(here.year, here.month + step * offset)
            found = in_month(first.year, first.month, day)
            if found is None or (found - here).days * step < 0:
                continue
            if weekday in (None, found.weekday()):
                return self.day(found)
        return None

    def third(self, span: Span, which: int) -> Span | None:
        """Return the first, middle or last third of *span*, in whole days if it has them."""
        if span.end - span.start >= 3 * ONE_DAY:
            return self.fraction(span, 3, which + 1)
        size = (span.end - span.start) / 3
        return Span(span.start + which * size, span.end - (2 - which) * size)

    def part(self, span: Span, size: int, nth: int) -> Span | None:
        """Return the *nth* run of *size* days in *span*, or the last for -1."""
        first, past = self.date_of(span.start), self.date_of(span.end)
        start = past - size * ONE_DAY if nth < 0 else first + (nth - 1) * size * ONE_DAY
        end = min(start + size * ONE_DAY, past)
        return self.days(start, end) if first <= start < end else None

    def fraction(self, span: Span, parts: int, nth: int) -> Span | None:
        """Return the *nth* half, third or quarter of *span*; those of a year begin with a month."""
        nth = parts if nth < 0 else nth
        if nth > parts:
            return None
        first, past = self.date_of(span.start), self.date_of(span.end)
        days = (past - first).days
        if days in (365, 366):
            return self.months(first.year, first.month + 12 // parts * (nth - 1), 12 // parts)
        start, end = (first + days * n // parts * ONE_DAY for n in (nth - 1, nth))
        return self.days(start, end)

    def weekday_in(self, span: Span, weekday: int, nth: int) -> Span | None:
        """Return the *nth* Monday, Tuesday… of *span*, or the last for -1."""
        first, past = self.date_of(span.start), self.date_of(span.end)
        if nth < 0:
            day = past - ((past.weekday() - weekday - 1) % 7 + 1) * ONE_DAY
        else:
            day = first + ((weekday - first.weekday()) % 7 + 7 * (nth - 1)) * ONE_DAY
        return self.day(day) if first <= day < past else None

    def _midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone).astimezone(UTC)

    def _monday(self, week: int) -> date:
        return self.today + (7 * week - self.today.weekday()) * ONE_DAY


def in_month(year: int, month: int, day: int) -> date | None:
    """Return a date, or None if the month has no such day."""
    if 1 <= day <= 28 or 1 <= day <= (_first(year, month + 1) - _first(year, month)).days:
        return date(year, month, day)
    return None


def shifted(day: date, unit: str, count: int) -> date:
    """Return the date *count* units after *day*: the last of the month where it has no such day."""
    if unit in ("day", "week"):
        return day + count * (7 if unit == "week" else 1) * ONE_DAY
    first = _first(day.year, day.month + count * _MONTHS_IN[unit])
    fits = (in_month(first.year, first.month, day.day - less) for less in range(4))
    return next(found for found in fits if found)


def _first(year: int, month: int) -> date:
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _each(in_year: InYear, years: range) -> Iterator[Span]:
    return (span for year in years if (span := in_year(year)))
