"""Add the calendar date to relative dates such as "yesterday" in a summary line."""

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.context.summary.summary_lines import SummaryLine
from recollect.text.date_calendar import Direction
from recollect.text.date_parser import find_dates
from recollect.text.decision_details import is_past_event
from recollect.text.lazy_pattern import LazyPattern

MAX_SPAN = timedelta(days=32)
_BOUNDARY_WORD = LazyPattern(r"(?i)(?:before|after|since|until|till|by)\s+")
_ABSOLUTE = LazyPattern(
    r"(?i)\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|\bnow\b|\d{4}"
)


def with_date(line: SummaryLine) -> SummaryLine:
    """Return *line* with its first relative date resolved: "(yesterday = 2023-05-07)"."""
    if line.at is None:
        return line
    toward: Direction = "past" if is_past_event(line.text) else "future"
    for date in find_dates(line.text, asked_at=line.at, direction=toward):
        if date.is_absolute or _ABSOLUTE.search(date.text):
            continue
        if boundary := _BOUNDARY_WORD.match(date.text):  # "until next Tuesday": resolve the Tuesday
            dates = find_dates(date.text[boundary.end() :], asked_at=line.at, direction=toward)
            date = dates[0] if dates else date
        if date.end - date.start <= MAX_SPAN:
            days = _render_days(date.start, date.end)
            return replace(line, text=f"{line.text} ({date.text} = {days})")
    return line


def _render_days(start: datetime, end: datetime) -> str:
    last = end - timedelta(microseconds=1)
    first = start.date().isoformat()
    return first if last.date() == start.date() else f"{first} to {last.date().isoformat()}"
