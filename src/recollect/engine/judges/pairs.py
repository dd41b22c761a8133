"""
The judge of pairs: how likely a later statement changes what an earlier one says.

Two linear models over the features of a pair (pair_features.py): whether both are about one thing,
and if so, whether the later one updates or corrects the earlier one, or only adds to it, repeats it
or is related to it. Trained on labelled pairs (benchmarks/judges, results in
benchmarks/results/judges.md). Consolidation links what probably changes, and supersedes nothing
because of it.
"""

from functools import lru_cache
from pathlib import Path

from recollect.engine.judges.linear_model import LinearHead, read_heads, sigmoid
from recollect.engine.judges.pair_features import pair_features

WEIGHTS = Path(__file__).with_name("pairs.weights")
CHANGE = "change"
SAME_TOPIC = "same topic"
MIN_CHANGE = 0.1  # from here on two statements are linked; see benchmarks/results/judges.md


def change_probability(earlier: str, later: str, similarity: float | None) -> float:
    """Return the probability that *later* updates or corrects *earlier*."""
    features = pair_features(earlier, later, similarity)
    heads = _heads()
    same_topic = sigmoid(heads[SAME_TOPIC].score((), features.dense))
    return same_topic * sigmoid(heads[CHANGE].score(features.words, features.dense))


@lru_cache(maxsize=1)
def _heads() -> dict[str, LinearHead]:
    return read_heads(WEIGHTS)[0]
