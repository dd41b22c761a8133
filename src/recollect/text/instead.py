"""
What a sentence says took the place of what: "we switched from Postgres to SQLite for the orders".

Such a sentence names the thing it puts an end to, so it need not be guessed which statement it
speaks against: the one that has the old thing for the same purpose, and does not know the new one.
Where it names no purpose, the old thing may live on elsewhere, and nothing is read into it. Words
only: nothing here knows memories or time.
"""

import re
from dataclasses import dataclass

from recollect.text.patterns import Pattern
from recollect.text.statements import content_words, denies

_THING = r"[\w.+#/-]+(?: [\w.+#/-]+){0,3}?"
_ENDS = r"(?=[,;.!]?$|[,;.!] | (?:for|in|on|as|because|since|so|due)\b)"
_SWITCHED = Pattern(
    rf"\b(?:switched|moved|migrated|changed)(?: over)? from (?P<old>{_THING}) to (?P<new>{_THING})"
    rf"{_ENDS}(?P<rest>.*)$",
    rf"\breplaced (?P<old_one>{_THING}) (?:with|by) (?P<new_one>{_THING}){_ENDS}(?P<rest_one>.*)$",
)
# From here on it says why, or something else.
_REASON = Pattern(r"[,;.!](?:\s|$)|\b(?:because|since|so|due)\b")
_TURNED_DOWN = r"\b(?:instead of|rather than|over|than|from|replac\w+|without|no)\s+(?:the )?"


@dataclass(frozen=True)
class Switch:
    """One thing in another's place, and for what; all as the words that carry meaning."""

    old: frozenset[str]
    new: frozenset[str]
    purpose: frozenset[str]
    old_name: str


def switch_in(text: str) -> Switch | None:
    """Return what *text* says was put in the place of what, None where it says no such thing."""
    found = _SWITCHED.search(text.lower())
    if found is None:
        return None
    told = {name.removesuffix("_one"): one for name, one in found.groupdict().items() if one}
    rest = told.get("rest", "")
    reason = _REASON.search(rest)
    purpose = rest[: reason.start()] if reason else rest
    old, new = content_words(told["old"]), content_words(told["new"])
    return Switch(old, new, content_words(purpose), told["old"]) if old and new else None


def replaces(text: str, known: str) -> bool:
    """Say whether *text* tells that what *known* says was given up for something else."""
    switch = switch_in(text)
    if switch is None or not switch.purpose or denies(known):
        return False
    words = content_words(known)
    if not (switch.old | switch.purpose) <= words or switch.new <= words:
        return False
    # "Redis rather than Postgres" does not say that Postgres is there.
    return not re.search(_TURNED_DOWN + re.escape(switch.old_name), known.lower())
