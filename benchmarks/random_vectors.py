"""
An embedder that makes up the vectors of items and really embeds questions.

Embedding 100,000 items takes minutes and says nothing of how fast a store answers. Each item gets
a direction from its text's hash, leaned towards the mean of real vectors so that questions find
items about as near as they would; name and dimension are the real model's.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from recollect.models.embedder import Embedder, Vectors, unit


class RandomVectors:
    """Wraps an embedder; `embed` costs next to nothing, `embed_query` what it always does."""

    def __init__(self, embedder: Embedder, sample: Sequence[str]) -> None:
        self._embedder = embedder
        self._mean = embedder.embed(sample).mean(axis=0)

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        spread = np.sqrt(max(1 - float(self._mean @ self._mean), 0.0))
        random = unit(np.stack([self._direction(text) for text in texts]))
        return unit(self._mean + spread * random)

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)

    def _direction(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
