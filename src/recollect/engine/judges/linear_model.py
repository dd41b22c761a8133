"""
Linear models with hashed features, stored as one byte for each weight.

A file of weights has one line of JSON (heads with scale, bias, dense weights) and then, for each
head in order, one signed byte for each bucket. It is read when a judge is first used.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class LinearHead:
    """The weights of one output: a score is the bias plus the weighted features."""

    bias: float
    dense: tuple[float, ...]
    buckets: memoryview  # signed bytes, one for each bucket of n-grams
    scale: float  # of a bucket's byte

    def score(self, groups: Sequence[Sequence[int]], dense: Sequence[float]) -> float:
        """Return the score of some groups of buckets, each scaled by its size, and *dense*."""
        total = self.bias
        for weight, value in zip(self.dense, dense, strict=True):
            total += weight * value
        buckets = self.buckets
        for group in groups:
            if group:
                share = sum([buckets[bucket] for bucket in group])
                total += self.scale * share / math.sqrt(len(group))
        return total


def read_heads(path: Path) -> tuple[dict[str, LinearHead], dict[str, str]]:
    """Return the heads of a file of weights by name, and what its header says about it."""
    content = path.read_bytes()
    end = content.index(b"\n")
    header = json.loads(content[:end])
    heads = {}
    at = end + 1
    for head in header["heads"]:
        buckets = memoryview(content)[at : at + head["buckets"]].cast("b")
        at += head["buckets"]
        heads[head["name"]] = LinearHead(head["bias"], tuple(head["dense"]), buckets, head["scale"])
    return heads, header["about"]


def sigmoid(score: float) -> float:
    """Return the probability that belongs to *score*."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
