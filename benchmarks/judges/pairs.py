"""
Train the judge of pairs and measure it on people and domains that it has not seen.

Every later statement is judged against its neighbours, as consolidation offers them (see
labelled_changes.py), with and without the similarity of embeddings, because a store may have none.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import vstack

from benchmarks.judges.labelled_changes import (
    PAIRS,
    LaterStatement,
    later_statements,
    paired_people,
    people,
    thinned,
)
from benchmarks.judges.labelled_sentences import data_version
from benchmarks.judges.logistic_training import (
    FOLDS,
    Array,
    calibration,
    head,
    matrix,
    train,
    write_heads,
)
from recollect.engine.judges.pair_features import BUCKET_BITS, PairFeatures
from recollect.engine.judges.pairs import CHANGE, WEIGHTS, features_of_pairs
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.packaged_models import default_manifest

BUCKETS = 1 << BUCKET_BITS
STRENGTH = 1.0  # inverse of the regularisation
DENSE_SCALE = 0.3  # of a standard deviation, so that dense features are regularised like words
ABOUT = "judge of pairs: python -m benchmarks.judges FOLDER --train"


@dataclass(frozen=True)
class Pairs:
    """All pairs of some later statements: features, labels, and the statement of each."""

    features: Sequence[PairFeatures]
    labels: Array
    statements: Array  # the number of the later statement
    folds: Array
    is_person: Array  # of `people/`, not of a labelled pair
    is_thinned: Array  # of a neighbourhood with few of its neighbours; for training only

    @classmethod
    def of(cls, statements: Sequence[LaterStatement], person_names: frozenset[str]) -> "Pairs":
        features: list[PairFeatures] = []
        labels: list[bool] = []
        numbers, folds, is_person, is_thinned = [], [], [], []
        few = [thinned(statement) for statement in statements]
        for number, statement in enumerate([*statements, *few]):
            fold = int(hashlib.sha256(statement.group.encode()).hexdigest(), 16) % FOLDS
            features += features_of_pairs(statement.text, statement.earlier)
            labels += statement.is_changed
            numbers += [number] * len(statement.earlier)
            folds += [fold] * len(statement.earlier)
            is_person += [statement.group in person_names] * len(statement.earlier)
            is_thinned += [number >= len(statements)] * len(statement.earlier)
        arrays = (np.array(values) for values in (labels, numbers, folds, is_person, is_thinned))
        labelled, of_statement, fold_of, person, is_few = arrays
        return cls(features, labelled.astype(int), of_statement, fold_of, person, is_few)

    def dense(self) -> Array:
        return np.array([pair.dense for pair in self.features])

    def matrix(self, mean: Array, deviation: Array) -> Array:
        dense = (self.dense() - mean) / deviation * DENSE_SCALE
        return matrix([pair.words for pair in self.features], dense, BUCKETS)


class ChangeModel:
    """The one output of the judge, on pairs with and without embeddings."""

    def __init__(self, with_similarity: Pairs, without_similarity: Pairs) -> None:
        self.both = (with_similarity, without_similarity)
        dense = np.concatenate([pairs.dense() for pairs in self.both])
        self._mean, self._deviation = dense.mean(axis=0), np.maximum(dense.std(axis=0), 1e-6)
        self._matrices = [pairs.matrix(self._mean, self._deviation) for pairs in self.both]

    def fit(self, masks: Sequence[Array]) -> Array:
        parts = [features[mask] for features, mask in zip(self._matrices, masks, strict=True)]
        labels = [pairs.labels[mask] for pairs, mask in zip(self.both, masks, strict=True)]
        return train(vstack(parts).tocsr(), np.concatenate(labels), STRENGTH)

    def held_out_scores(self) -> tuple[Array, Array]:
        scores = [np.zeros(len(pairs.labels)) for pairs in self.both]
        for fold in range(FOLDS):
            model = self.fit([pairs.folds != fold for pairs in self.both])
            for pairs, features, mine in zip(self.both, self._matrices, scores, strict=True):
                held_out = pairs.folds == fold
                mine[held_out] = model.decision_function(features[held_out])
        return scores[0], scores[1]

    def head(self) -> tuple[dict[str, object], bytes]:
        slope, offset = calibration(self.held_out_scores()[0], self.both[0].labels)
        model = self.fit([np.ones(len(pairs.labels), dtype=bool) for pairs in self.both])
        # The judge sees features as they are: the standardisation becomes part of the weights.
        weights = model.coef_[0].copy()
        weights[BUCKETS:] *= DENSE_SCALE / self._deviation
        bias = model.intercept_[0] - float(weights[BUCKETS:] @ self._mean)
        return head(CHANGE, weights, bias, BUCKETS, slope, offset)


def read_changes(folder: Path) -> ChangeModel:
    embedder = LocalEmbedder(default_manifest())
    groups = [*people(), *paired_people(folder)]
    names = frozenset(name for name, _ in people())
    read = (
        Pairs.of([s for group in groups for s in later_statements(*group, reader)], names)
        for reader in (embedder, None)
    )
    with_similarity, without_similarity = read
    return ChangeModel(with_similarity, without_similarity)


def nearest_only(pairs: Pairs, scores: Array) -> Array:
    """Return whether a pair is the likeliest of its later statement: only that one is linked."""
    best: dict[int, int] = {}
    for row in np.argsort(-scores, kind="stable"):
        best.setdefault(int(pairs.statements[row]), int(row))
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[list(best.values())] = True
    return chosen


def recall_at_precision(labels: Array, scores: Array, precision: float, total: int) -> float:
    order = np.argsort(-scores)
    right = np.cumsum(labels[order])
    within = right[right / np.arange(1, len(labels) + 1) >= precision]
    return float(within.max() / total) if len(within) else 0.0


def measure_pairs(folder: Path) -> None:
    """Print how many of the changes are found, at which share of right ones among the links."""
    model = read_changes(folder)
    print("| statements | changes | found at 60 % right | at 70 % | at 80 % | at 90 % |")
    print("|---|---|---|---|---|---|")
    names = ("with embeddings", "without embeddings")
    for pairs, scores, name in zip(model.both, model.held_out_scores(), names, strict=True):
        whole = ~pairs.is_thinned
        for part, of_part in (("people", pairs.is_person), ("labelled pairs", ~pairs.is_person)):
            mine = whole & of_part
            total = int(pairs.labels[mine].sum())
            offered = mine & nearest_only(pairs, scores)
            recalls = [
                f"{recall_at_precision(pairs.labels[offered], scores[offered], at, total):.0%}"
                for at in (0.6, 0.7, 0.8, 0.9)
            ]
            print(f"| {part}, {name} | {total} | {' | '.join(recalls)} |")


def train_pairs(folder: Path) -> None:
    """Train on all pairs and write the weights; calibrate on held-out folds."""
    model = read_changes(folder)
    about = {"made by": ABOUT, "data": data_version(folder, (PAIRS,))}
    write_heads(WEIGHTS, [model.head()], about)
