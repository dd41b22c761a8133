"""
Split a text into sentences and return their positions.

People write chats without capitals and full stops, so a sentence ends at `.`, `!`, `?` or `…`
before a space, at `。`, `！` or `？`, or at the end of its line. A wrapped line continues the
sentence of the line before.
Abbreviations, initials, numbers, versions, paths and addresses do not end a sentence.
"""

import re
from collections.abc import Iterator

from recollect.text.language_data import ENGLISH, detect_language, load_language
from recollect.text.lazy_pattern import LazyPattern

MAX_CHARS = 1_000  # a longer sentence is truncated, which bounds the time of the rules

_LINE = LazyPattern(r"[^\n]+")
_LIST_MARKER = LazyPattern(r"\s*(?:(?:[-*•+]|\d{1,3}[.)]|#{1,6}|\[[ xX]\])\s+)*")
# Chinese and Japanese have no space after a full stop.
_SENTENCE_END = LazyPattern(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]*`]*+(?=\s)|(?<![。！？])[。！？]++[」』”）)]*+"
)
_LAST_WORD = LazyPattern(r"(?<![^\s(:])([^\W\d_][\w.-]{0,12})\.$")

_INITIAL = LazyPattern(r"\b[A-Z][\w'’-]*\.? [A-Z]\.$")
_MONTH = LazyPattern(
    r"\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", flags=re.IGNORECASE
)
_NUMBER = LazyPattern(r"(?<![^\s(:])\d{1,2}\.$")
_LIST = LazyPattern(r"(?<![^\s(:])1[.)]")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence between *start* and *end* of *text*."""
    for first, last in _lines(text, start, len(text) if end is None else end):
        begin = first
        for match in _SENTENCE_END.finditer(text, first, last):
            if _is_abbreviation(text, begin, match.end()):
                continue
            if _is_not_sentence_end(text, first, begin, match.end()):
                continue
            yield from _trim_span(text, begin, match.end())
            begin = match.end()
        yield from _trim_span(text, begin, last)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the start and end of each line, with wrapped lines joined."""
    lines: list[tuple[int, int]] = []
    for match in _LINE.finditer(text, start, end):
        first, last = match.span()
        if lines and _is_wrapped_line(text, lines[-1][1], first, last):
            lines[-1] = (lines[-1][0], last)
        else:
            lines.append((first, last))
    return lines


def _is_wrapped_line(text: str, before: int, first: int, last: int) -> bool:
    """Return whether the line from *first* continues the line that ended at *before*."""
    letter = text[first : first + 1]
    wrapped = text[before - 1] not in ".!?:;…" and before + 1 == first and letter.islower()
    # Only a long line wraps; short ones are lists, commands or chat.
    return wrapped and before - text.rfind("\n", 0, before) > 60 and last > first


def _is_abbreviation(text: str, begin: int, end: int) -> bool:
    """Return whether the word that ends at *end* is an abbreviation in the language of *text*."""
    match = _LAST_WORD.search(text, max(begin, end - 15), end)
    if match is None:
        return False
    word = match[1].lower()
    if word in load_language(ENGLISH).abbreviations:
        return True
    return word in detect_language(text).abbreviations


def _is_not_sentence_end(text: str, line: int, begin: int, end: int) -> bool:
    """Return whether a full stop belongs to an initial, a day of a month, or a list number."""
    if _INITIAL.search(text, max(begin, end - 24), end):
        return True
    if end - begin <= 3 and text[begin:end].strip()[:1].isupper():
        return True  # it begins with an initial
    if not _NUMBER.search(text, max(begin, end - 4), end):
        return False
    return bool(_MONTH.match(text, end) or _LIST.search(text, line, end))


def _trim_span(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    marker = _LIST_MARKER.match(text, begin, end)
    begin = marker.end() if marker else begin
    end = min(end, begin + MAX_CHARS)
    while end > begin and text[end - 1].isspace():
        end -= 1
    if end > begin:
        yield begin, end
