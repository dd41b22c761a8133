"""
Fuse the scores of the word index and of the vector index into one relevance between 0 and 1.

Rank fusion loses how certain each index is, and with equal weights it drifts to the mean of the two
(docs/how-it-works/retrieval.md). So scores are fused, each on a scale on which a difference means
something, and each weighted by how far it can be trusted:

vectors     the similarity of an item's best chunk, in standard deviations above the mean similarity
            of the store. Models and stores differ in what is similar; the deviation accounts for
            that. An item of many chunks needs more: the best of many is similar by chance.
words       BM25 as a share of the best match, times how far the best match stands out: if ten items
            match about equally well, words do not distinguish them. An item of many chunks among
            short ones shares words by chance: its share counts for less.
preceding   the word score of the item just before: an answer leaves out the words of its question.
            An item of many chunks leaves out less, so this counts for less.
neighbours  an item next to one of the best gets a small bonus: an answer may have several parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

from recollect.retrieval.search_candidates import Candidate
from recollect.store.values import SimilarityStats

# Chosen on the tasks of benchmarks/; docs/how-it-works/retrieval.md says how.
VECTOR_WEIGHT = 0.05  # for each standard deviation
WORD_WEIGHT = 0.29
WORD_SHARE_POWER = 1.3  # half of the best BM25 counts for less than half
LENGTH_POWER = 0.3  # of an item's length, relative to the short items among the candidates
SHORT_QUANTILE = 0.25  # share of the candidates that are at most as long as a short one
PRECEDING_WEIGHT = 0.15
NEIGHBOUR_BONUS = 0.022  # for each neighbour among the best
TOP = 10  # how many count as the best
CHUNK_PENALTY = 0.5  # standard deviations for each doubling of chunks
MIN_WORD_TRUST = 0.2  # if many items match equally well
TRUST_RANK = 10  # the best match is compared with the one at this rank


@dataclass(frozen=True)
class Relevance:
    """The scores of both indexes on one scale, and the fused score."""

    keyword: float
    semantic: float
    fused: float


def fuse_scores(
    candidates: Sequence[Candidate[Any]],
    similarity_stats: SimilarityStats,
    *,
    bonuses: Sequence[float] | None = None,
) -> list[Relevance]:
    """Return the relevance of each candidate, in order; *bonuses* are added to it."""
    shares, best_score, trust = _word_shares(candidates)
    chunk_counts = _chunk_counts(candidates)
    short = sorted(chunk_counts)[int(SHORT_QUANTILE * len(chunk_counts))] if chunk_counts else 1.0
    scores = [
        trust
        * (
            WORD_WEIGHT * share**WORD_SHARE_POWER / max(chunks / short, 1.0) ** LENGTH_POWER
            + PRECEDING_WEIGHT * (c.preceding_score / (best_score * chunks) if best_score else 0.0)
        )
        for c, share, chunks in zip(candidates, shares, chunk_counts, strict=True)
    ]
    if bonuses is not None:
        scores = [score + bonus for score, bonus in zip(scores, bonuses, strict=True)]
    deviations = [_deviation(candidate, similarity_stats) for candidate in candidates]
    measured = [value for value in deviations if value is not None]
    if not measured:
        scores = _add_neighbour_bonus(candidates, scores)
        highest = max(scores, default=0.0)
        scale = 1 / highest if highest > 0 else 0.0
        return [Relevance(w, 0.0, score * scale) for w, score in zip(shares, scores, strict=True)]
    # An item not embedded yet gets the mean of the items that match words.
    matching = [d for d, w in zip(deviations, shares, strict=True) if d is not None and w > 0]
    mean = sum(matching or measured) / len(matching or measured)
    scores = [
        score + VECTOR_WEIGHT * (mean if value is None else value)
        for score, value in zip(scores, deviations, strict=True)
    ]
    scores = _add_neighbour_bonus(candidates, scores)
    return [
        Relevance(share, _similarity(candidate), min(max(score, 0.0), 1.0))
        for candidate, share, score in zip(candidates, shares, scores, strict=True)
    ]


def _add_neighbour_bonus(candidates: Sequence[Candidate[Any]], scores: list[float]) -> list[float]:
    """Return *scores*, higher for items next to one of the best."""
    order = sorted(range(len(scores)), key=lambda n: (-scores[n], -candidates[n].item.item_id))
    best = [candidates[n] for n in order[:TOP]]
    best_ids = {candidate.item.item_id for candidate in best}
    preceding_ids = {candidate.preceding_item for candidate in best}
    return [
        score
        + NEIGHBOUR_BONUS * ((c.preceding_item in best_ids) + (c.item.item_id in preceding_ids))
        for c, score in zip(candidates, scores, strict=True)
    ]


def _word_shares(candidates: Sequence[Candidate[Any]]) -> tuple[list[float], float, float]:
    """Return each BM25 as a share of the best one, the best one, and the trust in words."""
    scores = [match.score if (match := candidate.word_match) else 0.0 for candidate in candidates]
    descending = sorted(scores, reverse=True)
    best = descending[0] if descending else 0.0
    if best <= 0:
        return [0.0] * len(scores), 0.0, 0.0
    others = descending[TRUST_RANK - 1] if len(descending) >= TRUST_RANK else 0.0
    trust = MIN_WORD_TRUST + (1 - MIN_WORD_TRUST) * (1 - others / best)
    return [score / best for score in scores], best, trust


def _deviation(candidate: Candidate[Any], stats: SimilarityStats) -> float | None:
    """Return the standard deviations above the mean similarity, less the chunk penalty."""
    match = candidate.vector_match
    if match is None:
        return None
    deviation = (match.similarity - stats.mean) / stats.stdev
    return deviation - CHUNK_PENALTY * log2(max(match.chunk_count, 1))


def _similarity(candidate: Candidate[Any]) -> float:
    match = candidate.vector_match
    return min(max(match.similarity, 0.0), 1.0) if match else 0.0


def _chunk_counts(candidates: Sequence[Candidate[Any]]) -> list[float]:
    """Return the number of chunks of each; for one not embedded yet, the mean of the others."""
    counts = [
        max(match.chunk_count, 1) if (match := candidate.vector_match) else None
        for candidate in candidates
    ]
    measured = [count for count in counts if count is not None]
    mean = sum(measured) / len(measured) if measured else 1.0
    return [mean if count is None else float(count) for count in counts]
