"""
Find the time range that a query about the past asks for, and the query without it.

Rule 1: a reference to sessions ("two chats ago") has priority over dates; the dates are then the
topic and stay in the rest. Only a date right after it belongs to it: "our first session in July",
"the last chat before June 3rd".
Rule 2: a date that has not begun yet is not a time range of the past: "what did we plan for next
Friday" has none.
Rule 3: several dates that overlap mean their intersection ("last week … on Tuesday", "since March …
before June"). If they do not overlap, they mean the whole span from the first to the last ("on
Monday and on Friday"). A date before "about" has priority over one after it: "what did I say
yesterday about the trip in May" asks about yesterday.
Rule 4: "recently" and "the other day" are not time ranges: search prefers recent items anyway.

The range is what the person probably means; the caller decides how strictly to filter by it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recollect.lazy_dataclass import dataclass
from recollect.text.date_calendar import TimeSpan
from recollect.text.date_parser import MIN_TIME, DateExpression, find_dates
from recollect.text.date_words import MONTHS
from recollect.text.session_references import (
    SessionCount,
    SessionReference,
    find_session_references,
)

_TEXT_SEPARATOR = " … "
_CONJUNCTIONS = ("and", "but", "or", "and also", "to", "with")  # between two expressions
_OPEN_START_WORDS = ("before", "until", "till")
_HOUR = timedelta(hours=1)
_ZERO = timedelta(0)
_TOPIC_WORD = re.compile(r"\b(?:about|regarding|concerning)\b", re.IGNORECASE)

# Words that are removed with the expression after them. A preposition is removed only if the
# expression has none of its own: in "what did we talk about on Friday", "about" stays.
_BOUND_WORDS = frozenset(["since", "between", "before", "after", "until", "till"])
_PREPOSITIONS = _BOUND_WORDS | {"in", "on", "at", "from", "during", "over", "within", "throughout"}
_DANGLING_WORDS = _PREPOSITIONS | {"of", "for", "by", "around", "the", "our", "my"}
_ADVERBS = frozenset(["back", "sometime"])
_POSSESSIVE = re.compile(r"['’]s\b")
_SPACE_BEFORE_MARK = re.compile(r" (?=[,.;:?!](?:\s|$))")
_EDGE_CHARS = " ,;:–-"

# Words of questions and of talking, which are useless as search terms.
_FILLER_TEXT = """
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
_FILLER_WORDS = frozenset(_FILLER_TEXT.split())
_WORD = re.compile(r"\w+")
_QUESTION_WORD = re.compile(r"\b(?:what|whatever|which|everything|anything|all)\b", re.IGNORECASE)
_TALK_WORD = re.compile(
    r"\b(?:talk(?:ed|ing|s)?|discuss(?:ed|ing|ions?)?|spoken?|speak(?:ing)?|chat(?:s|ted|ting)?|said"
    r"|say|sessions?|conversations?|exchange|cover(?:ed)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QueryTimeRange:
    """The time range a query asks for: a time span, a number of sessions, or both."""

    text: str  # the expression as written; several are joined by " … "
    rest: str  # the query without it, to search by words
    start: datetime | None = None  # aware UTC, inclusive; None: from the beginning
    end: datetime | None = None  # exclusive; None: until now
    session_count: SessionCount | None = None  # counts all sessions, or those in the time span

    @property
    def sessions_ago(self) -> int | None:
        """How many sessions back, if a single one is meant: 1 is the previous one."""
        count = self.session_count
        return None if count is None or count.from_first or count.length > 1 else count.number


def find_query_time_range(query: str, *, asked_at: datetime) -> QueryTimeRange | None:
    """
    Return the time range *query* asks for, or None if it names none in the past.

    Days are those of the time zone of *asked_at* (UTC if it has none).
    """
    references = find_session_references(query)
    all_dates = find_dates(query, asked_at=asked_at)
    if not all_dates:
        standalone = [reference for reference in references if not reference.sessions.needs_time]
        return _session_range(query, standalone[0]) if standalone else None
    now = asked_at.astimezone(UTC) if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)
    for reference in references:
        date = _date_after_sessions(query, reference, all_dates, now)
        if date is not None:
            return _session_range(query, reference, date.text_end, _combine_dates([date], now))
        if not reference.sessions.needs_time:
            return _session_range(query, reference)
    dates = [date for date in all_dates if date.start < now and not _is_month_with_article(date)]
    dates = _dates_before_topic(query, dates)
    if not dates:
        return None
    start, end = _combine_dates(dates, now)
    text = _TEXT_SEPARATOR.join(date.text for date in dates)
    rest = _remove_ranges(query, [(date.text_start, date.text_end) for date in dates])
    return QueryTimeRange(text, rest, start, end)


