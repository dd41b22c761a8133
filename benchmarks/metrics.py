"""
Scores of one ranking (between 0 and 1), and means over many (in per cent).

R@k is the share of gold among the first k; any@k is 1 if at least one is there, all@k if every one
is. nDCG is binary. MRR looks at the first 50 results. P@k is the share of gold among the results, k
at most; it is 0 if nothing was returned, since every question here has an answer.
"""

from collections.abc import Mapping, Sequence
from math import ceil, log2

DEPTH = 50
METRICS = ("R@1", "R@5", "R@10", "any@5", "all@5", "all@10", "nDCG@10", "MRR")
PRECISION = ("P@5", "P@10")
STALE = "stale above"


def scores(ranked: Sequence[str], gold: frozenset[str]) -> dict[str, float]:
    """Return every metric of METRICS and PRECISION for one question."""
    return {
        "R@1": recall(ranked, gold, 1),
        "R@5": recall(ranked, gold, 5),
        "R@10": recall(ranked, gold, 10),
        "any@5": float(recall(ranked, gold, 5) > 0),
        "all@5": float(recall(ranked, gold, 5) == 1),
        "all@10": float(recall(ranked, gold, 10) == 1),
        "nDCG@10": ndcg(ranked, gold, 10),
        "MRR": reciprocal_rank(ranked, gold),
        "P@5": precision(ranked, gold, 5),
        "P@10": precision(ranked, gold, 10),
    }


def recall(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the share of *gold* among the first *k*."""
    return len(gold.intersection(ranked[:k])) / len(gold)


def precision(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the share of *gold* among what was returned, *k* at most."""
    returned = ranked[:k]
    return len(gold.intersection(returned)) / len(returned) if returned else 0.0


def ndcg(ranked: Sequence[str], gold: frozenset[str], k: int) -> float:
    """Return the discounted gain of the first *k* as a share of the best there could be."""
    gain = sum(1 / log2(place + 2) for place, item in enumerate(ranked[:k]) if item in gold)
    best = sum(1 / log2(place + 2) for place in range(min(len(gold), k)))
    return gain / best


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """Return one over the place of the first gold item, 0 if there is none in DEPTH."""
    place = first_place(ranked[:DEPTH], gold)
    return 0.0 if place is None else 1 / (place + 1)


def stale_above(ranked: Sequence[str], gold: frozenset[str], stale: frozenset[str]) -> float | None:
    """Say (1 or 0) whether a stale item stands above the best gold; None if nothing is stale."""
    if not stale:
        return None
    old, current = first_place(ranked, stale), first_place(ranked, gold)
    return float(old is not None and (current is None or old < current))


def first_place(ranked: Sequence[str], targets: frozenset[str]) -> int | None:
    """Return where the first of *wanted* stands, counted from 0."""
    return next((place for place, item in enumerate(ranked) if item in targets), None)


def in_per_cent(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every metric over the questions that have it, in per cent."""
    means = {}
    for name in (*METRICS, *PRECISION, STALE):
        values = [scores[name] for scores in each if name in scores]
        if values:
            means[name] = 100 * sum(values) / len(values)
    return means


def percentile(values: Sequence[float], per_cent: float) -> float:
    """Return the smallest value that *per_cent* of the values do not exceed."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[max(ceil(len(ordered) * per_cent / 100) - 1, 0)]
