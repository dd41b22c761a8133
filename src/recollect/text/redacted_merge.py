"""
Merge two forms of one text in which different words may have been forgotten. Pure.

Two devices may forget different words of the same message. What either of them removed stays
removed; otherwise the preferred form counts.
"""

import difflib
import json
import re

from recollect.text.forgotten_words import MARKER

ID_MARKER = "(forgotten)"  # stands for the id of a forgotten memory
_TOKENS = re.compile(r"\[forgotten\]|\(forgotten\)|\w+|\s+|[^\w\s]")


def merge_redacted(preferred: str, other: str, *, is_json: bool = False) -> str:
    """Return *preferred* without what is forgotten in either form."""
    if preferred == other or not _is_redacted(other):
        return preferred
    if not _is_redacted(preferred) and _without_markers(other) in ("", "{}", "[]"):
        return other
    merged = _merge_tokens(_TOKENS.findall(preferred), _TOKENS.findall(other))
    if is_json and not _is_json(merged):
        return other if _markers(other) >= _markers(preferred) else preferred
    return merged


def merge_blanked(preferred: str, other: str, blanks: tuple[str, ...]) -> str:
    """Return *preferred* with the blanks of both forms, which have the same length."""
    if preferred == other or len(preferred) != len(other):
        return preferred
    if not any(blank in other for blank in blanks):
        return preferred
    pairs = zip(preferred, other, strict=True)
    return "".join(b if b in blanks and a not in blanks else a for a, b in pairs)


def _merge_tokens(preferred: list[str], other: list[str]) -> str:
    matcher = difflib.SequenceMatcher(a=preferred, b=other, autojunk=False)
    merged: list[str] = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        mine, theirs = preferred[start:end], other[other_start:other_end]
        takes_other = tag != "equal" and _has_marker(theirs) and not _has_marker(mine)
        merged += theirs if takes_other else mine
    return "".join(merged)


def _has_marker(tokens: list[str]) -> bool:
    return MARKER in tokens or ID_MARKER in tokens


def _is_redacted(text: str) -> bool:
    return MARKER in text or ID_MARKER in text


def _markers(text: str) -> int:
    return text.count(MARKER) + text.count(ID_MARKER)


def _without_markers(text: str) -> str:
    return text.replace(MARKER, "").replace(ID_MARKER, "").strip()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
