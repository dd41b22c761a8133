"""
Nearest-neighbour search in memory: one bit per dimension, then exact rescoring of the best.

Theory of operation. Each dimension of a vector is reduced to its sign, one bit; vectors of similar
direction share most bits. The codes of a partition (48 bytes for 384 dimensions) are all scanned by
Hamming distance, and the nearest few hundred are compared exactly, with the half-precision vectors
of the table. A partition is read at its first query; rows that were added since are read at the
next one.

Partitions in use also have their vectors cached (vector_cache.py), so that nothing needs to be
fetched. Deleted items are left out of every result: a fetch does not find their rows, and cached
rows are checked against the items of the store. An item whose text was replaced has no vectors
until it is embedded again; then its partition is read again. The index may be stale, its results
never are.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from itertools import islice
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from recollect.domain.model_profile import SimilarityScale
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection, value_shape
from recollect.store.indexes.growing_arrays import GrowingArrays, growing_arrays
from recollect.store.indexes.vector_cache import (
    BUDGET_BYTES,
    EmbeddingRows,
    VectorCache,
    concatenate,
    take_from,
    to_float32,
)
from recollect.store.search_index import QueryVector, SimilarityStats, VectorMatch

_PLAIN = value_shape()
Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]  # a row for each

READ_BATCH = 4_000  # rows
PRIOR = SimilarityStats(0.15, 0.1)  # assumed for a model before any vector is seen
PRIOR_WEIGHT = 4  # the prior counts as so many vectors
PRIOR_UNTIL = 16  # vectors: from so many on, the prior is not used
MIN_STDEV = 0.01  # for items that are all alike
MAX_SAMPLES = 16  # cached, for queries of different partitions
RELOAD_AFTER = 20_000  # new embeddings: from so many on, reading the whole partition is cheaper


@dataclass(frozen=True)
class _Codes:
    """The codes of one partition, complete up to the embedding with the id *last_id*."""

    ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    bits: NDArray[np.uint64]  # a row for every 64 dimensions, so that each is scanned in one go
    last_id: int
    buffer: GrowingArrays | None = field(default=None, compare=False, repr=False)

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.ids.nbytes + self.item_ids.nbytes + self.bits.nbytes

    def extended(self, added: "_Codes") -> "_Codes":
        """Return these codes and *added* behind them, complete up to the last id of *added*."""
        if not len(added.ids):
            return replace(self, last_id=added.last_id)
        buffer = growing_arrays(self.buffer, (self.ids, self.item_ids, self.bits), axis=-1)
        ids, item_ids, bits = buffer.extend((added.ids, added.item_ids, added.bits))
        return _Codes(ids, item_ids, bits, added.last_id, buffer)


class BitCodeIndex:
    """The bit codes of one embedding model, shared by every reader of a store."""

    def __init__(self, model_id: int, *, cache_bytes: int = BUDGET_BYTES) -> None:
        self._model_id = model_id
        self._lock = threading.Lock()
        self._codes: dict[int, _Codes] = {}
        self._cache = VectorCache(cache_bytes)
        self._samples: OrderedDict[tuple[int, ...], Vectors] = OrderedDict()  # by ids of embeddings

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of the codes and of the cached vectors."""
        with self._lock:
            codes = sum(each.nbytes for each in self._codes.values())
            return codes, self._cache.nbytes

    def nearest(
        self,
        connection: DatabaseConnection,
        query: Vector,
        partition_ids: Sequence[int],
        limit: int,
        *,
        newest: int,
        among: Sequence[int] | None = None,
    ) -> tuple[EmbeddingRows, bool]:
        """
        Return the *limit* embeddings that are probably nearest, and whether they were cached.

        *newest* is the id of the store's newest embedding. If *among* is given, only embeddings
        with these ids are considered. Cached ones may have been deleted from the store since.
        """
        if not partition_ids:
            return fetch(connection, []), False
        codes, cached = self._load_codes(connection, partition_ids, len(query), newest)
        ids = _concatenate_ids([part.ids for part in codes])
        positions = np.arange(len(ids)) if among is None else np.flatnonzero(np.isin(ids, among))
        if len(positions) > limit:
            query_bits = _bits(query[np.newaxis])
            every_distance = [_distances(part.bits, query_bits) for part in codes]
            distances = np.concatenate(every_distance)[positions]
            within = np.flatnonzero(distances <= _cutoff(distances, limit))
            # Among equals the newer items: the ids of embeddings only tell in which order they were
            # made (within an item, the order of its chunks), and a rebuild may change that order.
            item_ids = _concatenate_ids([part.item_ids for part in codes])[positions[within]]
            order = np.lexsort((ids[positions[within]], -item_ids, distances[within]))
            positions = positions[within[order[:limit]]]
        if cached is not None:
            return take_from(cached, positions), True
        fetched = fetch(connection, ids[positions].tolist())
        if len(fetched.item_ids) < 0.8 * len(positions):
            self.drop(partition_ids)
        return fetched, False

    def refresh(
        self,
        connection: DatabaseConnection,
        partition_ids: Sequence[int],
        dimension: int,
        *,
        newest: int,
    ) -> None:
        """Read what is new in some partitions, for several calls of `nearest`."""
        with self._lock:
            self._read_missing(connection, partition_ids, dimension, newest)
            self._read_new_rows(connection, partition_ids, dimension, newest)

    def cached_rows(
        self, partition_ids: Iterable[int], item_ids: Sequence[int]
    ) -> list[EmbeddingRows]:
        """Return the cached rows of some items that are known to exist."""
        with self._lock:
            cached = [self._cache.get(partition_id) for partition_id in partition_ids]
        parts = [rows.of_items(item_ids) for rows in cached if rows is not None]
        return [part for part in parts if len(part.item_ids)]

    def similarity_stats(
        self, connection: DatabaseConnection, ids: tuple[int, ...], query: QueryVector
    ) -> SimilarityStats:
        """Return mean and standard deviation of the similarity of some embeddings to *query*."""
        cosines: list[float] = []
        if len(ids) < PRIOR_UNTIL:
            low, high = PRIOR.mean - PRIOR.stdev, PRIOR.mean + PRIOR.stdev
            cosines = [low, high] * (PRIOR_WEIGHT // 2)
        if ids:
            cosines += query.scale.apply(self._sample(connection, ids) @ query.values).tolist()
        mean = sum(cosines) / len(cosines)
        stdev = sqrt(sum((cosine - mean) ** 2 for cosine in cosines) / len(cosines))
        return SimilarityStats(mean, max(stdev, MIN_STDEV), len(ids))

    def _sample(self, connection: DatabaseConnection, ids: tuple[int, ...]) -> Vectors:
        """Return the vectors of some embeddings; an id is never used twice, so they are cached."""
        with self._lock:
            sample = self._samples.get(ids)
        if sample is None:
            sample = fetch(connection, ids).vectors.astype(np.float32)
        with self._lock:
            self._samples[ids] = sample
            self._samples.move_to_end(ids)
            if len(self._samples) > MAX_SAMPLES:
                self._samples.popitem(last=False)
        return sample

    def drop_stale(
        self, connection: DatabaseConnection, missing: Sequence[int], partition_ids: Sequence[int]
    ) -> None:
        """Discard the partitions that cached some of these items, which have no vectors there."""
        # Items newer than this reader's snapshot are missing too, but they were not deleted.
        [(last,)] = connection.fetch_all("vector_index.last_item", {}, _PLAIN)
        deleted = [item_id for item_id in missing if item_id <= last]
        self.drop(id_ for id_ in partition_ids if self.cached_rows([id_], deleted))

    def drop(self, partition_ids: Iterable[int]) -> None:
        """Discard the codes and the cached vectors of some partitions."""
        dropped = list(partition_ids)
        with self._lock:
            for partition_id in dropped:
                self._codes.pop(partition_id, None)
                self._cache.drop(partition_id)

    def _load_codes(
        self,
        connection: DatabaseConnection,
        partition_ids: Sequence[int],
        dimension: int,
        newest: int,
    ) -> tuple[list[_Codes], list[EmbeddingRows] | None]:
        """Return the codes of some partitions, and their vectors if all of them are cached."""
        with self._lock:
            self._read_missing(connection, partition_ids, dimension, newest)
            self._read_new_rows(connection, partition_ids, dimension, newest)
            cached = self._cache.record_query(partition_ids)
            return [self._codes[partition_id] for partition_id in partition_ids], cached

    def _read_missing(
        self,
        connection: DatabaseConnection,
        partition_ids: Sequence[int],
        dimension: int,
        newest: int,
    ) -> None:
        free = None  # of the cache; to count it takes long if there are many partitions
        for partition_id in partition_ids:
            codes = self._codes.get(partition_id)
            if codes is None or newest - codes.last_id > RELOAD_AFTER:
                self._read_partition(connection, partition_id, dimension, newest)
                free = None
            elif self._cache.get(partition_id) is None:
                free = self._cache.free_bytes() if free is None else free
                if 2 * dimension * len(codes.ids) <= free:
                    self._read_partition(connection, partition_id, dimension, newest)
                    free = None

    def _read_partition(
        self, connection: DatabaseConnection, partition_id: int, dimension: int, newest: int
    ) -> None:
        # Rows cached before do not fit the new codes, and the new rows may not fit into the cache.
        self._cache.drop(partition_id)
        empty = _to_rows([], dimension)
        codes = [_encode([], empty, newest)]
        to_cache, size, free = [empty], 0, self._cache.free_bytes()
        values = {"model_id": self._model_id, "partition_id": partition_id}
        stored = connection.stream("vector_index.of_partition", values, _PLAIN)
        # In batches: the vectors themselves are many times larger than their codes.
        while batch := list(islice(stored, READ_BATCH)):
            added = _to_rows([row[1:] for row in batch], dimension)
            codes.append(_encode([row[0] for row in batch], added, newest))
            size += added.nbytes
            to_cache = [*to_cache, added] if size <= free else []
        self._codes[partition_id] = _concatenate_codes(codes)
        if size <= free:
            self._cache.put(partition_id, concatenate(to_cache))

    def _read_new_rows(
        self,
        connection: DatabaseConnection,
        partition_ids: Sequence[int],
        dimension: int,
        newest: int,
    ) -> None:
        # Each partition has its own last id: a reader on an older snapshot than the previous one
        # must neither skip rows for the readers after it nor add rows twice.
        loaded = {id_: self._codes[id_] for id_ in partition_ids}
        behind = {id_: codes for id_, codes in loaded.items() if codes.last_id < newest}
        if not behind:
            return
        oldest = min(codes.last_id for codes in behind.values())
        new_rows: dict[int, list[tuple[int, int, int, bytes]]] = {id_: [] for id_ in behind}
        values = {"model_id": self._model_id, "id": oldest}
        added_since = connection.fetch_all("vector_index.since", values, _PLAIN)
        for row_id, partition_id, item_id, chunk_count, blob in added_since:
            if partition_id in behind and row_id > behind[partition_id].last_id:
                new_rows[partition_id].append((row_id, item_id, chunk_count, blob))
        for partition_id, rows in new_rows.items():
            if not rows:
                self._codes[partition_id] = replace(behind[partition_id], last_id=newest)
                continue
            added = _to_rows([row[1:] for row in rows], dimension)
            # In this order it compares the few with all; the other way it would sort all.
            if np.isin(behind[partition_id].item_ids, added.item_ids).any():
                self._cache.drop(partition_id)  # a text was replaced
                self._read_partition(connection, partition_id, dimension, newest)
                continue
            codes = _encode([row[0] for row in rows], added, newest)
            self._codes[partition_id] = behind[partition_id].extended(codes)
            self._cache.append(partition_id, added)


def rescore(
    rows: EmbeddingRows, query: QueryVector, limit: int | None = None
) -> dict[int, VectorMatch]:
    """Return the exact similarity of each item's nearest chunk, the most similar item first."""
    if not len(rows.item_ids):
        return {}
    # Row by row: in a matrix product the last bit of a result depends on the row's position.
    similarities = query.scale.apply(np.vecdot(to_float32(rows.vectors), query.values))
    order = np.lexsort((-rows.item_ids, -similarities))
    best: dict[int, VectorMatch] = {}
    columns = (rows.item_ids[order], similarities[order], rows.chunk_counts[order])
    for item_id, similarity, chunk_count in zip(*(c.tolist() for c in columns), strict=True):
        if item_id not in best:
            best[item_id] = VectorMatch(similarity, chunk_count)
            if len(best) == limit:
                break
    return best


def pairwise_similarities(
    rows: list[tuple[int, bytes]], scale: SimilarityScale
) -> dict[tuple[int, int], float]:
    """Return the similarity of each ordered pair of items, given as (item id, stored vector)."""
    if len(rows) < 2:
        return {}
    stored = np.frombuffer(b"".join(blob for _, blob in rows), dtype="<f2")
    vectors = to_float32(stored.reshape(len(rows), -1))
    similarities = scale.apply(vectors @ vectors.T).tolist()
    item_ids = [item_id for item_id, _ in rows]
    return {
        (first, second): similarities[i][j]
        for i, first in enumerate(item_ids)
        for j, second in enumerate(item_ids)
        if i != j
    }


def decode_vector(blob: bytes) -> Vector:
    """Return a stored vector as an array."""
    return to_float32(np.frombuffer(blob, dtype="<f2"))


def fetch(connection: DatabaseConnection, ids: Sequence[int]) -> EmbeddingRows:
    """Return the rows of some embeddings that still exist."""
    rows = connection.fetch_all("vector_index.by_id", {"ids": list(ids)}, _PLAIN)
    return _to_rows(rows, len(rows[0][2]) // 2 if rows else 0)


def fetch_compared(
    connection: DatabaseConnection, model_id: int, item_ids: Sequence[int]
) -> EmbeddingRows:
    """Return the rows of some items that are compared with other items."""
    values = {"model_id": model_id, "item_ids": list(item_ids)}
    rows = connection.fetch_all("vector_index.compared", values, _PLAIN)
    return _to_rows(rows, len(rows[0][2]) // 2 if rows else 0)


def _to_rows(rows: Sequence[tuple[int, int, bytes]], dimension: int) -> EmbeddingRows:
    stored = np.frombuffer(b"".join(blob for _, _, blob in rows), dtype="<f2")
    return EmbeddingRows(
        item_ids=np.array([item_id for item_id, _, _ in rows], dtype=np.int64),
        chunk_counts=np.array([chunk_count for _, chunk_count, _ in rows], dtype=np.int32),
        vectors=stored.reshape(len(rows), dimension),
    )


def _concatenate_ids(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)  # a single part is not copied


def _concatenate_codes(parts: Sequence[_Codes]) -> _Codes:
    return _Codes(
        np.concatenate([codes.ids for codes in parts]),
        np.concatenate([codes.item_ids for codes in parts]),
        np.concatenate([codes.bits for codes in parts], axis=1),
        parts[-1].last_id,
    )


def _encode(ids: Sequence[int], rows: EmbeddingRows, last_id: int) -> _Codes:
    return _Codes(np.array(ids, dtype=np.int64), rows.item_ids, _bits(rows.vectors), last_id)


def _bits(vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
    packed = np.packbits(vectors > 0, axis=1)
    if padding := -packed.shape[1] % 8:
        packed = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(np.ascontiguousarray(packed).view(np.uint64).T)


def _distances(bits: NDArray[np.uint64], query_bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return in how many bits each code differs from the query's."""
    total = np.zeros(bits.shape[1], dtype=np.uint16)
    for words, query_word in zip(bits, query_bits, strict=True):
        total += np.bitwise_count(words ^ query_word)
    return total


def _cutoff(distances: NDArray[np.uint16], limit: int) -> int:
    """Return the smallest distance within which *limit* codes lie."""
    return int(np.searchsorted(np.cumsum(np.bincount(distances)), limit))
