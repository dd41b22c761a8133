"""
Detect replacements in a sentence: "we switched from Postgres to SQLite for the orders".

Such a sentence names the old thing, so the statement it replaces is the one that has the old thing
for the same purpose and does not mention the new one. If it names no purpose, the old thing may
still be used elsewhere, and nothing is replaced.
"""

import re

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import content_words, is_negated

_THING = r"[\w.+#/-]+(?: [\w.+#/-]+){0,3}?"
_THING_END = r"(?=[,;.!]?$|[,;.!] | (?:for|in|on|as|because|since|so|due)\b)"
_REPLACED = LazyPattern(
    rf"\b(?:switched|moved|migrated|changed)(?: over)? from (?P<old>{_THING}) to (?P<new>{_THING})"
    rf"{_THING_END}(?P<rest>.*)$",
    rf"\breplaced (?P<old_one>{_THING}) (?:with|by) (?P<new_one>{_THING}){_THING_END}"
    r"(?P<rest_one>.*)$",
)
# The start of a reason or of another clause.
_REASON = LazyPattern(r"[,;.!](?:\s|$)|\b(?:because|since|so|due)\b")
_REJECTED = r"\b(?:instead of|rather than|over|than|from|replac\w+|without|no)\s+(?:the )?"


@dataclass(frozen=True)
class Replacement:
    """The old thing, the new thing and the purpose, each as content words."""

    old: frozenset[str]
    new: frozenset[str]
    purpose: frozenset[str]
    old_name: str


def find_replacement(text: str) -> Replacement | None:
    """Return the replacement that *text* describes, or None if it describes none."""
    match = _REPLACED.search(text.lower())
    if match is None:
        return None
    named = match.groupdict().items()
    groups = {name.removesuffix("_one"): value for name, value in named if value}
    rest = groups.get("rest", "")
    reason = _REASON.search(rest)
    purpose = rest[: reason.start()] if reason else rest
    old, new = content_words(groups["old"]), content_words(groups["new"])
    return Replacement(old, new, content_words(purpose), groups["old"]) if old and new else None


def replaces(text: str, existing: str) -> bool:
    """Return whether *text* says that what *existing* states was replaced by something else."""
    replacement = find_replacement(text)
    if replacement is None or not replacement.purpose or is_negated(existing):
        return False
    words = content_words(existing)
    if not (replacement.old | replacement.purpose) <= words or replacement.new <= words:
        return False
    # "Redis rather than Postgres" does not state that Postgres is used.
    return not re.search(_REJECTED + re.escape(replacement.old_name), existing.lower())
