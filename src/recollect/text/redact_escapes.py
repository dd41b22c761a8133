"""
Decode the escapes of JSON, URLs and HTML in a text, and map positions back to the original.

Text inside JSON stands behind escapes: in `\\nAPI_KEY=…` the name follows the letter "n", and a
quote is `\\"`. Redaction searches the decoded text as well and removes the corresponding characters
of the original. JSON inside JSON takes several rounds. Characters of no width, which can split a
name, are left out of the decoded text.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from urllib.parse import unquote

MAX_LEVELS = 4

_ESCAPE = re.compile(
    r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrtbf\"'`\\/$])"
    r"|%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*"
    r"|&(?:quot|apos|amp|lt|gt|nbsp|#\d{1,5}|#[xX][0-9A-Fa-f]{1,4});"
    r"|[\u00ad\u200b-\u200d\u2060\ufeff]"
)
_ZERO_WIDTH = ("\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class DecodedText:
    """
    The lines of a text that have escapes, decoded once. Knows where its characters come from.

    The other lines are left out: decoding does not change them.
    """

    def __init__(self, text: str, outer: "DecodedText | None" = None) -> None:
        self._outer = outer
        self._pieces: list[str] = []
        self._starts: list[int] = []  # where each piece begins in the decoded text,
        self._origins: list[tuple[int, int]] = []  # and its span in the original
        self._length = 0
        at = line_end = 0
        for escape in _ESCAPE.finditer(text):
            start, end = escape.span()
            if start >= line_end:
                self._add(text[at:line_end], at, line_end)
                at = text.rfind("\n", line_end, start) + 1 or line_end
                line_end = text.find("\n", end) + 1 or len(text)
            self._add(text[at:start], at, start)
            self._add(_decode(escape[0]), start, end)
            at = end
        self._add(text[at:line_end], at, line_end)
        self.text = "".join(self._pieces)

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that was decoded to *start*…*end*."""
        first, last = self._origin(start)[0], self._origin(end - 1)[1]
        return self._outer.original_span(first, last) if self._outer else (first, last)

    def _add(self, piece: str, start: int, end: int) -> None:
        if piece:
            self._pieces.append(piece)
            self._starts.append(self._length)
            self._origins.append((start, end))
            self._length += len(piece)

    def _origin(self, position: int) -> tuple[int, int]:
        """Return the original span of one decoded character: of an escape, all of it."""
        number = bisect_right(self._starts, position) - 1
        (start, end), piece = self._origins[number], self._pieces[number]
        if len(piece) != end - start:
            return start, end
        return start + position - self._starts[number], start + position - self._starts[number] + 1


def decoded_texts(text: str) -> Iterator[DecodedText]:
    """Yield *text* decoded once, twice and so on, as long as there are escapes."""
    outer = None
    for _ in range(MAX_LEVELS):
        if not ("\\" in text or "%" in text or "&" in text or _has_zero_width(text)):
            return
        outer = DecodedText(text, outer)
        text = outer.text
        if not text:
            return
        yield outer


def _has_zero_width(text: str) -> bool:
    return not text.isascii() and any(char in text for char in _ZERO_WIDTH)


def _decode(escape: str) -> str:
    if escape in _ZERO_WIDTH:
        return ""
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[1] in "ux" and len(escape) > 2:
        return chr(int(escape[2:], 16))
    return _LETTERS.get(escape[1], escape[1])
