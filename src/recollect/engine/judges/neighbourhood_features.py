"""
Describe each of several earlier statements by how it compares with the others.

A later statement changes one earlier one, seldom several. Which one that is shows in the
comparison: it is the most similar, by far or barely, and it shares words that the others do not
have. A pair alone (pair_features.py) cannot tell that. Training (benchmarks/judges) and the judge
use these functions, so a change here requires new weights.
"""

import math
from collections import Counter
from collections.abc import Sequence

from recollect.lazy_dataclass import dataclass
from recollect.text.statement_parser import content_words

MAX_CHARS = 300  # a longer statement is compared by its beginning

NEIGHBOURHOOD_NAMES = (
    "similarity above the best of the others",
    "similarity above the mean",
    "the most similar",
    "weight of the shared words, of the later statement's",
    "weight of the shared words, of the earlier statement's",
    "weight of the shared words above the best of the others",
    "shares the weightiest words",
    "said in the same place",
)
_SPREAD = 3.0  # standard deviations, and weights of words, that count as one
_MIN_DEVIATION = 1e-3


@dataclass(frozen=True, slots=True)
class EarlierStatement:
    """What was said before, and how similar its embedding is (None without an embedder)."""

    text: str
    similarity: float | None
    is_same_place: bool = True  # said in the same project


def neighbourhood_features(
    later: str, earlier: Sequence[EarlierStatement]
) -> list[tuple[float, ...]]:
    """Return the features of each earlier statement among all of *earlier*."""
    words = [content_words(_comparable(statement.text)) for statement in earlier]
    later_words = content_words(_comparable(later))
    by_words = _word_features(later_words, words)
    by_similarity = _similarity_features([statement.similarity for statement in earlier])
    return [
        (*similarity, *weights, float(statement.is_same_place))
        for similarity, weights, statement in zip(by_similarity, by_words, earlier, strict=True)
    ]


def _comparable(text: str) -> str:
    return text[:MAX_CHARS].replace("’", "'")


def _similarity_features(similarities: Sequence[float | None]) -> list[tuple[float, ...]]:
    measured = [value for value in similarities if value is not None]
    if not measured:
        return [(0.0, 0.0, 0.0)] * len(similarities)
    mean = sum(measured) / len(measured)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in measured) / len(measured))
    first, second = _two_best(measured)
    return [
        (0.0, 0.0, 0.0)
        if value is None
        else (
            value - (second if value == first else first),
            (value - mean) / max(deviation, _MIN_DEVIATION) / _SPREAD,
            float(value == first),
        )
        for value in similarities
    ]


def _word_features(
    later: frozenset[str], words: Sequence[frozenset[str]]
) -> list[tuple[float, ...]]:
    """Return what the shared words weigh: a word that many of the statements have weighs little."""
    frequencies = Counter(word for those in words for word in those)
    count = len(words) + 1

    def weight(of: frozenset[str]) -> float:
        return sum(math.log(1 + count / max(1, frequencies[word])) for word in of)

    shared = [weight(later & those) for those in words]
    first, second = _two_best(shared)
    later_weight = weight(later) or 1.0
    return [
        (
            mine / later_weight,
            mine / (weight(those) or 1.0),
            (mine - (second if mine == first else first)) / _SPREAD,
            float(mine == first > 0),
        )
        for mine, those in zip(shared, words, strict=True)
    ]


def _two_best(values: Sequence[float]) -> tuple[float, float]:
    """Return the highest value and the next one, which is 0 if there is none."""
    ordered = sorted(values, reverse=True)
    return (ordered[0] if ordered else 0.0), (ordered[1] if len(ordered) > 1 else 0.0)
