"""
Split a text into lines, and return ranges of lines.

A line ends with a line feed only; a carriage return before it belongs to the line break. A line
feed at the very end ends the last line and does not start another.
"""

from typing import NamedTuple

from recollect.errors import InvalidInput

ELLIPSIS = "…"


class LineWindow(NamedTuple):
    """Lines *first* to *last* of *total*, counted from 1. If empty, *last* is before *first*."""

    first: int
    last: int
    total: int
    text: str


def split_lines(text: str) -> list[str]:
    """Return the lines of *text* without their line breaks."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def line_window(text: str, offset: int, length: int | None = None) -> LineWindow:
    """
    Return *length* lines after the first *offset* lines, or all that follow if there is no length.

    Each line keeps its line feed, so that joined windows equal the text. A window past the end has
    no lines; the caller, who knows the file's name, reports it.
    """
    if offset < 0 or (length is not None and length < 0):
        raise InvalidInput(
            f"a window starts after 0 or more lines and has 0 or more, not {offset} and {length}"
        )
    lines = split_lines(text)
    selected = lines[offset:] if length is None else lines[offset : offset + length]
    last = offset + len(selected)
    ends_with_newline = bool(selected) and (last < len(lines) or text.endswith("\n"))
    return LineWindow(offset + 1, last, len(lines), "\n".join(selected) + "\n" * ends_with_newline)


def trim_line(line: str, start: int, end: int, *, max_chars: int) -> str:
    """Return up to *max_chars* characters of *line* around *start* to *end*, marking cuts."""
    if len(line) <= max_chars:
        return line
    spare = max_chars - min(end - start, max_chars)
    begin = max(0, min(start - spare // 2, len(line) - max_chars))
    visible = line[begin : begin + max_chars]
    # Each ellipsis replaces a character, so that the length does not grow.
    if begin > 0:
        visible = ELLIPSIS + visible[1:]
    if begin + max_chars < len(line):
        visible = visible[:-1] + ELLIPSIS
    return visible
