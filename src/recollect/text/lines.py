"""
Lines of a text, and windows of them.

A line ends with a line feed, and only with that; a carriage return before it belongs to the break.
A line feed at the very end ends the last line and starts none.
"""

from typing import NamedTuple

from recollect.errors import InvalidInput

CUT = "…"


class Window(NamedTuple):
    """Lines *first* to *last*, from 1, of *total*. Without lines, *last* is before *first*."""

    first: int
    last: int
    total: int
    text: str


def lines_of(text: str) -> list[str]:
    """Return the lines of *text* without their ends."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def window(text: str, offset: int, length: int | None = None) -> Window:
    """
    Return *length* lines after the first *offset* ones; without a length, all that follow.

    Each line keeps its line feed, so that windows put together are the text. Past the end there are
    no lines: the caller knows the file's name and says so.
    """
    if offset < 0 or (length is not None and length < 0):
        raise InvalidInput(
            f"a window starts after 0 or more lines and has 0 or more, not {offset} and {length}"
        )
    lines = lines_of(text)
    chosen = lines[offset:] if length is None else lines[offset : offset + length]
    last = offset + len(chosen)
    ended = bool(chosen) and (last < len(lines) or text.endswith("\n"))
    return Window(offset + 1, last, len(lines), "\n".join(chosen) + "\n" * ended)


def numbered(text: str, first: int) -> str:
    """Return *text* with its lines numbered from *first*, as `12: the line`."""
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines_of(text), first))


def trimmed(line: str, start: int, end: int, *, most: int) -> str:
    """Return at most *most* characters of *line*, those around *start* to *end*, marking cuts."""
    if len(line) <= most:
        return line
    spare = most - min(end - start, most)
    at = max(0, min(start - spare // 2, len(line) - most))
    shown = line[at : at + most]
    # The marks take the place of a character, so that the length holds.
    if at > 0:
        shown = CUT + shown[1:]
    if at + most < len(line):
        shown = shown[:-1] + CUT
    return shown
