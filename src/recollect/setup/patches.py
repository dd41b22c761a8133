"""
Two texts and what lies between them: the smallest edits, and the diff a person reads.

The edits of a settings file are kept for the way back. They hold what changed and nothing around
it, because settings files have keys and tokens in them.
"""

import difflib
import hashlib
import re
from collections.abc import Sequence

CONTEXT = 3  # lines around a change, as everywhere

Edit = tuple[int, int, str]  # text[start:end] becomes this


def edits_between(old: str, new: str) -> list[Edit]:
    """Return the edits that make *new* of *old*, from the front to the back."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    lines_old = old[head : len(old) - tail].splitlines(keepends=True)
    lines_new = new[head : len(new) - tail].splitlines(keepends=True)
    starts = [head]
    for line in lines_old:
        starts.append(starts[-1] + len(line))
    found: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, lines_old, lines_new, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        gone = "".join(lines_old[first:last])
        come = "".join(lines_new[new_first:new_last])
        same = _common(gone, come)
        same_end = _common(gone[same:][::-1], come[same:][::-1])
        found.append(
            (starts[first] + same, starts[last] - same_end, come[same : len(come) - same_end])
        )
    return found


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Return *text* after *edits*."""
    for start, end, written in reversed(edits):
        text = text[:start] + written + text[end:]
    return text


def digest(text: str) -> str:
    """Return what a text is known again by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def unified_diff(name: str, old: str | None, new: str | None) -> str:
    """Return the change of a file as `patch` reads it; None is no file."""
    lines_old, lines_new = _lines(old or ""), _lines(new or "")
    # Only where they differ: a large file with many equal lines would take half a minute.
    head = max(_same(lines_old, lines_new) - CONTEXT, 0)
    rest_old, rest_new = lines_old[head:], lines_new[head:]
    tail = max(_same(rest_old[::-1], rest_new[::-1]) - CONTEXT, 0)
    lines = difflib.unified_diff(
        rest_old[: len(rest_old) - tail],
        rest_new[: len(rest_new) - tail],
        fromfile=name if old is not None else "/dev/null",
        tofile=name if new is not None else "/dev/null",
        n=CONTEXT,
    )
    unended = "\n\\ No newline at end of file\n"
    shown = (_moved(line, head) if line.startswith("@@ ") else line for line in lines)
    return "".join(line if line.endswith("\n") else line + unended for line in shown)


def _moved(header: str, by: int) -> str:
    """Return the head of a hunk for lines that are *by* lines further down."""
    return re.sub(r"(?<=[-+])\d+", lambda number: str(int(number.group()) + by), header)


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two lists begin with together."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _lines(text: str) -> list[str]:
    """Return the lines as `patch` counts them: only a line feed ends one."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[:middle] == other[:middle]:
            least = middle
        else:
            most = middle - 1
    return least
