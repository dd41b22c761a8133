"""
The protocols of the two search indexes: words, and embeddings.

Both are derived from the canonical rows and can be rebuilt from them. *among* limits a search to
some items. Part of protocol.py.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from recollect.domain.scope import ItemKind, Owner
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    Partition,
    PendingFilter,
    SimilarityStats,
    UnembeddedItem,
    VectorMatch,
    WordMatches,
)

if TYPE_CHECKING:
    # For the type checker only: a process that compares no vectors never loads NumPy.
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]


class WordIndex(Protocol):
    """Full-text search by BM25, in partitions."""

    def partitions(self, kind: ItemKind, owners: Sequence[Owner] | None) -> list[Partition]:
        """Return the non-empty partitions of a kind, of *owners* or, if None, of all owners."""

    def drop_partition(self, kind: ItemKind, owner: Owner) -> int:
        """Delete a partition with all its items; return how many there were."""

    def match(
        self,
        query: str,
        partitions: Sequence[Partition],
        *,
        limit: int,
        budget: int = ...,
        among: Sequence[int] | None = None,
        also: Collection[int] = (),
    ) -> WordMatches:
        """Return the *limit* best matches, best first, then those of *also* that match."""

    def match_item(self, query: str, partitions: Sequence[Partition], item_id: int) -> WordMatches:
        """Return how one item matches *query*; no matches if they share no word."""


class EmbeddingIndex(Protocol):
    """Embedding models, the vectors of each item, and search by vector similarity."""

    def model_id(self, name: str, dimension: int) -> int | None:
        """Return the id of a registered model, or None."""

    def latest_model(self, name: str) -> tuple[int, int] | None:
        """Return id and dimension of the newest registered model of that name."""

    def add_model(self, name: str, dimension: int) -> int:
        """Register a model; return its id."""

    def models_in_use(self) -> ModelsInUse:
        """Return the model chosen for the store, and the one whose vectors answer queries."""

    def choose_model(self, model_id: int) -> None:
        """Choose a model: programs whose settings name none embed with it from now on."""

    def set_serving_model(self, model_id: int) -> None:
        """Answer queries with the vectors of this model from now on."""

    def pending(
        self, model_id: int | None, limit: int, which: PendingFilter
    ) -> list[UnembeddedItem]:
        """Return items without vectors of that model, the newest first."""

    def pending_among(
        self, model_id: int | None, record_ids: Sequence[str]
    ) -> list[UnembeddedItem]:
        """Return which of some records have no vectors of that model."""

    def never_embedded_among(self, record_ids: Sequence[str]) -> list[UnembeddedItem]:
        """Return which of some records no model has embedded."""

    def unchanged(self, items: Sequence[UnembeddedItem]) -> list[UnembeddedItem]:
        """Return which of some items still exist and have the same text."""

    def count_pending(self, model_id: int | None) -> int:
        """Return how many items have no vectors of that model."""

    def count_by_model(self) -> Mapping[str, int]:
        """Return how many items each model has embedded; '' counts the pending ones."""

    def count_vectors(self) -> Mapping[tuple[str, int], int]:
        """Return how many items each model has vectors of, by name and dimension."""

    def vectors_by_hash(self, model_id: int, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the vectors of texts that were embedded before, by the hash of the text."""

    def save(
        self, model_id: int, item_ids: Sequence[int], chunks: Sequence[ChunkEmbedding]
    ) -> None:
        """Store the vectors of some items, and mark the items as embedded."""

    def has_unused_vectors(self) -> bool:
        """Tell whether there are vectors of models that are neither chosen nor serving."""

    def drop_unused_vectors(self) -> None:
        """Delete a batch of the vectors of models that are neither chosen nor serving."""

    def nearest(
        self,
        model_id: int,
        query: "Array",
        partitions: Sequence[Partition],
        *,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, VectorMatch]:
        """Return the *limit* most similar items, best first; if given, only items of *among*."""

    def similarity_stats(
        self, model_id: int, query: "Array", partitions: Sequence[Partition]
    ) -> SimilarityStats:
        """Return how similar a sample of items in *partitions* is to *query*."""

    def pairwise_similarities(
        self, model_id: int, item_ids: Sequence[int]
    ) -> Mapping[tuple[int, int], float]:
        """Return the similarity of each ordered pair of some items, by their first chunks."""

    def first_vectors(self, model_id: int, item_ids: Sequence[int]) -> "Mapping[int, Array]":
        """Return the vector of each item's first chunk; items without one are left out."""

    def similarities(
        self,
        model_id: int,
        query: "Array",
        item_ids: Iterable[int],
        partitions: Sequence[Partition] = (),
    ) -> Mapping[int, VectorMatch]:
        """Return how similar some items are to *query*; items without a vector are left out."""
