"""
Fuse the two legs into one relevance between 0 and 1.

Ranks throw away how sure a leg is, and equal-weight rank fusion drifts to the mean of its legs
(docs/retrieval.md). Scores are fused instead, each brought to a scale on which a difference means
something:

words    BM25 as a share of the best match there is.
meaning  cosine of the nearest piece, less what having many pieces gives by chance, squared:
         differences between near items matter, those between far ones do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

from recollect.retrieval.candidates import Candidate

WORDS_SHARE = 0.3  # of relevance; meaning has the rest
NEARNESS_POWER = 2.0
PIECE_PENALTY = 0.04  # per doubling of pieces: the best of many is high by chance


@dataclass(frozen=True)
class Relevance:
    """What each leg says, on one scale, and both fused."""

    keyword: float
    semantic: float
    fused: float


def fuse(candidates: Sequence[Candidate[Any]]) -> list[Relevance]:
    """Return the relevance of each candidate, in order."""
    words = _word_scores(candidates)
    nearness = [_nearness(candidate) for candidate in candidates]
    known = [value for value in nearness if value is not None]
    if not known:
        return [Relevance(keyword, 0.0, keyword) for keyword in words]
    # An item not embedded yet is neither near nor far: it gets what matching items have on average.
    matching = [n for n, w in zip(nearness, words, strict=True) if n is not None and w > 0]
    unknown = sum(matching or known) / len(matching or known)
    fused = []
    for keyword, near in zip(words, nearness, strict=True):
        semantic = unknown if near is None else near
        value = WORDS_SHARE * keyword + (1 - WORDS_SHARE) * semantic
        fused.append(Relevance(keyword, 0.0 if near is None else near, value))
    return fused


def _word_scores(candidates: Sequence[Candidate[Any]]) -> list[float]:
    scores = [candidate.words.score if candidate.words else 0.0 for candidate in candidates]
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


def similarity(candidate: Candidate[Any]) -> float | None:
    """Return the cosine of the nearest piece, made fair to items of one piece."""
    if candidate.near is None:
        return None
    return candidate.near.similarity - PIECE_PENALTY * log2(max(candidate.near.chunks, 1))


def _nearness(candidate: Candidate[Any]) -> float | None:
    cosine = similarity(candidate)
    return None if cosine is None else min(max(cosine, 0.0), 1.0) ** NEARNESS_POWER
