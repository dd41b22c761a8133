"""
An embedder that caches item vectors on disk, so that a second run is fast.

Queries are not cached, since embedding them is part of a search. Vectors are stored in half
precision, as in the store, so a result does not depend on the cache.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recollect.models.embedder import Embedder, Vectors


class CachedEmbedder:
    """Wraps an embedder under its own name. `known` and `made` count the texts so far."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self.profile = getattr(embedder, "profile", None)
        folder.mkdir(parents=True, exist_ok=True)
        # Vectors of two models are never compared: each has its file.
        file = folder / f"{hashlib.sha256(embedder.name.encode()).hexdigest()[:16]}.db"
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        self._lock = threading.Lock()
        self.cached_count = 0
        self.embedded_count = 0

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        with self._lock:
            vectors = self._cached_vectors(digests)
            missing = {
                digest: text
                for digest, text in zip(digests, texts, strict=True)
                if digest not in vectors
            }
            if missing:
                vectors |= self._embed_and_cache(missing)
            self.cached_count += len(texts) - len(missing)
            self.embedded_count += len(missing)
        stored = np.frombuffer(b"".join(vectors[digest] for digest in digests), dtype="<f2")
        return stored.reshape(len(texts), self.dimension).astype(np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        self._db.close()

    def _cached_vectors(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        vectors = {}
        for digest in digests:
            row = self._db.execute("SELECT vector FROM vectors WHERE hash = ?", [digest]).fetchone()
            if row is not None:
                vectors[digest] = row[0]
        return vectors

    def _embed_and_cache(self, texts: dict[bytes, str]) -> dict[bytes, bytes]:
        rows = self._embedder.embed(list(texts.values())).astype("<f2")
        vectors = {digest: row.tobytes() for digest, row in zip(texts, rows, strict=True)}
        with self._db:
            self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", vectors.items())
        return vectors
