"""The details of a find: why something was decided, instead of what, and when it was true."""

import re
from datetime import datetime

from recollect.text.dates import find_dates
from recollect.text.patterns import Pattern

_BECAUSE = Pattern(
    r"(?:,|;|\s[-–—])?\s*\b(?:because(?: of)?|since(?! (?:\d|last|yesterday|monday|tuesday"
    r"|wednesday|thursday|friday"
    r"|january|february|march|april|may\b|june|july|august|september|october|november|december"
    r"|then|the start))"
    r"|due to|given that|so that|as (?:it|we|they|the|our|that|there|this)\b|the reason (?:is"
    r"|being)(?: that)?"
    r"|on account of|in order to)\s+",
    flags=re.IGNORECASE,
)
_REASON_ALONE = Pattern(
    r"^(?:and |but )?(?:that's |this is |it's |mainly |mostly |simply )*(?:because|since|the "
    r"reason (?:is|being)(?: that)?"
    r"|reason:|reasons:|rationale:|why:)\s*",
    flags=re.IGNORECASE,
)
_INSTEAD = Pattern(
    r"\b(?:rather than|instead of|as opposed to|in preference to|and not(?: (?:on|to|for|with))?"
    r"|over(?! (?:the|a|an|\d))"
    r"|not(?= \w+[.,;]?$))\s+(?P<other>[^,.;!?]{2,80}?)"
    r"(?=\s+(?:because|since|due to|as it|as we|so that)\b|[,.;!?]|$)",
    flags=re.IGNORECASE,
)
_HAPPENED = Pattern(
    r"\b(?:was|were|did|had|went|came|took|made|got|said|met|saw|left|began|started|moved"
    r"|decided|agreed|chose|picked"
    r"|bought|sold|built|wrote|ran|found|lost|won|quit|joined|\w{3,}ed)\b|'ve\b|\bhave \w+ed\b",
    flags=re.IGNORECASE,
)


def rationale_in(text: str, *, alone: bool = False) -> str:
    """Return the reason *text* gives, or ''; *alone*: only where giving it is all the text does."""
    match = _REASON_ALONE.match(text) if alone else _BECAUSE.search(text)
    if match is None:
        return ""
    reason = text[match.end() :].strip(" .!;,")
    return reason if len(reason) >= 8 else ""


def alternatives_in(text: str) -> tuple[str, ...]:
    """Return what was not chosen, as far as *text* names it."""
    return tuple(match["other"].strip() for match in _INSTEAD.finditer(text))


def happened(text: str) -> bool:
    """Say whether *text* tells of something past."""
    return bool(_HAPPENED.search(text))


def observed_at(text: str, *, said_at: datetime) -> datetime:
    """
    Return when what *text* says happened: "yesterday" counts back from when it was said.

    Only relative dates count. A year in the text is part of what is told, and of two tellings that
    name different years the later one is still the newer.
    """
    if not happened(text):
        return said_at
    dates = find_dates(text, asked_at=said_at)
    past = [when for when in dates if when.end <= said_at and not when.exact]
    return past[0].start if past else said_at


def dates_in(text: str, *, said_at: datetime) -> list[dict[str, str]]:
    """Return the coming dates *text* names, resolved against when it was said."""
    return [
        {"text": when.text, "from": when.start.date().isoformat()}
        for when in find_dates(text, asked_at=said_at, toward="future")
        if when.end > said_at
    ]
