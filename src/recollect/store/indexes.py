"""The protocol of the embeddings: models, the vectors of items, and what is to be embedded."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    PendingFilter,
    UnembeddedItem,
)


class EmbeddingIndex(Protocol):
    """Embedding models, the vectors of each item, and what is to be embedded."""

    def model_id(self, name: str, dimension: int) -> int | None:
        """Return the id of a registered model, or None."""

    def latest_model(self, name: str) -> tuple[int, int] | None:
        """Return id and dimension of the newest registered model of that name."""

    def add_model(self, name: str, dimension: int) -> int:
        """Register a model; return its id."""

    def models_in_use(self) -> ModelsInUse:
        """Return the model chosen for the store, and the one whose vectors answer queries."""

    def query_state(self) -> tuple[ModelsInUse, bool]:
        """Return the models in use, and whether records wait to be embedded by the serving one."""

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
        self, model_id: int, record_ids: Sequence[str], chunks: Sequence[ChunkEmbedding]
    ) -> None:
        """Store the vectors of some records, and mark the records as embedded."""

    def has_unused_vectors(self) -> bool:
        """Tell whether there are vectors of models that are neither chosen nor serving."""

    def drop_unused_vectors(self) -> None:
        """Delete a batch of the vectors of models that are neither chosen nor serving."""
