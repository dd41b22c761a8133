"""Embeddings: the models, the vectors of each item, and what is still to be embedded."""

import json
from collections.abc import Iterator, Mapping, Sequence

from recollect.domain.model_profile import ModelProfile, SimilarityScale
from recollect.domain.scope import ItemKind
from recollect.store.database_connection import DatabaseConnection, Row, record_shape
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.repositories.repository import Repository
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    PendingFilter,
    RegisteredModel,
    UnembeddedItem,
)

NO_MODEL = -1  # an id that no model has
CHUNKS_PER_STATEMENT = 500  # about a megabyte
DROP_BATCH = 2_000  # vectors; takes a fraction of a second, and others can write between batches

_CHUNK = record_shape(ChunkEmbedding, "id chunk chunk_count text_hash data")
_PENDING_QUERIES: Mapping[PendingFilter, str] = {
    PendingFilter.ALL: "pending",
    PendingFilter.NEW: "never_embedded",
    PendingFilter.REEMBED: "embedded_by_others",
}


class EmbeddingRepository(Repository):
    """Embedding models, the vectors of each item, and what is to be embedded."""

    _statements = "embeddings"

    def __init__(self, connection: DatabaseConnection, items: IndexedItemReader) -> None:
        super().__init__(connection)
        self._items = items

    def model_id(self, name: str, dimension: int) -> int | None:
        """Return the id of a registered model, or None."""
        model_id: int | None = self._value("model", name=name, dimension=dimension)
        return model_id

    def latest_model(self, name: str) -> tuple[int, int] | None:
        """Return id and dimension of the newest registered model of that name."""
        rows = self._rows("latest_model", name=name)
        return rows[0] if rows else None

    def add_model(self, name: str, dimension: int) -> int:
        """Register a model; return its id."""
        return int(self._value("add_model", name=name, dimension=dimension))

    def set_profile(self, model_id: int, profile: ModelProfile) -> None:
        """Store what was measured of a model, unless it is stored already."""
        self._run("set_profile", model_id=model_id, profile=_profile_to_json(profile))

    def profile(self, model_id: int) -> ModelProfile | None:
        """Return what was measured of a model, or None if nothing was."""
        return _profile_from_json(self._value("profile", model_id=model_id))

    def has_vectors(self, model_id: int) -> bool:
        """Return whether the store has vectors of a model."""
        return bool(self._value("has_vectors", model_id=model_id))

    def models_in_use(self) -> ModelsInUse:
        """Return the model chosen for the store, and the one whose vectors answer queries."""
        [row] = self._rows("models_in_use")
        return _models_in_use(row)

    def query_state(self) -> tuple[ModelsInUse, bool]:
        """Return the models in use, and whether records wait to be embedded by the serving one."""
        [row] = self._rows("query_state")
        return _models_in_use(row[:8]), bool(row[8])

    def choose_model(self, model_id: int) -> None:
        """Choose a model: programs whose settings name none embed with it from now on."""
        self._run("choose_model", model_id=model_id)

    def set_serving_model(self, model_id: int) -> None:
        """Answer queries with the vectors of this model from now on."""
        self._run("set_serving_model", model_id=model_id)
        self._run("mark_embedded_items", model_id=model_id)

    def pending(
        self, model_id: int | None, limit: int, which: PendingFilter
    ) -> list[UnembeddedItem]:
        """Return items without vectors of that model, the newest first."""
        values = {"model_id": _id_or_no_model(model_id), "limit": limit}
        return self._with_texts(self._rows(_PENDING_QUERIES[which], **values))

    def pending_among(
        self, model_id: int | None, record_ids: Sequence[str]
    ) -> list[UnembeddedItem]:
        """Return which of some records have no vectors of that model."""
        values = {"model_id": _id_or_no_model(model_id), "ids": list(record_ids)}
        return self._with_texts(self._rows("pending_among", **values))

    def never_embedded_among(self, record_ids: Sequence[str]) -> list[UnembeddedItem]:
        """Return which of some records no model has embedded."""
        return self._with_texts(self._rows("never_embedded_among", ids=list(record_ids)))

    def _with_texts(self, rows: list[Row]) -> list[UnembeddedItem]:
        kinds = {record_id: ItemKind(kind) for record_id, kind in rows}
        texts = self._texts(kinds)
        return [
            UnembeddedItem(record_id, kind, *texts[record_id])
            for record_id, kind in kinds.items()
            if record_id in texts
        ]

    def _texts(self, kinds: Mapping[str, ItemKind]) -> dict[str, tuple[str, str]]:
        """Return text and context of some records that exist, given by id with their kinds."""
        texts: dict[str, tuple[str, str]] = {}
        for kind in dict.fromkeys(kinds.values()):
            ids = [record_id for record_id in kinds if kinds[record_id] is kind]
            texts |= self._items.texts_to_embed(kind, ids)
        return texts

    def unchanged(self, items: Sequence[UnembeddedItem]) -> list[UnembeddedItem]:
        """Return which of some items still exist and have the same text."""
        texts = self._texts({item.id: item.kind for item in items})
        return [item for item in items if texts.get(item.id) == (item.text, item.context)]

    def count_pending(self, model_id: int | None) -> int:
        """Return how many items have no vectors of that model."""
        return int(self._value("count_pending", model_id=_id_or_no_model(model_id)))

    def count_by_model(self) -> Mapping[str, int]:
        """Return how many items each model has embedded; '' counts the pending ones."""
        return dict(self._rows("count_by_model"))

    def count_vectors(self) -> Mapping[tuple[str, int], int]:
        """Return how many items each model has vectors of, by name and dimension."""
        rows = self._rows("count_vectors")
        return {(name, dimension): count for name, dimension, count in rows}

    def vectors_by_hash(self, model_id: int, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the vectors of texts that were embedded before, by the hash of the text."""
        names = [text_hash.hex() for text_hash in hashes]
        return dict(self._rows("by_hash", model_id=model_id, hashes=names))

    def save(
        self, model_id: int, record_ids: Sequence[str], chunks: Sequence[ChunkEmbedding]
    ) -> None:
        """Store the vectors of some records, and mark the records as embedded."""
        rows = [
            [chunk.id, chunk.chunk, chunk.chunk_count, chunk.text_hash.hex(), chunk.data.hex()]
            for chunk in chunks
        ]
        for start in range(0, len(rows), CHUNKS_PER_STATEMENT):
            some = rows[start : start + CHUNKS_PER_STATEMENT]
            self._run("add_embeddings", model_id=model_id, rows=some)
        self._run("mark_embedded", model_id=model_id, ids=list(record_ids))

    def embed_again(self, record_ids: Sequence[str]) -> None:
        """Delete the vectors of some records, which then wait to be embedded again."""
        self._run("delete_vectors", ids=list(record_ids))
        self._run("mark_pending", ids=list(record_ids))

    def all_models(self) -> list[RegisteredModel]:
        """Return every registered model, the oldest first."""
        return [_registered_model(row) for row in self._rows("all_models")]

    def all_vectors(self, model_id: int) -> Iterator[ChunkEmbedding]:
        """Yield every vector of a model, in the order in which they were made."""
        return self._stream(_CHUNK, "vectors_of_model", model_id=model_id)

    def embedded_ids(self, model_id: int) -> list[str]:
        """Return the records that count as embedded by a model."""
        return self._column("embedded_ids", model_id=model_id)

    def has_unused_vectors(self) -> bool:
        """Tell whether there are vectors of models that are neither chosen nor serving."""
        return bool(self._value("has_unused_vectors"))

    def drop_unused_vectors(self) -> None:
        """Delete a batch of the vectors of models that are neither chosen nor serving."""
        self._run("drop_unused_vectors", limit=DROP_BATCH)


def _models_in_use(row: Row) -> ModelsInUse:
    chosen = None if row[0] is None else _registered_model(row[:4])
    return ModelsInUse(chosen, None if row[4] is None else _registered_model(row[4:]))


def _registered_model(row: Row) -> RegisteredModel:
    model_id, name, dimension, profile = row
    return RegisteredModel(model_id, name, dimension, _profile_from_json(profile))


def _profile_to_json(profile: ModelProfile) -> str:
    scales = {
        name: [scale.slope, scale.offset]
        for name, scale in (("queries", profile.queries), ("texts", profile.texts))
    }
    return json.dumps({**scales, "needs_gloss": profile.needs_gloss})


def _profile_from_json(text: str | None) -> ModelProfile | None:
    if text is None:
        return None
    values = json.loads(text)
    return ModelProfile(
        SimilarityScale(*values["queries"]),
        SimilarityScale(*values["texts"]),
        needs_gloss=values["needs_gloss"],
    )


def _id_or_no_model(model_id: int | None) -> int:
    return NO_MODEL if model_id is None else model_id
