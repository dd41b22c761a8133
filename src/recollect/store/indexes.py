"""
What every database must offer to be searched: by words, and by meaning.

Both are derived from the canonical rows and can be made again from them. A part of protocol.py.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from recollect.domain.scope import ItemKind, Owner
from recollect.store.values import (
    Backdrop,
    InUse,
    Near,
    Shelf,
    Unembedded,
    Vector,
    Waiters,
    WordMatches,
)

if TYPE_CHECKING:
    # For the checker only: a store that is never asked by meaning never loads NumPy.
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]


class Words(Protocol):
    """Search by words."""

    def shelves(self, kind: ItemKind, owners: Sequence[Owner] | None) -> list[Shelf]: ...
    def drop_shelf(self, kind: ItemKind, owner: Owner) -> int: ...
    def match(
        self,
        query: str,
        shelves: Sequence[Shelf],
        *,
        limit: int,
        budget: int = ...,
        among: Sequence[int] | None = None,
        also: Collection[int] = (),
    ) -> WordMatches: ...
    def match_item(self, query: str, shelves: Sequence[Shelf], seq: int) -> WordMatches: ...


class Vectors(Protocol):
    """Search by meaning, within one embedding model at a time."""

    def model_id(self, name: str, dimension: int) -> int | None: ...
    def latest_model(self, name: str) -> tuple[int, int] | None: ...
    def add_model(self, name: str, dimension: int) -> int: ...
    def in_use(self) -> InUse: ...
    def want(self, model_id: int) -> None: ...
    def serve(self, model_id: int) -> None: ...
    def waiting(self, model_id: int | None, limit: int, which: Waiters) -> list[Unembedded]: ...
    def waiting_among(self, model_id: int | None, item_ids: Sequence[str]) -> list[Unembedded]: ...
    def new_among(self, item_ids: Sequence[str]) -> list[Unembedded]: ...
    def count_waiting(self, model_id: int | None) -> int: ...
    def count_by_model(self) -> Mapping[str, int]: ...
    def count_vectors(self) -> Mapping[tuple[str, int], int]: ...
    def known(self, model_id: int, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]: ...
    def put(self, model_id: int, seqs: Sequence[int], vectors: Sequence[Vector]) -> None: ...
    def has_others(self) -> bool: ...
    def drop_others(self) -> None: ...
    def near(
        self,
        model_id: int,
        query: "Array",
        shelves: Sequence[Shelf],
        *,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, Near]: ...
    def backdrop(self, model_id: int, query: "Array", shelves: Sequence[Shelf]) -> Backdrop: ...
    def alike(self, model_id: int, seqs: Sequence[int]) -> Mapping[tuple[int, int], float]: ...
    def vectors_of(self, model_id: int, seqs: Sequence[int]) -> "Mapping[int, Array]": ...
    def nearness(
        self,
        model_id: int,
        query: "Array",
        seqs: Iterable[int],
        shelves: Sequence[Shelf] = (),
    ) -> Mapping[int, Near]: ...
