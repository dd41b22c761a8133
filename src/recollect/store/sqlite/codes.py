"""
Vectors in memory: one bit per dimension, by shelf, and exact rescoring of the best.

Theory of operation. The sign of each number of a vector is a bit; two vectors that point the same
way share most bits. A shelf's codes (48 bytes for 384 dimensions) are scanned whole by Hamming
distance, and the nearest few hundred are compared exactly with the half-precision rows of the
table. A shelf is read when a question first sees it; later rows are added as they appear.

Shelves that are asked now keep their half-precision rows as well (held.py), so that nothing has to
be fetched. What was deleted since is left out: a row that is fetched is not found, a held one is
looked up among the items. The cache can be stale, never wrong.
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
from recollect.store.sqlite.held import BUDGET, Held, Rows, joined, picked, widened
from recollect.store.sqlite.rows import rows, to_json
from recollect.store.values import Backdrop, Near

_SQL = queries.load("vectors")

READ_AT_ONCE = 4_000
USUALLY = Backdrop(0.15, 0.1)  # what is assumed of vectors before any is seen
GUESSES = 4  # so many vectors is the assumption worth, while few are seen
LEAST_SPREAD = 0.01  # of items that are all alike
ENOUGH = 16  # vectors: what is usual for a model, they tell better than any assumption
WORTH_READING_ANEW = 20_000  # embeddings since a shelf was read: cheaper to read it again


@dataclass(frozen=True)
class _Codes:
    """The codes of one shelf, complete up to the embedding with the id *read_to*."""

    ids: NDArray[np.int64]
    seqs: NDArray[np.int64]
    bits: NDArray[np.uint64]  # a row for every 64 dimensions, so that each is scanned in one go
    read_to: int

    def plus(self, others: "Sequence[_Codes]", read_to: int) -> "_Codes":
        every = [self, *others]
        ids = np.concatenate([codes.ids for codes in every])
        seqs = np.concatenate([codes.seqs for codes in every])
        return _Codes(ids, seqs, np.concatenate([codes.bits for codes in every], axis=1), read_to)


class CodeCache:
    """The codes of one model, shared by every reader of a store."""

    def __init__(self, model_id: int, *, held_bytes: int = BUDGET) -> None:
        self._model_id = model_id
        self._lock = threading.Lock()
        self._shelves: dict[int, _Codes] = {}
        self._held = Held(held_bytes)

    def nearest(
        self,
        db: apsw.Connection,
        query: NDArray[np.float32],
        shelf_ids: Sequence[int],
        most: int,
        *,
        among: Sequence[int] | None = None,
    ) -> tuple[Rows, bool]:
        """
        Return the *most* embeddings there (or *among*) that may be nearest.

        Those that were held in memory (then it says True) may be gone from the store.
        """
        if not shelf_ids:
            return fetch(db, []), False
        found, held = self._codes(db, shelf_ids, len(query))
        ids = _end_to_end([codes.ids for codes in found])
        at = np.arange(len(ids)) if among is None else np.flatnonzero(np.isin(ids, among))
        if len(at) > most:
            asked = _bits(query[np.newaxis])
            distance = np.concatenate([_distances(codes.bits, asked) for codes in found])[at]
            within = np.flatnonzero(distance <= _bar(distance, most))
            # Of equals the newer items: the ids of embeddings only say in what order they were made
            # (within an item that of its pieces), and that may be another one the next time.
            seqs = _end_to_end([codes.seqs for codes in found])[at[within]]
            order = np.lexsort((ids[at[within]], -seqs, distance[within]))
            at = at[within[order[:most]]]
        if held is not None:
            return picked(held, at), True
        chosen = fetch(db, ids[at].tolist())
        if len(chosen.seqs) < 0.8 * len(at):
            self.drop(shelf_ids)
        return chosen, False

    def held_of(self, shelf_ids: Iterable[int], seqs: Sequence[int]) -> list[Rows]:
        """Return what is held in memory of some items that are known to exist."""
        with self._lock:
            held = [self._held.get(shelf_id) for shelf_id in shelf_ids]
        found = [one.of(seqs) for one in held if one is not None]
        return [one for one in found if len(one.seqs)]

    def gone(self, db: apsw.Connection, seqs: Iterable[int], shelf_ids: Sequence[int]) -> list[int]:
        """Return which items stand on those shelves no more; what was deleted stays not held."""
        wanted = list(seqs)
        values = {"seqs": to_json(wanted), "shelves": to_json(list(shelf_ids))}
        there = {seq for (seq,) in db.execute(_SQL["alive"], values)}
        missing = [seq for seq in wanted if seq not in there]
        if missing:
            # What is newer than this reader's snapshot is not there either, and was not deleted.
            last = int(db.execute(_SQL["last_item"]).get)
            deleted = [seq for seq in missing if seq <= last]
            self.drop(s for s in shelf_ids if self.held_of([s], deleted))
        return missing

    def drop(self, shelf_ids: Iterable[int]) -> None:
        """Forget what is cached of some shelves: too much of it was deleted since."""
        dropped = list(shelf_ids)
        with self._lock:
            for shelf_id in dropped:
                self._shelves.pop(shelf_id, None)
                self._held.drop(shelf_id)

    def _codes(
        self, db: apsw.Connection, shelf_ids: Sequence[int], dimension: int
    ) -> tuple[list[_Codes], list[Rows] | None]:
        """Return the codes of some shelves, and their rows where all of them are held."""
        newest = int(db.execute(_SQL["last_id"]).get)
        with self._lock:
            self._load(db, shelf_ids, dimension, newest)
            self._catch_up(db, shelf_ids, dimension, newest)
            held = self._held.asked(shelf_ids)
            return [self._shelves[shelf_id] for shelf_id in shelf_ids], held

    def _load(
        self, db: apsw.Connection, shelf_ids: Sequence[int], dimension: int, newest: int
    ) -> None:
        for shelf_id in shelf_ids:
            known = self._shelves.get(shelf_id)
            if known is None or newest - known.read_to > WORTH_READING_ANEW:
                self._read(db, shelf_id, dimension, newest)
            elif self._held.get(shelf_id) is None:
                least = 2 * dimension * len(known.ids)
                if least <= self._held.room():
                    self._read(db, shelf_id, dimension, newest)

    def _read(self, db: apsw.Connection, shelf_id: int, dimension: int, newest: int) -> None:
        nothing = _rows([], dimension)
        codes = [_encode([], nothing, newest)]
        held, size, room = [nothing], 0, self._held.room()
        stored = db.execute(_SQL["of_shelf"], {"model_id": self._model_id, "shelf_id": shelf_id})
        # A few at a time: the vectors themselves are many times larger than their codes.
        while some := rows(islice(stored, READ_AT_ONCE)):
            added = _rows([row[1:] for row in some], dimension)
            codes.append(_encode([row[0] for row in some], added, newest))
            size += added.size
            held = [*held, added] if size <= room else []
        self._shelves[shelf_id] = codes[0].plus(codes[1:], newest)
        if size <= room:
            self._held.keep(shelf_id, joined(held))

    def _catch_up(
        self, db: apsw.Connection, shelf_ids: Sequence[int], dimension: int, newest: int
    ) -> None:
        # Each shelf knows how far it was read: a reader on an older snapshot than the last one
        # must neither skip rows for those after it nor count them twice.
        behind = {s: self._shelves[s] for s in shelf_ids if self._shelves[s].read_to < newest}
        if not behind:
            return
        oldest = min(codes.read_to for codes in behind.values())
        fresh: dict[int, list[tuple[int, int, int, bytes]]] = {shelf_id: [] for shelf_id in behind}
        values = {"model_id": self._model_id, "id": oldest}
        for row_id, shelf_id, seq, chunks, blob in db.execute(_SQL["since"], values):
            if shelf_id in behind and row_id > behind[shelf_id].read_to:
                fresh[shelf_id].append((row_id, seq, chunks, blob))
        for shelf_id, found in fresh.items():
            added = _rows([row[1:] for row in found], dimension)
            codes = _encode([row[0] for row in found], added, newest)
            self._shelves[shelf_id] = behind[shelf_id].plus([codes], newest)
            self._held.extend(shelf_id, added)


def rescore(found: Rows, query: NDArray[np.float32], limit: int | None = None) -> dict[int, Near]:
    """Compare exactly: for each item the similarity of its nearest piece, the nearest first."""
    if not len(found.seqs):
        return {}
    # Row by row: a product of the whole matrix differs in the last bit with where a row stands.
    similarities = np.vecdot(widened(found.vectors), query)
    order = np.lexsort((-found.seqs, -similarities))
    best: dict[int, Near] = {}
    for seq, similarity, chunks in zip(
        found.seqs[order].tolist(),
        similarities[order].tolist(),
        found.chunks[order].tolist(),
        strict=True,
    ):
        if seq not in best:
            best[seq] = Near(similarity, chunks)
            if len(best) == limit:
                break
    return best


def backdrop(found: Sequence[bytes], query: NDArray[np.float32]) -> Backdrop:
    """Return mean and spread of the similarity of some vectors to *query*."""
    cosines: list[float] = []
    if len(found) < ENOUGH:
        cosines = [USUALLY.mean - USUALLY.spread, USUALLY.mean + USUALLY.spread] * (GUESSES // 2)
    if found:
        stored = np.frombuffer(b"".join(found), dtype="<f2").reshape(len(found), -1)
        cosines += (stored.astype(np.float32) @ query).tolist()
    mean = sum(cosines) / len(cosines)
    spread = sqrt(sum((one - mean) ** 2 for one in cosines) / len(cosines))
    return Backdrop(mean, max(spread, LEAST_SPREAD), len(found))


def pairwise(found: list[tuple[int, bytes]]) -> dict[tuple[int, int], float]:
    """Return the similarity of each ordered pair of vectors."""
    if len(found) < 2:
        return {}
    stored = np.frombuffer(b"".join(blob for _, blob in found), dtype="<f2")
    vectors = widened(stored.reshape(len(found), -1))
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
    return widened(np.frombuffer(blob, dtype="<f2"))


def fetch(db: apsw.Connection, ids: Sequence[int]) -> Rows:
    """Return the rows of some embeddings that still exist."""
    found = rows(db.execute(_SQL["by_id"], {"ids": to_json(list(ids))}))
    return _rows(found, len(found[0][2]) // 2 if found else 0)


def fetch_items(db: apsw.Connection, model_id: int, seqs: Sequence[int]) -> Rows:
    """Return the rows of some items."""
    values = {"model_id": model_id, "seqs": to_json(list(seqs))}
    found = rows(db.execute(_SQL["by_seq"], values))
    return _rows(found, len(found[0][2]) // 2 if found else 0)


def _rows(found: Sequence[tuple[int, int, bytes]], dimension: int) -> Rows:
    stored = np.frombuffer(b"".join(blob for _, _, blob in found), dtype="<f2")
    return Rows(
        seqs=np.array([seq for seq, _, _ in found], dtype=np.int64),
        chunks=np.array([chunks for _, chunks, _ in found], dtype=np.int32),
        vectors=stored.reshape(len(found), dimension),
    )


def _end_to_end(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)  # one is not copied


def _encode(ids: Sequence[int], stored: Rows, read_to: int) -> _Codes:
    return _Codes(np.array(ids, dtype=np.int64), stored.seqs, _bits(stored.vectors), read_to)


def _bits(vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1)
    if padding := -packed.shape[1] % 8:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)


def _distances(bits: NDArray[np.uint64], asked: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return in how many bits each code differs from the question's."""
    total = np.zeros(bits.shape[1], dtype=np.uint16)
    for some, one in zip(bits, asked, strict=True):
        total += np.bitwise_count(some ^ one)
    return total


def _bar(distance: NDArray[np.uint16], most: int) -> int:
    """Return the least distance within which *most* lie."""
    return int(np.searchsorted(np.cumsum(np.bincount(distance)), most))
