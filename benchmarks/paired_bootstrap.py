"""
Compare two sets of scores of the same questions: the difference, and whether it is noise.

Comparing question by question removes what makes a question hard for both. The interval is a
bootstrap of the mean difference: questions are resampled with replacement 10,000 times, and the
middle 95 % of the means is the interval. If a task has four or more scopes, whole scopes are
resampled, since questions about one conversation are correlated. With few scopes that interval is
too narrow, so a difference must also be clear when questions are resampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.task_halves import LEAST_SCOPES

Numbers = npt.NDArray[np.float64]

RESAMPLES = 10_000
SEED = 20_240_101
_AT_ONCE = 500  # resamples: bounds memory, changes nothing


@dataclass(frozen=True, kw_only=True)
class Difference:
    """B less A over the questions both have, in the unit of the scores."""

    questions: int
    before: float
    after: float
    low: float
    high: float
    wins: int  # questions for which B is greater
    ties: int
    losses: int
    clear: bool  # more than noise

    @property
    def mean(self) -> float:
        return self.after - self.before


def difference(
    before: Sequence[float], after: Sequence[float], scopes: Sequence[str]
) -> Difference:
    """Compare the scores of the same questions in the same order; *scopes* says whose each is."""
    a, b = np.asarray(before, np.float64), np.asarray(after, np.float64)
    gaps = b - a
    by_question = _interval(gaps, np.arange(len(gaps)))
    names, members = np.unique(np.asarray(scopes, np.str_), return_inverse=True)
    by_scope = _interval(gaps, members) if len(names) >= LEAST_SCOPES else by_question
    return Difference(
        questions=len(gaps),
        before=float(a.mean()),
        after=float(b.mean()),
        low=by_scope[0],
        high=by_scope[1],
        wins=int((gaps > 0).sum()),
        ties=int((gaps == 0).sum()),
        losses=int((gaps < 0).sum()),
        clear=all(low > 0 or high < 0 for low, high in (by_question, by_scope)),
    )


def _interval(gaps: Numbers, members: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Return the middle 95 % of the mean when groups are drawn; `members` says which each is in."""
    sums, sizes = np.bincount(members, weights=gaps), np.bincount(members).astype(np.float64)
    if not gaps.any():
        return 0.0, 0.0
    random = np.random.default_rng(SEED)
    means = []
    for _ in range(RESAMPLES // _AT_ONCE):
        drawn = random.integers(len(sums), size=(_AT_ONCE, len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return float(low), float(high)
