"""Train logistic regressions on hashed features, calibrate them and write them as bytes."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

FOLDS = 5
Array = Any
Head = tuple[dict[str, Any], bytes]


def matrix(groups: Sequence[Sequence[Sequence[int]]], dense: Array, buckets: int) -> Any:
    """Return the features of all examples: hashed groups, then the dense ones."""
    rows, columns, values = [], [], []
    for row, sets in enumerate(groups):
        for group in sets:
            for bucket in group:
                rows.append(row)
                columns.append(bucket)
                values.append(1 / math.sqrt(len(group)))
    for row, column in zip(*np.nonzero(dense), strict=True):
        rows.append(row)
        columns.append(buckets + column)
        values.append(dense[row, column])
    return csr_matrix((values, (rows, columns)), shape=(len(groups), buckets + dense.shape[1]))


def train(features: Any, labels: Array, strength: float, weights: Array = None) -> Any:
    """Return a model; *weights* are those of the examples, 1 each if not given."""
    # Few examples and many features: the dual problem is solved in seconds.
    model = LogisticRegression(C=strength, solver="liblinear", dual=True, max_iter=2000)
    return model.fit(features, labels, sample_weight=weights)


def calibration(scores: Array, labels: Array) -> tuple[float, float]:
    """Return slope and offset that turn held-out scores into calibrated log odds."""
    model = LogisticRegression(C=1e6).fit(scores.reshape(-1, 1), labels)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def head(
    name: str, weights: Array, bias: float, buckets: int, slope: float = 1.0, offset: float = 0.0
) -> Head:
    """Return the header entry and the bytes of one output."""
    weights = weights * slope
    hashed = weights[:buckets]
    scale = float(np.abs(hashed).max(initial=0.0)) / 127 or 1.0
    small = np.clip(np.round(hashed / scale), -127, 127).astype(np.int8)
    entry = {
        "name": name,
        "bias": round(bias * slope + offset, 6),
        "dense": [round(float(weight), 5) for weight in weights[buckets:]],
        "scale": scale,
        "buckets": buckets,
    }
    return entry, small.tobytes()


def write_heads(path: Path, heads: Sequence[Head], about: dict[str, str]) -> None:
    header = {"about": about, "heads": [entry for entry, _ in heads]}
    line = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(line + b"\n" + b"".join(weights for _, weights in heads))
