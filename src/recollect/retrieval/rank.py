"""
Order candidates: relevance first, then what lifts one among equals, then a fixed tie-break.

Scope, recency and confidence together weigh a few hundredths: enough to decide between equally
relevant memories, too little to put a weak one before a strong one. Ties go to the newer memory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memory import HALF_LIFE
from recollect.domain.retrieval import Parts
from recollect.domain.scope import Scope
from recollect.retrieval.candidates import Candidate
from recollect.retrieval.fuse import Relevance
from recollect.store.values import Standing

LIFT = 0.02  # the weight of scope, of recency and of confidence, each
FROM_ELSEWHERE = 0.9  # a memory of another project counts a little less than one at home


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score, and what the score is made of."""

    candidate: Candidate[Standing]
    score: float
    relevance: Relevance
    recency: float
    in_time: bool = False  # observed at the time the question names

    @property
    def parts(self) -> Parts:
        """The score, taken apart. Only for those that are shown: most candidates are not."""
        return Parts(
            keyword=_rounded(self.relevance.keyword),
            semantic=_rounded(self.relevance.semantic),
            relevance=_rounded(self.relevance.fused * _at_home(self.candidate)),
            scope=_scope(self.candidate),
            recency=_rounded(self.recency),
            confidence=_rounded(self.candidate.standing.confidence),
        )


def rank(
    candidates: Sequence[Candidate[Standing]],
    relevances: Sequence[Relevance],
    asked_at: datetime,
    *,
    admits: Callable[[Candidate[Standing]], bool],
) -> list[Ranked]:
    """Return the *candidates* that *admits* passes, best first, always in the same order."""
    ranked = [
        _scored(candidate, relevance, asked_at)
        for candidate, relevance in zip(candidates, relevances, strict=True)
        if admits(candidate)
    ]
    return sorted(ranked, key=_order)


def _scored(candidate: Candidate[Standing], relevance: Relevance, asked_at: datetime) -> Ranked:
    standing = candidate.standing
    age = max((asked_at - standing.observed_at).total_seconds(), 0.0)
    recency = 0.5 ** (age / HALF_LIFE[standing.type].total_seconds())
    lift = LIFT * (_scope(candidate) + recency + standing.confidence)
    score = (1 - 3 * LIFT) * relevance.fused * _at_home(candidate) + lift
    return Ranked(candidate, _rounded(score), relevance, recency)


def _at_home(candidate: Candidate[Standing]) -> float:
    return 1.0 if candidate.reached == "visible" else FROM_ELSEWHERE


def _scope(candidate: Candidate[Standing]) -> float:
    if candidate.reached != "visible":
        return 0.0
    return 0.5 if candidate.standing.owner.scope is Scope.GLOBAL else 1.0


def _order(ranked: Ranked) -> tuple[float, float, int]:
    standing = ranked.candidate.standing
    return (-ranked.score, -standing.observed_at.timestamp(), -standing.seq)


def _rounded(value: float) -> float:
    # Six places: beyond that floating-point sums may differ between machines.
    return round(value, 6)
