"""
Train the judge of pairs and measure it on domains that it has not seen.

A pair is about one thing if it was labelled as anything but unrelated; statements of strangers that
are near in meaning are not. Whether one changes the other is learned from the labelled pairs alone.
Each pair is seen with and without the similarity of its embeddings, because a store may have none.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import vstack

from benchmarks.judges.durability import area
from benchmarks.judges.labelled_pairs import PAIRS, STRANGER, LabelledPair, labelled_pairs
from benchmarks.judges.labelled_sentences import data_version
from benchmarks.judges.logistic_training import (
    FOLDS,
    Array,
    Head,
    calibration,
    head,
    matrix,
    train,
    write_heads,
)
from recollect.engine.judges.pair_features import BUCKET_BITS, PairFeatures
from recollect.engine.judges.pairs import CHANGE, SAME_TOPIC, WEIGHTS
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.model_manifest import default_manifest

BUCKETS = 1 << BUCKET_BITS
STRENGTH = 5.0
CHANGES = ("update", "correction")
ABOUT = "judge of pairs: python -m benchmarks.judges FOLDER --train"


class PairModel:
    """One output: its labels, and its features with and without embeddings."""

    def __init__(self, pairs: Sequence[LabelledPair], labels: Array, *, hashed: bool) -> None:
        self.labels = labels.astype(int)
        self.folds = np.array([int(pair.fold_key, 16) % FOLDS for pair in pairs])
        self.buckets = BUCKETS if hashed else 0
        self.with_similarity = self._matrix([pair.with_similarity for pair in pairs])
        self.without_similarity = self._matrix([pair.without_similarity for pair in pairs])

    def _matrix(self, features: Sequence[PairFeatures]) -> Array:
        dense = np.array([pair.dense for pair in features])
        groups = [pair.words if self.buckets else () for pair in features]
        return matrix(groups, dense, self.buckets)

    def fit(self, mask: Array) -> Array:
        both = vstack([self.with_similarity[mask], self.without_similarity[mask]]).tocsr()
        labels = np.concatenate([self.labels[mask], self.labels[mask]])
        return train(both, labels, STRENGTH)

    def held_out_scores(self, features: Array) -> Array:
        scores = np.zeros(len(self.labels))
        for fold in range(FOLDS):
            held_out = self.folds == fold
            scores[held_out] = self.fit(~held_out).decision_function(features[held_out])
        return scores

    def head(self, name: str) -> Head:
        slope, offset = calibration(self.held_out_scores(self.with_similarity), self.labels)
        model = self.fit(np.ones(len(self.labels), dtype=bool))
        return head(name, model.coef_[0], model.intercept_[0], self.buckets, slope, offset)


def read_pairs(folder: Path) -> list[LabelledPair]:
    return labelled_pairs(folder, LocalEmbedder(default_manifest()))


def change_model(pairs: Sequence[LabelledPair]) -> PairModel:
    own = [pair for pair in pairs if pair.relation != STRANGER]
    return PairModel(own, np.array([pair.relation in CHANGES for pair in own]), hashed=True)


def topic_model(pairs: Sequence[LabelledPair]) -> PairModel:
    labels = np.array([pair.relation not in (STRANGER, "unrelated") for pair in pairs])
    return PairModel(pairs, labels, hashed=False)


def recall_at_precision(labels: Array, scores: Array, precision: float) -> float:
    order = np.argsort(-scores)
    right = np.cumsum(labels[order])
    within = right[right / np.arange(1, len(labels) + 1) >= precision]
    return float(within.max() / labels.sum()) if len(within) else 0.0


def measure_pairs(folder: Path) -> None:
    """Print how well updates and corrections are told from other pairs."""
    pairs = read_pairs(folder)
    change, topic = change_model(pairs), topic_model(pairs)
    print("| pairs | area | found at 80 % precision | at 90 % |")
    print("|---|---|---|---|")
    for name, features in (
        ("updates and corrections", change.with_similarity),
        ("the same without embeddings", change.without_similarity),
    ):
        scores = change.held_out_scores(features)
        recalls = [f"{recall_at_precision(change.labels, scores, at):.0%}" for at in (0.8, 0.9)]
        print(f"| {name} | {area(change.labels, scores):.3f} | {' | '.join(recalls)} |")
    scores = topic.held_out_scores(topic.with_similarity)
    recalls = [f"{recall_at_precision(topic.labels, scores, at):.0%}" for at in (0.8, 0.9)]
    print(f"| about one thing | {area(topic.labels, scores):.3f} | {' | '.join(recalls)} |")


def train_pairs(folder: Path) -> None:
    """Train on all pairs and write the weights; calibrate on held-out folds."""
    pairs = read_pairs(folder)
    heads = [change_model(pairs).head(CHANGE), topic_model(pairs).head(SAME_TOPIC)]
    write_heads(WEIGHTS, heads, {"made by": ABOUT, "data": data_version(folder, (PAIRS,))})
