"""Extract details of a statement: its reason, rejected alternatives, and the dates it mentions."""

import re
from datetime import datetime

from recollect.domain.provenance import MentionedDate
from recollect.text.date_parser import find_dates
from recollect.text.lazy_pattern import LazyPattern

_BECAUSE = LazyPattern(
    r"(?:,|;|\s[-–—])?\s*\b(?:because(?: of)?|since(?! (?:\d|last|yesterday|monday|tuesday"
    r"|wednesday|thursday|friday|january|february|march|april|may\b|june|july|august|september"
    r"|october|november|december|then|the start))|due to|given that|so that|as (?:it|we|they|the"
    r"|our|that|there|this)\b|the reason (?:is|being)(?: that)?|on account of|in order to)\s+",
    flags=re.IGNORECASE,
)
_REASON_AT_START = LazyPattern(
    r"^(?:and |but )?(?:that's |this is |it's |mainly |mostly |simply )*(?:because|since"
    r"|the reason (?:is|being)(?: that)?|reason:|reasons:|rationale:|why:)\s*",
    flags=re.IGNORECASE,
)
_ALTERNATIVE = LazyPattern(
    r"\b(?:rather than|instead of|as opposed to|in preference to|and not(?: (?:on|to|for|with))?"
    r"|over(?! (?:the|a|an|\d))|not(?= \w+[.,;]?$))\s+(?P<other>[^,.;!?]{2,80}?)(?=\s+(?:because"
    r"|since|due to|as it|as we|so that)\b|[,.;!?]|$)",
    flags=re.IGNORECASE,
)
_PAST_TENSE = LazyPattern(
    r"\b(?:was|were|did|had|went|came|took|made|got|said|met|saw|left|began|started|moved"
    r"|decided|agreed|chose|picked"
    r"|bought|sold|built|wrote|ran|found|lost|won|quit|joined|\w{3,}ed)\b|'ve\b|\bhave \w+ed\b",
    flags=re.IGNORECASE,
)


def rationale_in(text: str, *, alone: bool = False) -> str:
    """Return the reason given in *text*, or ''; *alone*: only if the text starts with it."""
    match = _REASON_AT_START.match(text) if alone else _BECAUSE.search(text)
    if match is None:
        return ""
    reason = text[match.end() :].strip(" .!;,")
    return reason if len(reason) >= 8 else ""


def alternatives_in(text: str) -> tuple[str, ...]:
    """Return the rejected alternatives that *text* names."""
    return tuple(match["other"].strip() for match in _ALTERNATIVE.finditer(text))


def is_past_event(text: str) -> bool:
    """Return whether *text* describes a past event."""
    return bool(_PAST_TENSE.search(text))


def observed_at(text: str, *, said_at: datetime) -> datetime:
    """
    Return when the event in *text* happened; "yesterday" is relative to *said_at*.

    Only relative dates are used. An absolute year is part of the content: of two statements that
    name different years, the one that was said later is still the newer one.
    """
    if not is_past_event(text):
        return said_at
    dates = find_dates(text, asked_at=said_at)
    past = [date for date in dates if date.end <= said_at and not date.is_absolute]
    return past[0].start if past else said_at


def upcoming_dates(text: str, *, said_at: datetime) -> tuple[MentionedDate, ...]:
    """Return the future dates in *text*, resolved relative to *said_at*."""
    return tuple(
        MentionedDate(date.text, date.start.date())
        for date in find_dates(text, asked_at=said_at, direction="future")
        if date.end > said_at
    )
