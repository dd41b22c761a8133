"""
Resolve the dates in what somebody said, by the tense of the clause that each stands in.

"I've changed the mill, the first pallet comes on Wednesday" tells of a past change and a coming
Wednesday. A date in a reason is the date of the reason: "we use cents because of an incident in
March" is a rule of today. "Until the end of March" ends with March; it does not say when it began.
"""

import re
from dataclasses import replace
from datetime import date as date_type
from datetime import datetime, timedelta

from recollect.domain.provenance import MentionedDate
from recollect.text.date_parser import (
    DEFAULT_START,
    MIN_TIME,
    DateExpression,
    find_dates,
)
from recollect.text.explicit_request import is_standing_order
from recollect.text.lazy_pattern import LazyPattern

_MOMENT = timedelta(microseconds=1)
_ONE_DAY = timedelta(days=1)

_HABIT = LazyPattern(
    r"\b(?:always|never|usually|normally|generally|every|each|any|weekly|monthly|yearly|annual\w*"
    r"|birthday|anniversary|name day|rule|opens?|closes?|opening hours)\b"
    # "The market is on Sunday now, not Saturday" tells of every Sunday.
    r"|\b(?:now|no longer|any ?more|instead|switch\w*|changed|used to)\b",
    flags=re.IGNORECASE,
)

_CLAUSE_END = LazyPattern(
    r"[,;:.!?()–—](?=\s|$)|\s-\s|\s+(?=(?:and|but|so|because|while|whereas|although|though|when"
    r"|since (?:we|i|it|they|he|she|the|there)|as (?:we|i|it|they|the|there)|if)\b)",
    flags=re.IGNORECASE,
)
_CAUSE = LazyPattern(
    r"^\W*(?:(?:and|but|so) )?(?:because|since(?= (?:we|i|it|they|he|she|the|there|my|our)\b)"
    r"|as(?= (?:we|i|it|they|the|there)\b)|given|ever since)\b"
    r"|\b(?:because of|due to|thanks to|on account of|as a result of|ever since|in response to)\b",
    flags=re.IGNORECASE,
)
_OCCASION = LazyPattern(
    r"^\W*(?:when|following)\b|\bafter (?:the|an?|our|my|that|last)\b", flags=re.IGNORECASE
)
_PAST_TENSE = LazyPattern(
    r"\b(?:was|were|did|had|went|came|took|made|got|said|met|saw|left|began|bought|sold|built|wrote"
    r"|ran|found|lost|won|quit|chose|spoke|told|heard|thought|gave|kept|held|flew|drove|broke|fell"
    r"|grew|slept|spent|sent|paid|cut|put(?= (?:it|the|up|in))"
    r"|(?!need|feed|seed|speed|indeed|exceed|proceed|succeed|bleed|breed|embed|weed|wicked|naked"
    r"|hundred|sacred)\w{3,}ed)\b"
    r"|\b(?:have|has) (?:just |now |already )?\w+(?:ed|en|ne|t)\b|['’]ve\b",
    flags=re.IGNORECASE,
)
_HAVE_GOT = r"(?:['’](?:ve|s)|\b(?:have|has)) got\b"
# Neither "the shop is closed on Monday" nor "it needs to be signed" tells of the past, and "I've
# got till March" says what somebody has.
_NOT_PAST = LazyPattern(
    rf"{_HAVE_GOT}|"
    r"\b(?:is|are|am|be|being|gets?|['’](?:s|re|m)) (?:now |always |usually |not |only |to be )*"
    r"(?!been\b)\w+ed\b|\b(?:called|named|supposed|allowed|used to it)\b",
    flags=re.IGNORECASE,
)
_PRESENT_OR_FUTURE = LazyPattern(
    r"\b(?:will|won['’]t|shall|is|are|am|can|must|should|may|might|has to|have to|going to|gonna"
    r"|let['’]s|does|do|goes|comes?|starts?|begins?|arrives?|leaves?|opens?|closes?|ends?|moves?"
    r"|delivers?|meets?|need|needs|want|wants|plan|plans|run|runs|brings?|gets?|takes?|makes?)\b"
    rf"|['’](?:ll|s|re|m)\b|{_HAVE_GOT}",
    flags=re.IGNORECASE,
)
_LAST_DAY = LazyPattern(r"^(?:until|till|by)\b|\bend of\b", flags=re.IGNORECASE)


def is_past_event(text: str) -> bool:
    """Return whether *text* describes a past event."""
    return bool(_PAST_TENSE.search(_NOT_PAST.sub(" ", text)))


def has_finite_verb(text: str) -> bool:
    """Return whether *text*, in English, has a verb with a tense that is recognised."""
    return bool(_PRESENT_OR_FUTURE.search(text)) or is_past_event(text)


