"""
Which time a question about the past asks about, and what is left of the question without it.

Rule 1: a count of sessions ("two chats ago") goes before any date; the dates then are what was
spoken about, and stay in the rest. Only a date right behind it belongs to it: "our first session in
July", "the last chat before June 3rd".
Rule 2: what has not begun when the question is asked cannot have been spoken of then: "what did we
plan for next Friday" asks for no time.
Rule 3: of several dates, all that overlap mean what they share ("last week … on Tuesday", "since
March … before June"). Where they lie apart they mean the whole span from the first to the last ("on
Monday and on Friday"). A date behind "about" gives way to one before it: "what did I say yesterday
about the trip in May" asks about yesterday.
Rule 4: "recently" and "the other day" are no times: whoever searches prefers the recent anyway.

This file knows words and the calendar, not what is stored. A time is what a person may mean by it,
not a proof: the caller decides how hard to filter.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recollect.text.date_calendar import Span
from recollect.text.date_words import MONTHS
from recollect.text.dates import FIRST, When, find_dates
from recollect.text.session_words import Count, SessionsCounted, find_sessions

_SEVERAL = " … "
_JOINTS = ("and", "but", "or", "and also", "to", "with")  # of two expressions
_OPEN_STARTS = ("before", "until", "till")
_HOUR = timedelta(hours=1)
_NOTHING = timedelta(0)
_ABOUT = re.compile(r"\b(?:about|regarding|concerning)\b", re.IGNORECASE)

# What hangs in the air once the expression behind it is gone. A preposition does only where the
# expression has none of its own: in "what did we talk about on Friday" the first one stays.
_BOUNDS = frozenset(["since", "between", "before", "after", "until", "till"])
_PREPOSITIONS = _BOUNDS | {"in", "on", "at", "from", "during", "over", "within", "throughout"}
_DANGLING = _PREPOSITIONS | {"of", "for", "by", "around", "the", "our", "my"}
_ADVERBS = frozenset(["back", "sometime"])
_POSSESSIVE = re.compile(r"['’]s\b")
_SPACE_BEFORE_MARK = re.compile(r" (?=[,.;:?!](?:\s|$))")
_EDGES = " ,;:–-"

# Words of questions and of talking: nothing that could be searched for.
_FILLERS = """
a about again agenda agree agreed all also am an and any anything are ask asked asking back been
brief briefly bring came can catch caught chat chats chatted come conclude concluded content
contents conversation conversations conversed could cover covered d dated dealt decide decided
decision decisions did didn discuss discussed discussion do does doing don done during entire
essence everybody everything exactly far find for forget forgot forgotten from full get gist give go
going got had happen happened happening has have hear held highlights hit how i in is issue issues
it key know last leave left list ll look m made main make matter matters me meet mention mentioned
messages met my of off on one ones open our out over overview pick please point points pull quick
quickly ran re recall recap refresh remember remind review roughly s said saw say saying see session
sessions show so some something speak spoke stuff subject subjects sum summarise summarize summary t
take talk talked talking talks tell that the theme themes then there they thing things think this
through to told topic topics touch touched toward towards two up upon us ve walk was we went were
what whatever when where which who whole will with work worked working would yet you your
"""
_FILLER = frozenset(_FILLERS.split())
_WORD = re.compile(r"\w+")
_ASKING = re.compile(r"\b(?:what|whatever|which|everything|anything|all)\b", re.IGNORECASE)
_TALK = re.compile(
    r"\b(?:talk(?:ed|ing|s)?|discuss(?:ed|ing|ions?)?|spoken?|speak(?:ing)?|chat(?:s|ted|ting)?|said"
    r"|say|sessions?|conversations?|exchange|cover(?:ed)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TimeAsked:
    """The time a question asks about: a stretch of time, sessions counted, or both at once."""

    text: str  # the expression as written; several are joined by " … "
    rest: str  # the question without it, to be searched for by words
    start: datetime | None = None  # aware UTC, inclusive; None: from the beginning
    end: datetime | None = None  # exclusive; None: until now
    count: Count | None = None  # of sessions: of all, or of those in that stretch

    @property
    def sessions_ago(self) -> int | None:
        """How many sessions back, where one is meant: 1 is the one before the present one."""
        count = self.count
        return None if count is None or count.from_first or count.many > 1 else count.number


def time_asked(query: str, *, asked_at: datetime) -> TimeAsked | None:
    """
    Return the time *query* asks about, or None if it names none in the past.

    Days are those of the time zone of *asked_at* (UTC if it has none).
    """
    sessions = find_sessions(query)
    found = find_dates(query, asked_at=asked_at)
    if not found:
        alone = [one for one in sessions if not one.which.in_a_time]
        return _counted(query, alone[0]) if alone else None
    now = asked_at.astimezone(UTC) if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
    for counted in sessions:
        within = _right_behind(query, counted, found, now)
        if within is not None:
            return _counted(query, counted, within.to, _joined([within], now))
        if not counted.which.in_a_time:
            return _counted(query, counted)
    dates = [when for when in found if when.start < now and not _names_a_thing(when)]
    dates = _before_about(query, dates)
    if not dates:
        return None
    start, end = _joined(dates, now)
    text = _SEVERAL.join(when.text for when in dates)
    return TimeAsked(text, _without(query, [(w.at, w.to) for w in dates]), start, end)


def _right_behind(
    query: str, counted: SessionsCounted, found: Sequence[When], now: datetime
) -> When | None:
    """Return the date that says among which sessions is counted."""
    for when in found:
        gap = query[counted.to : when.at].strip().lower() if when.at >= counted.to else None
        if gap in ("", "of") and when.start < now:
            return when
    return None


def _counted(
    query: str,
    counted: SessionsCounted,
    to: int | None = None,
    within: tuple[datetime | None, datetime | None] = (None, None),
) -> TimeAsked:
    to = to or counted.to
    rest = _without(query, [(counted.at, to)])
    return TimeAsked(query[counted.at : to], rest, *within, counted.which)


def is_only_about_time(rest: str) -> bool:
    """Return whether *rest* holds nothing to search for: "what did we talk about", "recap"."""
    return all(match.group().lower() in _FILLER for match in _WORD.finditer(rest))


def asks_what_was_said(asked: TimeAsked) -> bool:
    """
    Return whether all that was said then is asked for, in whatever words the request is dressed.

    "Fill me in on what we said", "I need a reminder of our chat": what stands before the question
    proper, or before the chat, is no topic. What stands behind it is: "what we said about hiring".
    """
    clauses = list(_ASKING.finditer(asked.rest))
    if clauses:
        clause = asked.rest[clauses[-1].start() :]
        return _TALK.search(clause) is not None and is_only_about_time(clause)
    if _TALK.search(asked.text):
        return _ABOUT.search(asked.rest) is None
    talk = _TALK.search(asked.rest)
    return talk is not None and is_only_about_time(asked.rest[talk.start() :])


def _names_a_thing(when: When) -> bool:
    """Return whether a month has an article only, as in "the May release"."""
    words = when.text.lower().split()
    return words[-2:-1] == ["the"] and words[-1] in MONTHS


def _before_about(query: str, dates: list[When]) -> list[When]:
    about = _ABOUT.search(query)
    if about is None:
        return dates
    return [when for when in dates if when.to <= about.start()] or dates


def _joined(dates: Sequence[When], now: datetime) -> tuple[datetime | None, datetime | None]:
    spans = [_meant(when, now) for when in dates]
    start, end = max(span.start for span in spans), min(span.end for span in spans)
    if start >= end:  # apart
        start, end = min(span.start for span in spans), max(span.end for span in spans)
    return None if start == FIRST else start, None if end == now else end


def _meant(when: When, now: datetime) -> Span:
    """Return the span of *when*; a moment ("10 minutes ago") is blurred, as in memory."""
    if when.text.lower().startswith(_OPEN_STARTS):
        return Span(FIRST, when.end)
    blur = min((now - when.start) / 3, _HOUR)
    if when.exact or when.end - when.start > _HOUR or when.start - FIRST < blur:
        return Span(when.start, when.end)
    return Span(when.start - blur, when.end + max(min(blur, now - when.end), _NOTHING))


def _without(query: str, places: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    past = 0
    for at, to in places:
        piece = _undangled(query[past:at], query[at:to])
        is_joint = past > 0 and piece.strip(_EDGES).lower() in _JOINTS
        pieces.append("" if is_joint else piece)
        possessive = _POSSESSIVE.match(query, to)
        past = possessive.end() if possessive else to
    pieces.append(query[past:])
    rest = _SPACE_BEFORE_MARK.sub("", " ".join(" ".join(pieces).split()))
    return rest.strip(_EDGES)


def _undangled(piece: str, expression: str) -> str:
    """Return *piece* without the words that only led to the *expression* behind it."""
    has_preposition = expression.split(maxsplit=1)[0].lower() in _PREPOSITIONS
    dangling = _ADVERBS if has_preposition else _ADVERBS | _DANGLING
    words = piece.split()
    while words and words[-1].lower() in dangling:
        words.pop()
    return " ".join(words)
