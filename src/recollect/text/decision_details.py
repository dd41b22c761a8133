"""Extract details of a statement: its reason and the alternatives it rejects."""

import re

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
