"""
The time a query names: which range it means, and how that changes the ranking.

Used for messages and for memories. `recollect.text` parses words and calendar; this file matches
the result with the existing sessions. Messages have conversations. Memories do not: their sessions
are split at the gaps between the moments at which they were observed.

A person may be wrong about a time, and a thing may be said later than it happened. So a time is a
preference and not a filter: what lies in it comes first if the query asks for nothing else, and
gets a boost if it does. Pure: nothing here reads a store.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from recollect.domain.conversation import MessageFilters
from recollect.domain.retrieval import Filters
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.text.query_time_range import (
    QueryTimeRange,
    asks_for_everything_said,
    find_query_time_range,
    is_only_about_time,
)
from recollect.text.session_references import SessionCount

_INSTANT = timedelta(microseconds=1)

# "the session right after the one in which …": the rest is searched for, its neighbour is returned.
_ADJACENT = re.compile(
    r"\b(?P<side>before|after|following|preceding) the (?:one|session|conversation|chat|time)s? "
    r"(?:in which|where|when|that)\b",
    re.IGNORECASE,
)
_SESSION_WORD = re.compile(r"\b(?:session|conversation|chat|time|talk)\b", re.IGNORECASE)
_BEFORE = ("before", "preceding")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class TimeRange:
    """The time a query names: a range, or one conversation."""

    start: datetime | None = None
    end: datetime | None = None  # not included
    conversation_id: str | None = None

    def narrow_messages(self, filters: MessageFilters) -> MessageFilters:
        """Return *filters* that admit only messages of this time."""
        since, until = self._bounds(filters.since, filters.until)
        conversation_id = filters.conversation_id or self.conversation_id
        return replace(filters, since=since, until=until, conversation_id=conversation_id)

    def narrow_memories(self, filters: Filters) -> Filters:
        """Return *filters* that admit only memories observed in this range."""
        since, until = self._bounds(filters.since, filters.until)
        return replace(filters, since=since, until=until)

    def contains(self, at: datetime) -> bool:
        """Return whether *at* lies in the range."""
        return (self.start is None or at >= self.start) and (self.end is None or at < self.end)

    def _bounds(
        self, since: datetime | None, until: datetime | None
    ) -> tuple[datetime | None, datetime | None]:
        if self.start is not None:
            since = max(since, self.start) if since else self.start
        if self.end is not None:
            last = self.end - _INSTANT
            until = min(until, last) if until else last
        return since, until


class SessionSpan(NamedTuple):
    """A session as the times of its first and its last observation."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class TimeQuery:
    """A query split into the time it names and the rest."""

    time: QueryTimeRange | None
    session_step: int  # the session after (1) or before (-1) the one that matches; 0 if neither
    topic: str  # what to search for in the indexes; '' if the query names only a time
    include_all: bool = False  # everything said then is asked for, the best match first


def parse_time_query(query: str, *, asked_at: datetime) -> TimeQuery | None:
    """Return *query* split by the time it names, or None if it names none."""
    step = adjacent_session_step(query)
    if step:
        return TimeQuery(None, step, query)
    time = find_query_time_range(query, asked_at=asked_at)
    if time is None:
        return None
    if is_only_about_time(time.rest):
        return TimeQuery(time, 0, "", include_all=True)
    return TimeQuery(time, 0, time.rest, include_all=asks_for_everything_said(time))


def adjacent_session_step(query: str) -> int:
    """Return 1 for "the session after the one in which …", -1 for "… before …", else 0."""
    match = _ADJACENT.search(query)
    if match is None or not _SESSION_WORD.search(query, 0, match.start()):
        return 0
    return -1 if match["side"].lower() in _BEFORE else 1


def split_sessions(moments: Sequence[datetime], *, asked_at: datetime) -> list[SessionSpan]:
    """
    Return the sessions of memories observed at *moments* (sorted), oldest first.

    What is observed within SESSION_GAP of the query belongs to the current session, which is not
    included.
    """
    sessions: list[SessionSpan] = []
    for at in moments:
        if at > asked_at:
            break
        if sessions and at - sessions[-1].end <= constants.SESSION_GAP:
            sessions[-1] = sessions[-1]._replace(end=at)
        else:
            sessions.append(SessionSpan(at, at))
    if sessions and asked_at - sessions[-1].end <= constants.SESSION_GAP:
        sessions.pop()
    return sessions


def pick_sessions(count: SessionCount, sessions: Sequence[T]) -> Sequence[T]:
    """Return those of *sessions* (oldest first) that *count* means; none if there are too few."""
    first = count.number - 1 if count.from_first else len(sessions) - count.number
    return sessions[first : first + count.length] if first >= 0 else ()


def resolve_time_range(time: QueryTimeRange, sessions: Sequence[SessionSpan]) -> TimeRange | None:
    """Return the range that *time* means among *sessions*, or None if there are too few."""
    time_range = TimeRange(start=time.start, end=time.end)
    if time.session_count is None:
        return time_range
    inside = [session for session in sessions if time_range.contains(session.start)]
    return range_of_sessions(pick_sessions(time.session_count, inside))


def adjacent_session(at: datetime, sessions: Sequence[SessionSpan], step: int) -> TimeRange | None:
    """Return the range of the session *step* places from the one that contains *at*."""
    containing = (index for index, span in enumerate(sessions) if span.start <= at <= span.end)
    index = next(containing, None)
    if index is None or not 0 <= index + step < len(sessions):
        return None
    return range_of_sessions(sessions[index + step : index + step + 1])


def range_of_sessions(sessions: Sequence[SessionSpan]) -> TimeRange | None:
    """Return the range from the first of *sessions* to the last."""
    if not sessions:
        return None
    return TimeRange(start=sessions[0].start, end=sessions[-1].end + _INSTANT)


def sample_evenly(items: Sequence[T], limit: int) -> list[T]:
    """Return at most *limit* of *items*, evenly spaced."""
    if len(items) <= limit:
        return list(items)
    return [items[index * len(items) // limit] for index in range(limit)]


def boost_score(score: float, time: QueryTimeRange) -> float:
    """Return *score* with the boost for a memory of the time that a query names with a topic."""
    boost = constants.TIME_BOOST if time.session_count is None else constants.SESSION_BOOST
    return round(min(score + boost, 1.0), 6)