def _date_after_sessions(
    query: str, reference: SessionReference, dates: Sequence[DateExpression], now: datetime
) -> DateExpression | None:
    """Return the date right after the reference, which limits the sessions counted."""
    for date in dates:
        gap = query[reference.end : date.text_start].strip().lower()
        if date.text_start >= reference.end and gap in ("", "of") and date.start < now:
            return date
    return None


def _session_range(
    query: str,
    reference: SessionReference,
    end: int | None = None,
    bounds: tuple[datetime | None, datetime | None] = (None, None),
) -> QueryTimeRange:
    end = end or reference.end
    rest = _remove_ranges(query, [(reference.start, end)])
    return QueryTimeRange(query[reference.start : end], rest, *bounds, reference.sessions)


def is_only_about_time(rest: str) -> bool:
    """Return whether *rest* has no search terms: "what did we talk about", "recap"."""
    return all(match.group().lower() in _FILLER_WORDS for match in _WORD.finditer(rest))


def asks_for_everything_said(time_range: QueryTimeRange) -> bool:
    """
    Return whether the query asks for everything that was said in that time, on any topic.

    "Fill me in on what we said", "I need a reminder of our chat": words before the question itself,
    or before the chat, are not a topic. Words after it are: "what we said about hiring".
    """
    clauses = list(_QUESTION_WORD.finditer(time_range.rest))
    if clauses:
        clause = time_range.rest[clauses[-1].start() :]
        return _TALK_WORD.search(clause) is not None and is_only_about_time(clause)
    if _TALK_WORD.search(time_range.text):
        return _TOPIC_WORD.search(time_range.rest) is None
    verb = _TALK_WORD.search(time_range.rest)
    return verb is not None and is_only_about_time(time_range.rest[verb.start() :])


def _is_month_with_article(date: DateExpression) -> bool:
    """Return whether the date is a month with only an article, as in "the May release"."""
    words = date.text.lower().split()
    return words[-2:-1] == ["the"] and words[-1] in MONTHS


def _dates_before_topic(query: str, dates: list[DateExpression]) -> list[DateExpression]:
    topic = _TOPIC_WORD.search(query)
    if topic is None:
        return dates
    return [date for date in dates if date.text_end <= topic.start()] or dates


def _combine_dates(
    dates: Sequence[DateExpression], now: datetime
) -> tuple[datetime | None, datetime | None]:
    spans = [_date_span(date, now) for date in dates]
    start, end = max(span.start for span in spans), min(span.end for span in spans)
    if start >= end:  # no overlap
        start, end = min(span.start for span in spans), max(span.end for span in spans)
    return None if start == MIN_TIME else start, None if end == now else end


def _date_span(date: DateExpression, now: datetime) -> TimeSpan:
    """Return the span of *date*; a moment ("10 minutes ago") gets a margin on both sides."""
    if date.text.lower().startswith(_OPEN_START_WORDS):
        return TimeSpan(MIN_TIME, date.end)
    margin = min((now - date.start) / 3, _HOUR)
    if date.is_absolute or date.end - date.start > _HOUR or date.start - MIN_TIME < margin:
        return TimeSpan(date.start, date.end)
    return TimeSpan(date.start - margin, date.end + max(min(margin, now - date.end), _ZERO))


def _remove_ranges(query: str, ranges: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in ranges:
        piece = _strip_dangling_words(query[position:start], query[start:end])
        is_joint = position > 0 and piece.strip(_EDGE_CHARS).lower() in _CONJUNCTIONS
        pieces.append("" if is_joint else piece)
        possessive = _POSSESSIVE.match(query, end)
        position = possessive.end() if possessive else end
    pieces.append(query[position:])
    rest = _SPACE_BEFORE_MARK.sub("", " ".join(" ".join(pieces).split()))
    return rest.strip(_EDGE_CHARS)


def _strip_dangling_words(piece: str, expression: str) -> str:
    """Return *piece* without the last words if they belong to the *expression* after it."""
    has_preposition = expression.split(maxsplit=1)[0].lower() in _PREPOSITIONS
    dangling = _ADVERBS if has_preposition else _ADVERBS | _DANGLING_WORDS
    words = piece.split()
    while words and words[-1].lower() in dangling:
        words.pop()
    return " ".join(words)
