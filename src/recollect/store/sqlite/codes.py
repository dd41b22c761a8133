"""
Vectors in memory: one bit per dimension, by shelf, and exact rescoring of the best.

Theory of operation. The sign of each number of a vector is a bit; two vectors that point the same
way share most bits. A shelf's codes (48 bytes for 384 dimensions) are scanned whole by Hamming
distance, and the nearest few hundred are compared exactly with the half-precision rows of the
table. A shelf is read when a question first sees it; later rows are added as they appear. A row
deleted since is simply not found when its exact vector is fetched: the cache can be stale, never
wrong.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from recollect.store.protocol import Near
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import rows, to_json

_SQL = queries.load("vectors")


@dataclass(frozen=True)
class _Codes:
    ids: NDArray[np.int64]
    bits: NDArray[np.uint64]

    def plus(self, other: "_Codes") -> "_Codes":
        ids = np.concatenate([self.ids, other.ids])
        return _Codes(ids, np.concatenate([self.bits, other.bits]))


class CodeCache:
    """The codes of one model, shared by every reader of a store."""

    def __init__(self, model_id: int) -> None:
        self._model_id = model_id
        self._lock = threading.Lock()
        self._shelves: dict[int, _Codes] = {}
        self._read_to = 0

    def nearest(
        self, db: apsw.Connection, query: NDArray[np.float32], shelf_ids: Iterable[int], most: int
    ) -> list[int]:
        """Return the ids of the *most* embeddings on those shelves that may be nearest."""
        codes = self._codes(db, list(shelf_ids), len(query))
        if len(codes.ids) <= most:
            return [int(i) for i in codes.ids]
        distance = np.bitwise_count(codes.bits ^ _bits(query[np.newaxis])).sum(axis=1)
        bar = np.partition(distance, most - 1)[most - 1]
        within = np.flatnonzero(distance <= bar)
        order = np.lexsort((-codes.ids[within], distance[within]))[:most]
        return [int(i) for i in codes.ids[within[order]]]

    def drop(self, shelf_ids: Iterable[int]) -> None:
        """Forget what is cached of some shelves: too much of it was deleted since."""
        with self._lock:
            for shelf_id in shelf_ids:
                self._shelves.pop(shelf_id, None)

    def _codes(self, db: apsw.Connection, shelf_ids: list[int], dimension: int) -> _Codes:
        with self._lock:
            self._catch_up(db)
            for shelf_id in shelf_ids:
                if shelf_id not in self._shelves:
                    values = {"model_id": self._model_id, "shelf_id": shelf_id}
                    stored = rows(db.execute(_SQL["of_shelf"], values))
                    self._shelves[shelf_id] = _encode(stored, dimension)
            if not shelf_ids:
                return _encode([], dimension)
            found = [self._shelves[shelf_id] for shelf_id in shelf_ids]
        if len(found) == 1:
            return found[0]
        ids = np.concatenate([codes.ids for codes in found])
        return _Codes(ids, np.concatenate([codes.bits for codes in found]))

    def _catch_up(self, db: apsw.Connection) -> None:
        newest = db.execute(_SQL["last_id"]).get
        if newest <= self._read_to:
            return
        if self._shelves:
            values = {"model_id": self._model_id, "id": self._read_to}
            fresh: dict[int, list[tuple[int, bytes]]] = {}
            for row_id, blob, shelf_id in db.execute(_SQL["since"], values):
                if shelf_id in self._shelves:
                    fresh.setdefault(shelf_id, []).append((row_id, blob))
            for shelf_id, added in fresh.items():
                codes = self._shelves[shelf_id]
                self._shelves[shelf_id] = codes.plus(_encode(added, len(added[0][1]) // 2))
        self._read_to = newest


def rescore(
    vectors: Iterable[tuple[int, int, bytes]], query: NDArray[np.float32]
) -> dict[int, Near]:
    """Compare exactly: for each item the similarity of its nearest piece."""
    found = list(vectors)
    if not found:
        return {}
    stored = np.frombuffer(b"".join(blob for _, _, blob in found), dtype="<f2")
    similarities = stored.reshape(len(found), -1).astype(np.float32) @ query
    best: dict[int, Near] = {}
    for (seq, chunks, _), similarity in zip(found, similarities.tolist(), strict=True):
        if seq not in best or similarity > best[seq].similarity:
            best[seq] = Near(similarity, chunks)
    return best


def pairwise(found: list[tuple[int, bytes]]) -> dict[tuple[int, int], float]:
    """Return the similarity of each ordered pair of vectors."""
    if len(found) < 2:
        return {}
    stored = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f2")
    vectors = stored.reshape(len(found), -1).astype(np.float32)
    similarities = (vectors @ vectors.T).tolist()
    seqs = [seq for seq, _ in found]
    return {
        (one, other): similarities[i][j]
        for i, one in enumerate(seqs)
        for j, other in enumerate(seqs)
        if i != j
    }


def fetch(db: apsw.Connection, ids: Sequence[int]) -> list[tuple[int, int, bytes]]:
    """Return seq, number of pieces and vector of some embeddings that still exist."""
    return rows(db.execute(_SQL["by_id"], {"ids": to_json(list(ids))}))


def _encode(found: list[tuple[int, bytes]], dimension: int) -> _Codes:
    ids = np.array([row_id for row_id, _ in found], dtype=np.int64)
    stored = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f2")
    return _Codes(ids, _bits(stored.reshape(len(found), dimension)))


def _bits(vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, padding)))).view(np.uint64)