def dates_in_statement(text: str, *, said_at: datetime) -> tuple[DateExpression, ...]:
    """
    Return the dates in *text*, each resolved by the tense of its clause.

    "Until" and "before" have no beginning: a span that is over begins on its last day, another one
    when it was said.
    """
    future = find_dates(text, asked_at=said_at, direction="future")
    if not future:
        return ()
    past = {date.text_start: date for date in find_dates(text, asked_at=said_at)}
    return tuple(
        _with_start(
            past.get(date.text_start, date) if _is_told_as_past(text, date) else date, said_at
        )
        for date in future
    )


def observed_at(text: str, *, said_at: datetime) -> datetime:
    """
    Return when the event in *text* happened; "yesterday" is relative to *said_at*.

    Only relative dates are used. An absolute year is part of the content: of two statements that
    name different years, the one that was said later is still the newer one. A date in a reason
    does not count, nor does one behind what holds now: "no floats are used, Lene had a bug in May".
    """
    if not is_past_event(text) or is_standing_order(text.lower()):
        return said_at
    past = (
        date
        for date in dates_in_statement(text, said_at=said_at)
        if date.end <= said_at
        and not date.is_absolute
        and _is_told_as_past(text, date)  # "my manager is Tomas since Monday" holds now
        and not _is_in_reason(text, date)
        and not _is_behind_present_clause(text, date)
    )
    first = next(past, None)
    return first.start if first else said_at


def upcoming_dates(text: str, *, said_at: datetime) -> tuple[MentionedDate, ...]:
    """Return the future dates in *text*, resolved relative to *said_at*; of a deadline its day."""
    return tuple(
        MentionedDate(date.text, _day_of(text, date))
        for date in dates_in_statement(text, said_at=said_at)
        if date.end > said_at
    )


def named_days(text: str, *, said_at: datetime) -> tuple[MentionedDate, ...]:
    """
    Return the single days that *text* names without their year, and what each meant at *said_at*.

    A habit has no day ("we never deploy on Friday"), and neither has a date in a reason: a rule is
    not of the day of the incident it came from. The day on which it was said is not repeated.
    """
    if _HABIT.search(text) or is_standing_order(text.lower()):
        return ()
    dates = dates_in_statement(text, said_at=said_at)
    if sum(date.end > said_at for date in dates) > 1:
        return ()  # "we meet on Monday and Thursday"
    days = (
        MentionedDate(date.text, _day_of(text, date))
        for date in dates
        if _names_one_day(text, date)
        and not _is_in_reason(text, date)
        and (date.end > said_at or not _is_behind_present_clause(text, date))
    )
    return tuple(date for date in days if date.day != said_at.date())


def _names_one_day(text: str, date: DateExpression) -> bool:
    if date.is_absolute:
        return False  # it says its year
    return date.end - date.start <= _ONE_DAY or _is_deadline(text, date)


def _day_of(text: str, date: DateExpression) -> date_type:
    if date.text.lower().startswith("before"):
        return date.end.date()
    is_deadline = _is_deadline(text, date)
    return (date.end - _MOMENT).date() if is_deadline else date.start.date()


def _is_deadline(text: str, date: DateExpression) -> bool:
    before = text[: date.text_start].split()[-1:]
    return bool(_LAST_DAY.search(date.text)) or [word.lower() for word in before] == ["by"]


def _with_start(date: DateExpression, said_at: datetime) -> DateExpression:
    if date.start not in (DEFAULT_START, MIN_TIME):
        return date
    last_day = (date.end - _MOMENT).replace(hour=0, minute=0, second=0, microsecond=0)
    return replace(date, start=said_at if date.end > said_at else min(last_day, date.end))


def _is_told_as_past(text: str, date: DateExpression) -> bool:
    """Return whether the clause of *date* is in the past; without a verb, the whole sentence."""
    start, end = _clause_of(text, date)
    clause = text[start:end]
    if is_past_event(clause):
        return True
    return not _PRESENT_OR_FUTURE.search(clause) and is_past_event(text)


def _is_in_reason(text: str, date: DateExpression) -> bool:
    start, _ = _clause_of(text, date)
    before = text[start : date.text_start]
    if _CAUSE.search(before):
        return True
    if not _OCCASION.search(before):
        return False
    # "We moved after the fire in May" is an event, "after the fire in May we lock up" a rule.
    return not is_past_event(text[: date.text_start]) and not is_past_event(text[date.text_end :])


def _is_behind_present_clause(text: str, date: DateExpression) -> bool:
    """Return whether a clause before that of *date* tells what holds now."""
    start, _ = _clause_of(text, date)
    ends = [match.end() for match in _CLAUSE_END.finditer(text) if match.end() <= start]
    clauses = (text[a:b] for a, b in zip([0, *ends], ends, strict=False))
    return any(_PRESENT_OR_FUTURE.search(c) and not is_past_event(c) for c in clauses)


def _clause_of(text: str, date: DateExpression) -> tuple[int, int]:
    """Return the start and end of the clause that contains *date*."""
    start = 0
    for match in _CLAUSE_END.finditer(text):
        if match.end() <= date.text_start:
            start = match.end()
        elif match.start() >= date.text_end:
            return start, match.start()
    return start, len(text)
