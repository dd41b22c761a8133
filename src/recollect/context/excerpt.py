"""
The part of a long text that answers a question, as long as there is room for.

A text that fits stays whole. Of a longer one the sentences with the question's words are kept, then
their neighbours, in the order of the text, with … where something is missing; without any such word
it is the beginning. Pure; what *fits* is the caller's to say, so no budget is known here.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from recollect.text.lines import CUT, trimmed
from recollect.text.sentences import sentences
from recollect.text.words import searchable

MOST_CHARS = 100_000  # of a text that are looked at: as many as are indexed
MOST_ANCHORS = 20  # sentences with the question's words around which a text is kept
PIECE_CHARS = 300  # what has no full stop for longer than this is taken apart
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|ies|ers?|es|ly|e|s|y)$")
_SNAP_CHARS = 20  # how far a cut may move to the next space

Fits = Callable[[str], bool]


def excerpt(text: str, words: Sequence[str], fits: Fits) -> str:
    """Return what of *text* best answers a question with *words*, rarest first; '' if nothing."""
    whole = text.strip()
    if len(whole) <= MOST_CHARS and fits(whole):
        return whole
    pieces = _pieces(whole[:MOST_CHARS])
    order = _by_worth([_weight(piece, words) for piece in pieces])
    low, high = 0, len(pieces)
    while low < high:
        middle = (low + high + 1) // 2
        tried = fits(_joined(pieces, order[:middle], whole))
        low, high = (middle, high) if tried else (low, middle - 1)
    if low:
        return _joined(pieces, order[:low], whole)
    return _part_of(pieces, order[0], words, fits) if pieces else ""


def _pieces(text: str) -> list[str]:
    """Return *text* taken apart into sentences, nothing lost: joined they are the text again."""
    cuts, ended = {0, len(text)}, 0
    for start, end in sentences(text):
        # The marker of a list item stands before its sentence and belongs to it.
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


def _weight(piece: str, words: Sequence[str]) -> int:
    """Return how much of the question stands in *piece*; a rare word counts more than a common."""
    if not words:
        return 0
    here = {_root(word) for word in _WORD.findall(searchable(piece).casefold())}
    wanted = [_root(word.casefold()) for word in words]
    return sum(len(wanted) - place for place, word in enumerate(wanted) if word in here)


def _root(word: str) -> str:
    """Return *word* without its ending, near enough to know it again in another form."""
    return _ENDING.sub("", word)


def _by_worth(weights: Sequence[int]) -> list[int]:
    """Return the pieces by number, those first that are to be kept first."""
    best = max(weights, default=0)
    every = range(len(weights))
    if not best:
        return list(every)
    anchors = [at for at in every if 2 * weights[at] > best]
    anchors = sorted(anchors, key=lambda at: (-weights[at], at))[:MOST_ANCHORS]

    def remoteness(at: int) -> tuple[int, bool, int]:
        # Of two neighbours the one that follows says more.
        near = min((abs(at - anchor), at < anchor) for anchor in anchors)
        return (*near, at)

    others = set(every).difference(anchors)
    return anchors + sorted(others, key=remoteness)


def _joined(pieces: Sequence[str], chosen: Sequence[int], whole: str) -> str:
    """Return the chosen pieces in the order of the text, gaps marked."""
    kept = sorted(chosen)
    out = f"{CUT} " if kept and kept[0] > 0 else ""
    for place, at in enumerate(kept):
        if place and kept[place - 1] != at - 1:
            out = f"{out.rstrip()} {CUT} "
            out += pieces[at].lstrip()
        else:
            out += pieces[at]
    is_end = bool(kept) and kept[-1] == len(pieces) - 1 and len(whole) <= MOST_CHARS
    return out.rstrip() if is_end else f"{out.rstrip()} {CUT}"


def _part_of(pieces: Sequence[str], number: int, words: Sequence[str], fits: Fits) -> str:
    """Return as much of one piece as fits, around the rarest of *words* that is in it."""
    before = f"{CUT} " if number else ""
    after = f" {CUT}" if number + 1 < len(pieces) else ""
    line = before + " ".join(pieces[number].split()) + after
    folded = line.casefold()
    found = [folded.find(_root(word.casefold())) for word in words]
    at = next((place for place in found if 0 <= place < len(line)), 0)
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        tried = fits(trimmed(line, at, at + 1, most=middle))
        low, high = (middle, high) if tried else (low, middle - 1)
    shown = trimmed(line, at, at + 1, most=low)
    snapped = _at_spaces(shown)
    shown = snapped if fits(snapped) else shown
    return shown if shown.strip(f" {CUT}") else ""


def _at_spaces(shown: str) -> str:
    """Return *shown* without the halves of words that a cut left at its ends."""
    if shown.startswith(CUT) and 0 < (space := shown.find(" ")) <= _SNAP_CHARS:
        shown = f"{CUT} {shown[space + 1 :]}"
    if shown.endswith(CUT) and 0 < len(shown) - (space := shown.rfind(" ")) <= _SNAP_CHARS:
        shown = f"{shown[:space]} {CUT}"
    return shown
