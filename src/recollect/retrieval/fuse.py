"""
Fuse the two legs into one relevance between 0 and 1.

Ranks throw away how sure a leg is, and equal-weight rank fusion drifts to the mean of its legs
(docs/retrieval.md). Scores are fused instead, each on a scale on which a difference means
something, and each leg says how far it can be trusted:

meaning  by how many spreads an item's nearest piece is nearer than items here usually are. What is
         near for one model or one store is far for another; the spread says which. An item of many
         pieces has to be nearer, since the best of many is near by chance.
words    BM25 as a share of the best match, times how far the best match stands out: where ten
         items match about equally well, words do not tell them apart. An item of many pieces, where
         others are short, has words in common by chance: its share counts for less.
before   the same for what was said just before an item: an answer leaves out what was asked. What
         has many pieces leaves out less, and leans less on it.
beside   what stands next to one of the best is lifted a little: an answer has several parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

from recollect.retrieval.candidates import Candidate
from recollect.store.values import Backdrop

# Chosen on the tasks of benchmarks/; how, and what confirms them, is in docs/retrieval.md.
MEANING = 0.05  # for each spread
WORDS = 0.29
STEEPER = 1.3  # power of the share: what matches half as well counts for less than half
LENGTHENED = 0.3  # power of an item's length, as so many times that of the short ones here
SHORT = 0.25  # share of the items that are at most as long as a short one
BEFORE = 0.15
BESIDE = 0.022  # for each neighbour among the best
BEST = 10
PIECE_PENALTY = 0.5  # spreads for each doubling of pieces: the best of n lies so much higher
LEAST_TRUST = 0.2  # in words, where many items match equally well
STANDS_OUT_FROM = 10  # the best match is compared with the one at this place


@dataclass(frozen=True)
class Relevance:
    """What each leg says, on one scale, and both fused."""

    keyword: float
    semantic: float
    fused: float


def fuse(
    candidates: Sequence[Candidate[Any]],
    backdrop: Backdrop,
    *,
    lifts: Sequence[float] | None = None,
) -> list[Relevance]:
    """Return the relevance of each candidate, in order; *lifts* add to it."""
    words, best, trust = _words(candidates)
    pieces = _pieces(candidates)
    short = sorted(pieces)[int(SHORT * len(pieces))] if pieces else 1.0
    told = [
        trust
        * (
            WORDS * keyword**STEEPER / max(count / short, 1.0) ** LENGTHENED
            + BEFORE * (one.before / (best * count) if best else 0.0)
        )
        for one, keyword, count in zip(candidates, words, pieces, strict=True)
    ]
    if lifts is not None:
        told = [value + lift for value, lift in zip(told, lifts, strict=True)]
    nearness = [_nearness(candidate, backdrop) for candidate in candidates]
    known = [value for value in nearness if value is not None]
    if not known:
        told = _with_neighbours(candidates, told)
        highest = max(told, default=0.0)
        scale = 1 / highest if highest > 0 else 0.0
        return [Relevance(w, 0.0, t * scale) for w, t in zip(words, told, strict=True)]
    # An item not embedded yet is neither near nor far: it gets what matching items have on average.
    matching = [n for n, w in zip(nearness, words, strict=True) if n is not None and w > 0]
    unknown = sum(matching or known) / len(matching or known)
    fused = [
        value + MEANING * (unknown if near is None else near)
        for value, near in zip(told, nearness, strict=True)
    ]
    return [
        Relevance(
            keyword,
            min(max(one.near.similarity, 0.0), 1.0) if one.near else 0.0,
            min(max(value, 0.0), 1.0),
        )
        for one, keyword, value in zip(
            candidates, words, _with_neighbours(candidates, fused), strict=True
        )
    ]


def _with_neighbours(candidates: Sequence[Candidate[Any]], values: list[float]) -> list[float]:
    """Return *values*, higher for what stands next to one of the best."""
    order = sorted(range(len(values)), key=lambda place: (-values[place], -_seq(candidates[place])))
    best = [candidates[place] for place in order[:BEST]]
    top = {_seq(one) for one in best}
    followed = {one.follows for one in best}
    return [
        value + BESIDE * ((one.follows in top) + (_seq(one) in followed))
        for one, value in zip(candidates, values, strict=True)
    ]


def _seq(candidate: Candidate[Any]) -> int:
    return int(candidate.standing.seq)


def _words(candidates: Sequence[Candidate[Any]]) -> tuple[list[float], float, float]:
    """Return the share of the best match each has, the best, and how far it stands out."""
    scores = [candidate.words.score if candidate.words else 0.0 for candidate in candidates]
    in_order = sorted(scores, reverse=True)
    best = in_order[0] if in_order else 0.0
    if best <= 0:
        return [0.0] * len(scores), 0.0, 0.0
    others = in_order[STANDS_OUT_FROM - 1] if len(in_order) >= STANDS_OUT_FROM else 0.0
    trust = LEAST_TRUST + (1 - LEAST_TRUST) * (1 - others / best)
    return [score / best for score in scores], best, trust


def _nearness(candidate: Candidate[Any], backdrop: Backdrop) -> float | None:
    if candidate.near is None:
        return None
    spreads = (candidate.near.similarity - backdrop.mean) / backdrop.spread
    return spreads - PIECE_PENALTY * log2(max(candidate.near.chunks, 1))


def _pieces(candidates: Sequence[Candidate[Any]]) -> list[float]:
    """Return of how many pieces each is; one not embedded yet counts as the others on average."""
    known = [max(one.near.chunks, 1) for one in candidates if one.near]
    usual = sum(known) / len(known) if known else 1.0
    return [float(max(one.near.chunks, 1)) if one.near else usual for one in candidates]
