"""
Order candidates: relevance first, then what lifts one among equals, then a fixed tie-break.

Scope, recency and confidence together weigh a few hundredths: enough to decide between equally
relevant memories, too little to put a weak one before a strong one. Ties go to the newer memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memory import HALF_LIFE
from recollect.domain.retrieval import Parts
from recollect.domain.scope import Scope
from recollect.retrieval.candidates import Candidate
from recollect.retrieval.fuse import Relevance, similarity

LIFT = {"scope": 0.02, "recency": 0.02, "confidence": 0.02}
NEARNESS_OF_SCOPE = {
    Scope.SESSION: 1.0,
    Scope.AGENT: 1.0,
    Scope.REPO: 1.0,
    Scope.PROJECT: 1.0,
    Scope.GLOBAL: 0.5,
}
FROM_ELSEWHERE = 0.9  # a memory of another project counts a little less than one at home

LEAST_COVERAGE = 0.2  # of the question's weight in words, for a candidate that is far in meaning
LEAST_SIMILARITY = 0.25  # for a candidate that shares few words with the question


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score and the parts of it."""

    candidate: Candidate
    score: float
    parts: Parts


def rank(
    candidates: Sequence[Candidate], relevances: Sequence[Relevance], asked_at: datetime
) -> list[Ranked]:
    """Return *candidates* above the bar, best first, always in the same order."""
    ranked = [
        _scored(candidate, relevance, asked_at)
        for candidate, relevance in zip(candidates, relevances, strict=True)
        if above_bar(candidate)
    ]
    return sorted(ranked, key=_order)


def above_bar(candidate: Candidate) -> bool:
    """Say whether a candidate has enough to do with the question to be shown at all."""
    cosine = similarity(candidate)
    if cosine is None or candidate.reached == "linked":
        return candidate.words is not None  # a link is somebody's word that it matters here
    return cosine >= LEAST_SIMILARITY or candidate.coverage >= LEAST_COVERAGE


def _scored(candidate: Candidate, relevance: Relevance, asked_at: datetime) -> Ranked:
    standing = candidate.standing
    age = max((asked_at - standing.observed_at).total_seconds(), 0.0)
    recency = 0.5 ** (age / HALF_LIFE[standing.type].total_seconds())
    fused = relevance.fused * (1.0 if candidate.reached == "visible" else FROM_ELSEWHERE)
    parts = Parts(
        keyword=_rounded(relevance.keyword),
        semantic=_rounded(relevance.semantic),
        relevance=_rounded(fused),
        scope=NEARNESS_OF_SCOPE[standing.owner.scope] if candidate.reached == "visible" else 0.0,
        recency=_rounded(recency),
        confidence=_rounded(standing.confidence),
    )
    lift = sum(weight * getattr(parts, name) for name, weight in LIFT.items())
    score = (1 - sum(LIFT.values())) * fused + lift
    return Ranked(candidate, _rounded(score), parts)


def _order(ranked: Ranked) -> tuple[float, float, int]:
    standing = ranked.candidate.standing
    return (-ranked.score, -standing.observed_at.timestamp(), -standing.seq)


def _rounded(value: float) -> float:
    # Six places: beyond that floating-point sums may differ between machines.
    return round(value, 6)
