"""
Compare two texts: the smallest edits between them, and a unified diff for people.

The edits of a settings file are stored to undo them. They contain only the changed text, because
settings files contain keys and tokens.
"""

import difflib
import hashlib
import re
from collections.abc import Sequence

CONTEXT = 3  # lines around a change

Edit = tuple[int, int, str]  # replace text[start:end] by the string


def edits_between(old: str, new: str) -> list[Edit]:
    """Return the edits that turn *old* into *new*, in order of position."""
    head = _common_prefix_length(old, new)
    tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
    lines_old = old[head : len(old) - tail].splitlines(keepends=True)
    lines_new = new[head : len(new) - tail].splitlines(keepends=True)
    starts = [head]
    for line in lines_old:
        starts.append(starts[-1] + len(line))
    edits: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, lines_old, lines_new, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        removed = "".join(lines_old[first:last])
        added = "".join(lines_new[new_first:new_last])
        same_start = _common_prefix_length(removed, added)
        same_end = _common_prefix_length(removed[same_start:][::-1], added[same_start:][::-1])
        start, end = starts[first] + same_start, starts[last] - same_end
        edits.append((start, end, added[same_start : len(added) - same_end]))
    return edits


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return *text* after *edits*."""
    for start, end, replacement in reversed(edits):
        text = text[:start] + replacement + text[end:]
    return text


def digest(text: str) -> str:
    """Return the hash that identifies a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def unified_diff(name: str, old: str | None, new: str | None) -> str:
    """Return the change of a file as a unified diff; None means that there is no file."""
    lines_old, lines_new = _lines(old or ""), _lines(new or "")
    # Compare only the differing part: a large file with many equal lines takes half a minute.
    head = max(_common_line_count(lines_old, lines_new) - CONTEXT, 0)
    rest_old, rest_new = lines_old[head:], lines_new[head:]
    tail = max(_common_line_count(rest_old[::-1], rest_new[::-1]) - CONTEXT, 0)
    lines = difflib.unified_diff(
        rest_old[: len(rest_old) - tail],
        rest_new[: len(rest_new) - tail],
        fromfile=name if old is not None else "/dev/null",
        tofile=name if new is not None else "/dev/null",
        n=CONTEXT,
    )
    unended = "\n\\ No newline at end of file\n"
    shifted = (_shift_hunk(line, head) if line.startswith("@@ ") else line for line in lines)
    return "".join(line if line.endswith("\n") else line + unended for line in shifted)


def _shift_hunk(header: str, by: int) -> str:
    """Return the header of a hunk, moved down *by* lines."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number.group()) + by), header)


def _common_line_count(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _lines(text: str) -> list[str]:
    """Return the lines as `patch` counts them: only a line feed ends a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _common_prefix_length(first_text: str, second_text: str) -> int:
    least, most = 0, min(len(first_text), len(second_text))
    while least < most:
        middle = (least + most + 1) // 2
        if first_text[:middle] == second_text[:middle]:
            least = middle
        else:
            most = middle - 1
    return least
