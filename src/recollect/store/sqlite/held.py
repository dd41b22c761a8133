"""
Which shelves' vectors are held in memory, within a budget of bytes.

A vector is held as the half-precision row it is, so what is found is what a fetch would find. A
shelf that is asked now gets a place if there is one, or if others have not been asked for long;
those stand back. Nothing here reads the store.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

BUDGET = 32 << 20  # bytes: some 40,000 vectors of 384 dimensions
LONG = 1_000  # questions to others, after which a shelf stands back


@dataclass(frozen=True)
class Rows:
    """Embeddings: whose each is, in how many pieces its item was embedded, and the vector."""

    seqs: NDArray[np.int64]
    chunks: NDArray[np.int32]
    vectors: NDArray[np.float16]

    @property
    def size(self) -> int:
        """Bytes."""
        return self.seqs.nbytes + self.chunks.nbytes + self.vectors.nbytes

    def at(self, places: NDArray[Any]) -> "Rows":
        """Return some of them: by their places, in that order, or by a mask."""
        return Rows(self.seqs[places], self.chunks[places], self.vectors[places])

    def of(self, seqs: Sequence[int]) -> "Rows":
        """Return those of some items."""
        order, in_order = self._by_item
        wanted = np.array(sorted(set(seqs)), dtype=np.int64)
        first = np.searchsorted(in_order, wanted)
        last = np.searchsorted(in_order, wanted, side="right")
        spans = zip(first.tolist(), last.tolist(), strict=True)
        return self.at(np.concatenate([order[:0], *(order[one:end] for one, end in spans)]))

    @cached_property
    def _by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each stands in the order of items, and the items in that order."""
        order = np.argsort(self.seqs, kind="stable")
        return order, self.seqs[order]

    def besides(self, seqs: Sequence[int]) -> "Rows":
        """Return all but those of some items."""
        return self.at(~np.isin(self.seqs, seqs))


def joined(some: Sequence[Rows]) -> Rows:
    """Return several as one."""
    return Rows(
        seqs=np.concatenate([one.seqs for one in some]),
        chunks=np.concatenate([one.chunks for one in some]),
        vectors=np.concatenate([one.vectors for one in some]),
    )


def picked(some: Sequence[Rows], places: NDArray[np.int64]) -> Rows:
    """Return what `joined(some).at(places)` would, without copying what is not asked for."""
    if len(some) == 1:
        return some[0].at(places)
    starts = [0, *np.cumsum([len(one.seqs) for one in some]).tolist()]
    order = np.argsort(places, kind="stable")
    cuts = np.searchsorted(places[order], starts).tolist()
    found = joined(
        [
            one.at(places[order[first:last]] - start)
            for one, start, first, last in zip(some, starts, cuts, cuts[1:], strict=False)
        ]
    )
    return found.at(np.argsort(order, kind="stable"))


def widened(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return finite half-precision numbers in single precision, as `astype` does, but sooner."""
    # NumPy widens them one by one, ten times slower than these whole-array steps: exponent and
    # fraction move to their places (-0x70000001 clears the copies of the sign between), and the
    # product mends the exponent, whose zero lies elsewhere. Exact, also where it is not normal.
    bits = halves.view("<i2").astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70000001)
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    return wide


class Held:
    """The rows of some shelves. Whoever uses it keeps others out meanwhile."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._rows: dict[int, Rows] = {}
        self._asked: dict[int, int] = {}  # when a shelf was last asked, in questions
        self._questions = 0

    def asked(self, shelf_ids: Sequence[int]) -> list[Rows] | None:
        """Note a question to some shelves; return their rows where all of them are held."""
        self._questions += 1
        self._asked |= dict.fromkeys(shelf_ids, self._questions)
        found = [self._rows[shelf_id] for shelf_id in shelf_ids if shelf_id in self._rows]
        return found if len(found) == len(shelf_ids) else None

    def get(self, shelf_id: int) -> Rows | None:
        """Return the rows of a shelf, if they are held."""
        return self._rows.get(shelf_id)

    def room(self) -> int:
        """Return how many bytes a shelf that is asked now may take."""
        return self._budget - sum(
            rows.size for shelf_id, rows in self._rows.items() if not self._stands_back(shelf_id)
        )

    def keep(self, shelf_id: int, rows: Rows) -> None:
        """Hold the rows of a shelf, if there is room; those not asked for long stand back."""
        self._rows.pop(shelf_id, None)
        if rows.size > self.room():
            return
        oldest_first = sorted(self._rows, key=lambda one: self._asked.get(one, 0))
        used = sum(one.size for one in self._rows.values())
        for other in oldest_first:
            if used + rows.size <= self._budget:
                break
            used -= self._rows.pop(other).size
        self._rows[shelf_id] = rows

    def extend(self, shelf_id: int, rows: Rows) -> None:
        """Add rows to a shelf that is held."""
        if shelf_id in self._rows and len(rows.seqs):
            self.keep(shelf_id, joined([self._rows[shelf_id], rows]))

    def drop(self, shelf_id: int) -> None:
        """Hold a shelf no more."""
        self._rows.pop(shelf_id, None)
        self._asked.pop(shelf_id, None)

    def _stands_back(self, shelf_id: int) -> bool:
        return self._questions - self._asked.get(shelf_id, 0) > LONG
