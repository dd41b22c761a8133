"""
The judge of pairs: how likely a later statement changes what an earlier one says.

A linear model over the features of a pair (pair_features.py) and over how the earlier statement
compares with the others that might be meant (neighbourhood_features.py). Trained on the statements
of invented people and on labelled pairs (benchmarks/judges, results in
benchmarks/results/judges.md). Consolidation links what probably changes, and supersedes nothing
because of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from recollect.engine.judges.linear_model import LinearHead, read_heads, sigmoid
from recollect.engine.judges.neighbourhood_features import (
    EarlierStatement,
    neighbourhood_features,
)
from recollect.engine.judges.pair_features import PairFeatures, pair_features

WEIGHTS = Path(__file__).with_name("pairs.weights")
CHANGE = "change"
MIN_CHANGE = 0.22  # from here on two statements are linked; see benchmarks/results/judges.md


def change_probabilities(later: str, earlier: Sequence[EarlierStatement]) -> list[float]:
    """Return for each of *earlier* the probability that *later* updates or corrects it."""
    head = _heads()[CHANGE]
    return [
        sigmoid(head.score(features.words, features.dense))
        for features in features_of_pairs(later, earlier)
    ]


def features_of_pairs(later: str, earlier: Sequence[EarlierStatement]) -> list[PairFeatures]:
    """Return the features of *later* with each of *earlier*."""
    features = []
    neighbourhood = neighbourhood_features(later, earlier)
    for statement, compared in zip(earlier, neighbourhood, strict=True):
        pair = pair_features(statement.text, later, statement.similarity)
        features.append(PairFeatures(pair.words, (*pair.dense, *compared)))
    return features


@lru_cache(maxsize=1)
def _heads() -> dict[str, LinearHead]:
    return read_heads(WEIGHTS)[0]
