"""
Order candidates by relevance, then by scope, recency and confidence, then by a fixed tie-break.

Scope, recency and confidence together weigh a few hundredths: enough to decide between equally
relevant memories, too little to put a weak one before a strong one. Ties go to the newer memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memory import HALF_LIFE
from recollect.domain.retrieval import Parts
from recollect.domain.scope import Scope
from recollect.retrieval.score_fusion import Relevance
from recollect.retrieval.search_candidates import Candidate
from recollect.store.values import CandidateRow

TIEBREAK_WEIGHT = 0.02  # of scope, of recency and of confidence, each
OTHER_PROJECT_FACTOR = 0.9  # on the relevance of a memory of another project

MemoryCandidate = Candidate[CandidateRow]


@dataclass(frozen=True)
class RankedMemory:
    """A candidate with its score and the parts of the score."""

    candidate: MemoryCandidate
    score: float
    relevance: Relevance
    recency: float
    in_time: bool = False  # observed at the time the query names

    @property
    def parts(self) -> Parts:
        """The parts of the score. Computed on demand: most candidates are not returned."""
        return Parts(
            keyword=_round(self.relevance.keyword),
            semantic=_round(self.relevance.semantic),
            relevance=_round(self.relevance.fused * _project_factor(self.candidate)),
            scope=_scope_score(self.candidate),
            recency=_round(self.recency),
            confidence=_round(self.candidate.item.confidence),
        )


def rank(
    candidates: Sequence[MemoryCandidate],
    relevances: Sequence[Relevance],
    asked_at: datetime,
    *,
    admits: Callable[[MemoryCandidate], bool],
) -> list[RankedMemory]:
    """Return the *candidates* that *admits* accepts, best first, always in the same order."""
    ranked = [
        _score(candidate, relevance, asked_at)
        for candidate, relevance in zip(candidates, relevances, strict=True)
        if admits(candidate)
    ]
    return sorted(ranked, key=_sort_key)


def _score(candidate: MemoryCandidate, relevance: Relevance, asked_at: datetime) -> RankedMemory:
    row = candidate.item
    age_s = max((asked_at - row.observed_at).total_seconds(), 0.0)
    recency = 0.5 ** (age_s / HALF_LIFE[row.type].total_seconds())
    tiebreak = TIEBREAK_WEIGHT * (_scope_score(candidate) + recency + row.confidence)
    score = (1 - 3 * TIEBREAK_WEIGHT) * relevance.fused * _project_factor(candidate) + tiebreak
    return RankedMemory(candidate, _round(score), relevance, recency)


def _project_factor(candidate: MemoryCandidate) -> float:
    return 1.0 if candidate.reached == "visible" else OTHER_PROJECT_FACTOR


def _scope_score(candidate: MemoryCandidate) -> float:
    if candidate.reached != "visible":
        return 0.0
    return 0.5 if candidate.item.owner.scope is Scope.GLOBAL else 1.0


def _sort_key(ranked: RankedMemory) -> tuple[float, float, int]:
    row = ranked.candidate.item
    return (-ranked.score, -row.observed_at.timestamp(), -row.item_id)


def _round(value: float) -> float:
    # Six places: beyond that floating-point sums may differ between machines.
    return round(value, 6)
