"""The difference of two texts, line by line, for a page."""

import difflib

from recollect.lazy_dataclass import dataclass

CONTEXT_LINES = 3
MAX_LINES = 2_000  # of each text; comparing longer ones takes too long


@dataclass(frozen=True)
class DiffLine:
    """One line of a difference; *kind* is plus, minus or same."""

    kind: str
    text: str


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """Return the lines that differ, with a few lines around them; empty if the texts are equal."""
    if before == after:
        return []
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > MAX_LINES:
        return [DiffLine("same", f"{len(old)} lines before, {len(new)} lines after")]
    lines = difflib.unified_diff(old, new, lineterm="", n=CONTEXT_LINES)
    kinds = {"+": "plus", "-": "minus"}
    return [
        DiffLine(kinds.get(line[:1], "same"), line)
        for line in lines
        if not line.startswith(("---", "+++"))
    ]
