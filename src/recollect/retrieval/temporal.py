"""
The time a question names, as searching uses it: which stretch it means, and what that changes.

One place for messages and memories. Words and calendar are read in `recollect.text`; here what was
read meets the sessions that there are. Messages know their conversations. Memories do not: theirs
are told apart by the pauses between the moments at which they were observed.

A time is what a person may mean, and when a thing was said may differ from when it happened. So a
time is preferred and never a wall: what lies in it comes first where the question asks for nothing
else, and is lifted where it does. Pure: nothing here reads a store.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from recollect.domain.conversation import MessageFilters
from recollect.domain.retrieval import Filters
from recollect.text.session_words import Count
from recollect.text.time_question import (
    TimeAsked,
    asks_what_was_said,
    is_only_about_time,
    time_asked,
)

PAUSE = timedelta(minutes=30)  # without any memory: what follows is another session
LIFT_IN_TIME = 0.15  # of a score, next to something else that is asked for: a clearly better match
LIFT_OF_SESSION = 0.05  # "our previous chat" is often just an earlier one
_INSTANT = timedelta(microseconds=1)

# "the session right after the one in which …": what follows is searched for, its neighbour is meant
_BESIDE = re.compile(
    r"\b(?P<side>before|after|following|preceding) the (?:one|session|conversation|chat|time)s? "
    r"(?:in which|where|when|that)\b",
    re.IGNORECASE,
)
_SESSION_WORD = re.compile(r"\b(?:session|conversation|chat|time|talk)\b", re.IGNORECASE)
_BEFORE = ("before", "preceding")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Then:
    """The time a question names: a stretch, or one conversation."""

    start: datetime | None = None
    end: datetime | None = None  # not included
    conversation_id: str | None = None

    def narrow(self, filters: MessageFilters) -> MessageFilters:
        """Return *filters* that admit only what was said then."""
        since, until = self._bounds(filters.since, filters.until)
        conversation_id = filters.conversation_id or self.conversation_id
        return replace(filters, since=since, until=until, conversation_id=conversation_id)

    def narrow_memories(self, filters: Filters) -> Filters:
        """Return *filters* that admit only what was observed then."""
        since, until = self._bounds(filters.since, filters.until)
        return replace(filters, since=since, until=until)

    def holds(self, at: datetime) -> bool:
        """Return whether *at* lies in the stretch."""
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


class Stretch(NamedTuple):
    """A session as the times at which it began and at which it was last heard of."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Timed:
    """A question taken apart: the time it names, and what else it asks for."""

    when: TimeAsked | None
    beside: int  # the session after (1) or before (-1) the one that matches; 0 where none is
    query: str  # what to search for by words and meaning; '' where nothing but a time is asked
    whole: bool = False  # all that was said then is asked for, the best match first


def timed(query: str, *, asked_at: datetime) -> Timed | None:
    """Return the time that *query* names, None if it names none."""
    beside = beside_which(query)
    if beside:
        return Timed(None, beside, query)
    when = time_asked(query, asked_at=asked_at)
    if when is None:
        return None
    if is_only_about_time(when.rest):
        return Timed(when, 0, "", whole=True)
    return Timed(when, 0, when.rest, whole=asks_what_was_said(when))


def beside_which(query: str) -> int:
    """Return 1 for "the session after the one in which …", -1 for "… before …", else 0."""
    found = _BESIDE.search(query)
    if found is None or not _SESSION_WORD.search(query, 0, found.start()):
        return 0
    return -1 if found["side"].lower() in _BEFORE else 1


def sessions_among(moments: Sequence[datetime], *, asked_at: datetime) -> list[Stretch]:
    """
    Return the sessions in which something was observed at *moments* (in order), oldest first.

    What is observed within PAUSE of the question belongs to the present session, which is none of
    them.
    """
    found: list[Stretch] = []
    for at in moments:
        if at > asked_at:
            break
        if found and at - found[-1].end <= PAUSE:
            found[-1] = found[-1]._replace(end=at)
        else:
            found.append(Stretch(at, at))
    if found and asked_at - found[-1].end <= PAUSE:
        found.pop()
    return found


def counted(count: Count, sessions: Sequence[T]) -> Sequence[T]:
    """Return those of *sessions* (oldest first) that *count* means; none if there are too few."""
    first = count.number - 1 if count.from_first else len(sessions) - count.number
    return sessions[first : first + count.many] if first >= 0 else ()


def stretch_meant(when: TimeAsked, sessions: Sequence[Stretch]) -> Then | None:
    """Return the stretch that *when* means among *sessions*, None if there are not so many."""
    then = Then(start=when.start, end=when.end)
    if when.count is None:
        return then
    meant = counted(when.count, [one for one in sessions if then.holds(one.start)])
    return spanning(meant)


def neighbour(at: datetime, sessions: Sequence[Stretch], step: int) -> Then | None:
    """Return the session *step* places from the one of *at*."""
    place = next((n for n, one in enumerate(sessions) if one.start <= at <= one.end), None)
    if place is None or not 0 <= place + step < len(sessions):
        return None
    return spanning(sessions[place + step : place + step + 1])


def spanning(sessions: Sequence[Stretch]) -> Then | None:
    """Return the time from the first of *sessions* to the last."""
    if not sessions:
        return None
    return Then(start=sessions[0].start, end=sessions[-1].end + _INSTANT)


def spread(found: Sequence[T], most: int) -> list[T]:
    """Return at most *most* of *found*, evenly taken."""
    if len(found) <= most:
        return list(found)
    return [found[place * len(found) // most] for place in range(most)]


def lifted(score: float, when: TimeAsked) -> float:
    """Return the score of what lies in the time asked for, next to something else."""
    lift = LIFT_IN_TIME if when.count is None else LIFT_OF_SESSION
    return round(min(score + lift, 1.0), 6)
