"""
A cache of embedding vectors in memory, one entry per partition, bounded in bytes.

Vectors are cached as the half-precision numbers of the table, so a cached row scores exactly as a
row read from the store. A partition is cached if it fits into the budget; partitions that were not
queried for a long time are evicted to make room. The spare capacity of a partition that grows does
not count. Nothing here reads the store.
"""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.lazy_dataclass import dataclass
from recollect.store.indexes.growing_arrays import GrowingArrays, growing_arrays

BUDGET_BYTES = 32 << 20  # some 40,000 vectors of 384 dimensions
IDLE_QUERIES = 1_000  # after so many queries of other partitions, a partition may be evicted


@dataclass(frozen=True)
class EmbeddingRows:
    """Embedded chunks: the item of each, how many chunks that item has, and the vector."""

    item_ids: NDArray[np.int64]
    chunk_counts: NDArray[np.int32]
    vectors: NDArray[np.float16]
    buffer: GrowingArrays | None = field(default=None, compare=False, repr=False)

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.item_ids.nbytes + self.chunk_counts.nbytes + self.vectors.nbytes

    def take(self, selection: NDArray[Any]) -> "EmbeddingRows":
        """Return the rows at these positions, in that order, or the rows of a mask."""
        return EmbeddingRows(
            self.item_ids[selection], self.chunk_counts[selection], self.vectors[selection]
        )

    def of_items(self, item_ids: Sequence[int]) -> "EmbeddingRows":
        """Return the rows of these items."""
        order, sorted_ids = self._by_item
        unique_ids = np.array(sorted(set(item_ids)), dtype=np.int64)
        starts = np.searchsorted(sorted_ids, unique_ids)
        counts = np.searchsorted(sorted_ids, unique_ids, side="right") - starts
        # The spans start:start + count, one after the other; most are empty.
        before = np.cumsum(counts) - counts
        return self.take(order[np.repeat(starts - before, counts) + np.arange(counts.sum())])

    @cached_property
    def _by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The positions of the rows in the order of item ids, and the ids in that order."""
        order = np.argsort(self.item_ids, kind="stable")
        return order, self.item_ids[order]

    def extended(self, added: "EmbeddingRows") -> "EmbeddingRows":
        """Return these rows and *added* behind them; the first extension copies all rows."""
        buffer = growing_arrays(
            self.buffer, (self.item_ids, self.chunk_counts, self.vectors), axis=0
        )
        columns = buffer.extend((added.item_ids, added.chunk_counts, added.vectors))
        item_ids, chunk_counts, vectors = columns
        return EmbeddingRows(item_ids, chunk_counts, vectors, buffer)

    def without_items(self, item_ids: Sequence[int]) -> "EmbeddingRows":
        """Return all rows except those of these items."""
        return self.take(~np.isin(self.item_ids, item_ids))


def concatenate(parts: Sequence[EmbeddingRows]) -> EmbeddingRows:
    """Return the rows of all parts, one part after the other."""
    return EmbeddingRows(
        item_ids=np.concatenate([part.item_ids for part in parts]),
        chunk_counts=np.concatenate([part.chunk_counts for part in parts]),
        vectors=np.concatenate([part.vectors for part in parts]),
    )


def take_from(parts: Sequence[EmbeddingRows], positions: NDArray[np.int64]) -> EmbeddingRows:
    """Return `concatenate(parts).take(positions)` without copying the other rows."""
    if len(parts) == 1:
        return parts[0].take(positions)
    starts = [0, *np.cumsum([len(part.item_ids) for part in parts]).tolist()]
    order = np.argsort(positions, kind="stable")
    cuts = np.searchsorted(positions[order], starts).tolist()
    copies = [
        part.take(positions[order[first:last]] - start)
        for part, start, first, last in zip(parts, starts, cuts, cuts[1:], strict=False)
    ]
    return concatenate(copies).take(np.argsort(order, kind="stable"))


def to_float32(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return finite half-precision numbers in single precision; like `astype`, but faster."""
    # NumPy converts them one by one, ten times slower than these whole-array steps: exponent and
    # fraction move to their positions (-0x70000001 clears the copies of the sign between), and the
    # product corrects the exponent, which has another bias. Exact, also for subnormal numbers.
    bits = halves.view("<i2").astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70000001)
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    return wide


class VectorCache:
    """Vectors cached per partition. Not thread-safe: the caller holds the lock."""

    def __init__(self, budget_bytes: int = BUDGET_BYTES) -> None:
        self._budget_bytes = budget_bytes
        self._rows: dict[int, EmbeddingRows] = {}
        self._last_query: dict[int, int] = {}  # by partition: the number of its last query
        self._queries = 0

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return sum(rows.nbytes for rows in self._rows.values())

    def record_query(self, partition_ids: Sequence[int]) -> list[EmbeddingRows] | None:
        """Count a query of some partitions; return their rows if all of them are cached."""
        self._queries += 1
        self._last_query |= dict.fromkeys(partition_ids, self._queries)
        cached = [self._rows[id_] for id_ in partition_ids if id_ in self._rows]
        return cached if len(cached) == len(partition_ids) else None

    def get(self, partition_id: int) -> EmbeddingRows | None:
        """Return the rows of a partition, or None if they are not cached."""
        return self._rows.get(partition_id)

    def free_bytes(self) -> int:
        """Return how many bytes a partition that is queried now may take."""
        in_use = (rows.nbytes for id_, rows in self._rows.items() if not self._is_idle(id_))
        return self._budget_bytes - sum(in_use)

    def put(self, partition_id: int, rows: EmbeddingRows) -> None:
        """Cache the rows of a partition if there is room; evict idle partitions if needed."""
        self._rows.pop(partition_id, None)
        if rows.nbytes > self.free_bytes():
            return
        oldest_first = sorted(self._rows, key=lambda id_: self._last_query.get(id_, 0))
        used = sum(cached.nbytes for cached in self._rows.values())
        for other_id in oldest_first:
            if used + rows.nbytes <= self._budget_bytes:
                break
            used -= self._rows.pop(other_id).nbytes
        self._rows[partition_id] = rows

    def append(self, partition_id: int, rows: EmbeddingRows) -> None:
        """Add rows to a partition that is cached."""
        if partition_id in self._rows and len(rows.item_ids):
            self.put(partition_id, self._rows[partition_id].extended(rows))

    def drop(self, partition_id: int) -> None:
        """Remove a partition from the cache."""
        self._rows.pop(partition_id, None)
        self._last_query.pop(partition_id, None)

    def _is_idle(self, partition_id: int) -> bool:
        return self._queries - self._last_query.get(partition_id, 0) > IDLE_QUERIES
