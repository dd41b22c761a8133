"""
Cut a long text to the part that matches a query.

A text that fits is returned whole. Of a longer one, the sentences with the query's words are kept,
then their neighbours, in the order of the text, with … for each gap. If no word matches, the
beginning is returned. Pure; the caller's *fits* decides what fits. `relevant_sentences` leaves out
what a long text says about other things, however much would fit.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from recollect.text.line_windows import ELLIPSIS, trim_line
from recollect.text.search_words import searchable_text
from recollect.text.sentence_splitter import sentence_spans

MAX_CHARS = 100_000  # only this much of a text is searched, as in the index
LONG_CHARS = 300  # a longer text is told in part
MAX_ANCHORS = 20  # matching sentences around which text is kept
PIECE_CHARS = 300  # longer text without a full stop is split
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|ies|ers?|es|ly|e|s|y)$")
_SNAP_CHARS = 20  # how far a cut may move to a space

Fits = Callable[[str], bool]


def excerpt(text: str, words: Sequence[str], fits: Fits) -> str:
    """Return the part of *text* that best matches *words*, rarest first, or '' if nothing fits."""
    whole = text.strip()
    if len(whole) <= MAX_CHARS and fits(whole):
        return whole
    pieces = _pieces(whole[:MAX_CHARS])
    order = _rank_pieces([_query_weight(piece, words) for piece in pieces])
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high + 1) // 2
        is_fitting = fits(_join_pieces(pieces, order[:middle], whole))
        low, high = (middle, high) if is_fitting else (low, middle - 1)
    if low:
        return _join_pieces(pieces, order[:low], whole)
    return _cut_piece(pieces, order[0], words, fits) if pieces else ""


def relevant_sentences(text: str, words: Sequence[str]) -> str:
    """Return *text*; if it is long, only the sentences with *words*, each with the next one."""
    whole = text.strip()
    if len(whole) <= LONG_CHARS or not words:
        return whole
    pieces = _pieces(whole[:MAX_CHARS])
    weights = [_query_weight(piece, words) for piece in pieces]
    if not any(weights):
        return whole
    anchors = _anchors(weights)
    chosen = {index for anchor in anchors for index in (anchor, anchor + 1)}
    return _join_pieces(pieces, [index for index in chosen if index < len(pieces)], whole)


def _pieces(text: str) -> list[str]:
    """Split *text* into sentences; joined they are the text again."""
    cuts, ended = {0, len(text)}, 0
    for start, end in sentence_spans(text):
        # The marker of a list item belongs to the sentence after it.
        line = text.rfind("\n", ended, start) + 1
        cuts.add(line or start)
        ended = end
    pieces = []
    for start, end in pairwise(sorted(cuts)):
        while end - start > PIECE_CHARS:
            space = text.rfind(" ", start + PIECE_CHARS // 2, start + PIECE_CHARS)
            middle = space + 1 if space > 0 else start + PIECE_CHARS
            pieces.append(text[start:middle])
            start = middle
        pieces.append(text[start:end])
    return pieces


def _query_weight(piece: str, words: Sequence[str]) -> int:
    """Return how well *piece* matches the query; a rare word weighs more than a common one."""
    if not words:
        return 0
    piece_words = {_root(word) for word in _WORD.findall(searchable_text(piece).casefold())}
    query_words = [_root(word.casefold()) for word in words]
    weights = enumerate(reversed(query_words), start=1)
    return sum(weight for weight, word in weights if word in piece_words)


def _root(word: str) -> str:
    """Return *word* without its ending: a rough stem."""
    return _ENDING.sub("", word)


def _rank_pieces(weights: Sequence[int]) -> list[int]:
    """Return the numbers of the pieces, most important first."""
    best = max(weights, default=0)
    every = range(len(weights))
    if not best:
        return list(every)
    anchors = _anchors(weights)

    def remoteness(index: int) -> tuple[int, bool, int]:
        # Of two neighbours the following one is more useful.
        distance = min((abs(index - anchor), index < anchor) for anchor in anchors)
        return (*distance, index)

    others = set(every).difference(anchors)
    return anchors + sorted(others, key=remoteness)


def _anchors(weights: Sequence[int]) -> list[int]:
    """Return the numbers of the pieces that match about as well as the best one, best first."""
    best = max(weights)
    matching = [index for index, weight in enumerate(weights) if 2 * weight > best]
    return sorted(matching, key=lambda index: (-weights[index], index))[:MAX_ANCHORS]


def _join_pieces(pieces: Sequence[str], chosen: Sequence[int], whole: str) -> str:
    """Return the chosen pieces in the order of the text, with gaps marked."""
    numbers = sorted(chosen)
    out = f"{ELLIPSIS} " if numbers and numbers[0] > 0 else ""
    for position, number in enumerate(numbers):
        if position and numbers[position - 1] != number - 1:
            out = f"{out.rstrip()} {ELLIPSIS} "
            out += pieces[number].lstrip()
        else:
            out += pieces[number]
    is_end = bool(numbers) and numbers[-1] == len(pieces) - 1 and len(whole) <= MAX_CHARS
    return out.rstrip() if is_end else f"{out.rstrip()} {ELLIPSIS}"


def _cut_piece(pieces: Sequence[str], number: int, words: Sequence[str], fits: Fits) -> str:
    """Return as much of one piece as fits, around the rarest word that it contains."""
    before = f"{ELLIPSIS} " if number else ""
    after = f" {ELLIPSIS}" if number + 1 < len(pieces) else ""
    line = before + " ".join(pieces[number].split()) + after
    folded = line.casefold()
    offsets = [folded.find(_root(word.casefold())) for word in words]
    start = next((offset for offset in offsets if 0 <= offset < len(line)), 0)
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        is_fitting = fits(trim_line(line, start, start + 1, max_chars=middle))
        low, high = (middle, high) if is_fitting else (low, middle - 1)
    cut = trim_line(line, start, start + 1, max_chars=low)
    snapped = _snap_to_spaces(cut)
    cut = snapped if fits(snapped) else cut
    return cut if cut.strip(f" {ELLIPSIS}") else ""


def _snap_to_spaces(text: str) -> str:
    """Return *text* without partial words at its cut ends."""
    if text.startswith(ELLIPSIS) and 0 < (space := text.find(" ")) <= _SNAP_CHARS:
        text = f"{ELLIPSIS} {text[space + 1 :]}"
    if text.endswith(ELLIPSIS) and 0 < len(text) - (space := text.rfind(" ")) <= _SNAP_CHARS:
        text = f"{text[:space]} {ELLIPSIS}"
    return text
