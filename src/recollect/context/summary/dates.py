"""Say which day "yesterday" was: a summary is read when nobody knows any more."""

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.context.summary.lines import Line
from recollect.text.date_calendar import Toward
from recollect.text.dates import find_dates
from recollect.text.details import happened
from recollect.text.patterns import Pattern

LONGEST = timedelta(days=32)
_BOUND = Pattern(r"(?i)(?:before|after|since|until|till|by)\s+")
_NAMED = Pattern(
    r"(?i)\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|\bnow\b|\d{4}"
)


def dated(line: Line) -> Line:
    """Return *line* with its first relative date told as days: "(yesterday = 2023-05-07)"."""
    if line.at is None:
        return line
    toward: Toward = "past" if happened(line.text) else "future"
    for when in find_dates(line.text, asked_at=line.at, toward=toward):
        if when.exact or _NAMED.search(when.text):
            continue  # it says itself which day it is
        if bound := _BOUND.match(when.text):  # until next Tuesday: the Tuesday is what is meant
            told = find_dates(when.text[bound.end() :], asked_at=line.at, toward=toward)
            when = told[0] if told else when
        if when.end - when.start <= LONGEST:
            return replace(line, text=f"{line.text} ({when.text} = {_days(when.start, when.end)})")
    return line


def _days(start: datetime, end: datetime) -> str:
    last = end - timedelta(microseconds=1)
    first = start.date().isoformat()
    return first if last.date() == start.date() else f"{first} to {last.date().isoformat()}"
