"""Add the calendar date to relative dates such as "yesterday" in a summary line."""

from dataclasses import replace
from datetime import datetime, timedelta

from recollect.context.summary.summary_lines import SummaryLine
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_dates import dates_in_statement

MAX_SPAN = timedelta(days=32)
_BOUNDARY_WORD = LazyPattern(r"(?i)(?:before|after|since|until|till|by)\s+")
_ABSOLUTE = LazyPattern(
    r"(?i)\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|\bnow\b|\d{4}"
)
# "We are open Tuesday to Saturday" is true of every week.
_WEEKDAYS = LazyPattern(r"(?i)^(?:from )?[a-z]+ ?(?:to|through|until|till|-|–) ?[a-z]+$")


def with_date(line: SummaryLine) -> SummaryLine:
    """Return *line* with its first relative date resolved: "(yesterday = 2023-05-07)"."""
    if line.at is None:
        return line
    for date in dates_in_statement(line.text, said_at=line.at):
        if date.is_absolute or _ABSOLUTE.search(date.text) or _WEEKDAYS.match(date.text):
            continue
        start, end, words = date.start, date.end, date.text
        if boundary := _BOUNDARY_WORD.match(words):  # "until next Tuesday": resolve the Tuesday
            words = words[boundary.end() :]
            dates = dates_in_statement(words, said_at=line.at)
            start, end = (dates[0].start, dates[0].end) if dates else (start, end)
        if end - start <= MAX_SPAN:
            return replace(line, text=f"{line.text} ({words} = {_render_days(start, end)})")
    return line


def _render_days(start: datetime, end: datetime) -> str:
    last = end - timedelta(microseconds=1)
    first = start.date().isoformat()
    return first if last.date() == start.date() else f"{first} to {last.date().isoformat()}"
