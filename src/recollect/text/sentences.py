"""
Cut a text into sentences, keeping where each one stands.

People write chats without capitals and without full stops, so a sentence ends at `.`, `!`, `?` or
`;` before a space, or with its line; a line that is only the wrapped rest of the one before it is
not a new sentence. Abbreviations, initials, numbers, versions, paths and addresses do not end one.
"""

import re
from collections.abc import Iterator

from recollect.text.patterns import Pattern

MOST_CHARS = 1_000  # a longer "sentence" is no sentence; it is cut so that no rule reads on and on

_LINE = Pattern(r"[^\n]+")
_MARKER = Pattern(r"\s*(?:(?:[-*•+]|\d{1,3}[.)]|#{1,6}|\[[ xX]\])\s+)*")
_END = Pattern(r"(?<![.!?…])[.!?…]++[\"'”’)\]*`]*+(?=\s)")
_ABBREVIATION = Pattern(
    r"(?<![^\s(:])(?:e\.?g|i\.?e|etc|vs|approx|ca|dr|mr|mrs|ms|prof|jr|sr|st|nr|inc|ltd|fig|min|max|incl"
    r"|resp|dept|est|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$",
    flags=re.IGNORECASE,
)

_INITIAL = Pattern(r"\b[A-Z][\w'’-]*\.? [A-Z]\.$")
_MONTH = Pattern(
    r"\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", flags=re.IGNORECASE
)
_NUMBER = Pattern(r"(?<![^\s(:])\d{1,2}\.$")
_LIST = Pattern(r"(?<![^\s(:])1[.)]")


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where each sentence between *start* and *end* of *text* begins and ends."""
    for first, last in _lines(text, start, len(text) if end is None else end):
        begin = first
        for match in _END.finditer(text, first, last):
            if _ABBREVIATION.search(text, max(begin, match.end() - 8), match.end()):
                continue
            if _goes_on_after(text, first, begin, match.end()):
                continue
            yield from _trimmed(text, begin, match.end())
            begin = match.end()
        yield from _trimmed(text, begin, last)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines, a wrapped line together with its rest."""
    held: tuple[int, int] | None = None
    for match in _LINE.finditer(text, start, end):
        first, last = match.span()
        if held is not None and _goes_on(text, held[1], first, last):
            held = (held[0], last)
            continue
        if held is not None:
            yield held
        held = (first, last)
    if held is not None:
        yield held


def _goes_on(text: str, before: int, first: int, last: int) -> bool:
    """Say whether the line from *first* only goes on with the sentence that ended at *before*."""
    letter = text[first : first + 1]
    wrapped = text[before - 1] not in ".!?:;…" and before + 1 == first and letter.islower()
    # Only a long line wraps; short ones are lists, commands or chat.
    return wrapped and before - text.rfind("\n", 0, before) > 60 and last > first


def _goes_on_after(text: str, line: int, begin: int, end: int) -> bool:
    """Say whether a full stop ends an initial, a day of a month, or a number of a list."""
    if _INITIAL.search(text, max(begin, end - 24), end):
        return True
    if end - begin <= 3 and text[begin:end].strip()[:1].isupper():
        return True  # it begins with an initial
    if not _NUMBER.search(text, max(begin, end - 4), end):
        return False
    return bool(_MONTH.match(text, end) or _LIST.search(text, line, end))


def _trimmed(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    marker = _MARKER.match(text, begin, end)
    begin = marker.end() if marker else begin
    end = min(end, begin + MOST_CHARS)
    while end > begin and text[end - 1].isspace():
        end -= 1
    if end > begin:
        yield begin, end
