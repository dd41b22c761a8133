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
from itertools import islice
from math import sqrt

import apsw
import numpy as np
from numpy.typing import NDArray

from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import rows, to_json
from recollect.store.values import Backdrop, Near

_SQL = queries.load("vectors")

READ_AT_ONCE = 4_000
USUALLY = Backdrop(0.15, 0.1)  # what is assumed of vectors before any is seen
GUESSES = 4  # so many vectors is the assumption worth
WORTH_READING_ANEW = 20_000  # embeddings since a shelf was read: cheaper to read it again


@dataclass(frozen=True)
class _Codes:
    """The codes of one shelf, complete up to the embedding with the id *read_to*."""

    ids: NDArray[np.int64]
    bits: NDArray[np.uint64]
    read_to: int

    def plus(self, other: "_Codes") -> "_Codes":
        ids = np.concatenate([self.ids, other.ids])
        return _Codes(ids, np.concatenate([self.bits, other.bits]), other.read_to)


class CodeCache:
    """The codes of one model, shared by every reader of a store."""

    def __init__(self, model_id: int) -> None:
        self._model_id = model_id
        self._lock = threading.Lock()
        self._shelves: dict[int, _Codes] = {}

    def nearest(
        self,
        db: apsw.Connection,
        query: NDArray[np.float32],
        shelf_ids: Iterable[int],
        most: int,
        *,
        among: Sequence[int] | None = None,
    ) -> list[int]:
        """Return the ids of the *most* embeddings there (or *among*) that may be nearest."""
        shelves = list(shelf_ids)
        if not shelves:
            return []
        ids, bits = self._codes(db, shelves, len(query))
        if among is not None:
            allowed = np.isin(ids, np.array(among, dtype=np.int64))
            ids, bits = ids[allowed], bits[allowed]
        if len(ids) > most:
            distance = np.bitwise_count(bits ^ _bits(query[np.newaxis])).sum(axis=1)
            bar = np.partition(distance, most - 1)[most - 1]
            within = np.flatnonzero(distance <= bar)
            ids = ids[within[np.lexsort((-ids[within], distance[within]))[:most]]]
        chosen: list[int] = ids.tolist()
        return chosen

    def drop(self, shelf_ids: Iterable[int]) -> None:
        """Forget what is cached of some shelves: too much of it was deleted since."""
        with self._lock:
            for shelf_id in shelf_ids:
                self._shelves.pop(shelf_id, None)

    def _codes(
        self, db: apsw.Connection, shelf_ids: list[int], dimension: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        newest = int(db.execute(_SQL["last_id"]).get)
        with self._lock:
            self._load(db, shelf_ids, dimension, newest)
            self._catch_up(db, shelf_ids, dimension, newest)
            found = [self._shelves[shelf_id] for shelf_id in shelf_ids]
        if len(found) == 1:
            return found[0].ids, found[0].bits
        ids = np.concatenate([codes.ids for codes in found])
        return ids, np.concatenate([codes.bits for codes in found])

    def _load(self, db: apsw.Connection, shelf_ids: list[int], dimension: int, newest: int) -> None:
        for shelf_id in shelf_ids:
            known = self._shelves.get(shelf_id)
            if known is None or newest - known.read_to > WORTH_READING_ANEW:
                values = {"model_id": self._model_id, "shelf_id": shelf_id}
                codes = _encode([], dimension, newest)
                stored = db.execute(_SQL["of_shelf"], values)
                # A few at a time: the vectors themselves are many times larger than their codes.
                while some := rows(islice(stored, READ_AT_ONCE)):
                    codes = codes.plus(_encode(some, dimension, newest))
                self._shelves[shelf_id] = codes

    def _catch_up(
        self, db: apsw.Connection, shelf_ids: list[int], dimension: int, newest: int
    ) -> None:
        # Each shelf knows how far it was read: a reader on an older snapshot than the last one
        # must neither skip rows for those after it nor count them twice.
        behind = {s: self._shelves[s] for s in shelf_ids if self._shelves[s].read_to < newest}
        if not behind:
            return
        oldest = min(codes.read_to for codes in behind.values())
        fresh: dict[int, list[tuple[int, bytes]]] = {shelf_id: [] for shelf_id in behind}
        values = {"model_id": self._model_id, "id": oldest}
        for row_id, blob, shelf_id in db.execute(_SQL["since"], values):
            if shelf_id in behind and row_id > behind[shelf_id].read_to:
                fresh[shelf_id].append((row_id, blob))
        for shelf_id, added in fresh.items():
            self._shelves[shelf_id] = behind[shelf_id].plus(_encode(added, dimension, newest))


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


def backdrop(found: Sequence[bytes], query: NDArray[np.float32]) -> Backdrop:
    """Return mean and spread of the similarity of some vectors to *query*."""
    cosines = [USUALLY.mean - USUALLY.spread, USUALLY.mean + USUALLY.spread] * (GUESSES // 2)
    if found:
        stored = np.frombuffer(b"".join(found), dtype="<f2").reshape(len(found), -1)
        cosines += (stored.astype(np.float32) @ query).tolist()
    mean = sum(cosines) / len(cosines)
    return Backdrop(mean, sqrt(sum((one - mean) ** 2 for one in cosines) / len(cosines)))


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


def as_vector(blob: bytes) -> NDArray[np.float32]:
    """Return a stored vector as numbers."""
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


def fetch(db: apsw.Connection, ids: Sequence[int]) -> list[tuple[int, int, bytes]]:
    """Return seq, number of pieces and vector of some embeddings that still exist."""
    return rows(db.execute(_SQL["by_id"], {"ids": to_json(list(ids))}))


def _encode(found: list[tuple[int, bytes]], dimension: int, read_to: int) -> _Codes:
    ids = np.array([row_id for row_id, _ in found], dtype=np.int64)
    stored = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f2")
    return _Codes(ids, _bits(stored.reshape(len(found), dimension)), read_to)


def _bits(vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, padding)))).view(np.uint64)
