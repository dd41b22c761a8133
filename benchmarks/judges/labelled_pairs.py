"""Labelled pairs of statements, and pairs of strangers that a search for neighbours would offer."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.judges.labelled_sentences import Row, read_rows
from benchmarks.judges.logistic_training import Array
from recollect.engine.judges.pair_features import PairFeatures, pair_features
from recollect.models.local_embedder import LocalEmbedder

PAIRS = "pairs"
NEIGHBOURS = 3  # statements of others that are added for each later statement
STRANGER = "stranger"


@dataclass(frozen=True)
class LabelledPair:
    """Two statements, their relation, and their features with and without embeddings."""

    earlier: str
    later: str
    relation: str
    is_silent: bool
    fold_key: str
    with_similarity: PairFeatures
    without_similarity: PairFeatures


def labelled_pairs(folder: Path, embedder: LocalEmbedder) -> list[LabelledPair]:
    rows = read_rows(folder, PAIRS)
    earlier = embedder.embed([row["old"] for row in rows])
    later = embedder.embed([row["new"] for row in rows])
    similarities = later @ earlier.T
    pairs = []
    for number, row in enumerate(rows):
        pairs.append(_pair(row, row, row["relation"], similarities[number, number]))
        pairs += [
            _pair(rows[other], row, STRANGER, similarities[number, other])
            for other in _nearest_strangers(rows, number, similarities[number])
        ]
    return pairs


def _nearest_strangers(rows: Sequence[Row], number: int, similarities: Array) -> list[int]:
    """Return the statements of other pairs that are nearest to the later one of a pair."""
    row = rows[number]
    order = np.argsort(-similarities)
    others = [
        int(other)
        for other in order
        if rows[other]["language"] == row["language"] and rows[other]["domain"] != row["domain"]
    ]
    return others[:NEIGHBOURS]


def _pair(old: Row, new: Row, relation: str, similarity: float) -> LabelledPair:
    texts = old["old"], new["new"]
    group = f"{new['language']} {new['domain']}"
    return LabelledPair(
        *texts,
        relation,
        new["silent"],
        hashlib.sha256(group.encode()).hexdigest(),
        pair_features(*texts, float(similarity)),
        pair_features(*texts, None),
    )
