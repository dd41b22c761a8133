"""
Embeddings in SQLite: the models, the vectors of each item, and what is still to be embedded.

Methods that compare vectors import NumPy themselves: a process that only writes never loads it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import apsw

from recollect.domain.scope import ItemKind
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row
from recollect.store.sqlite.table import SqliteTable
from recollect.store.values import (
    ChunkEmbedding,
    ModelsInUse,
    Partition,
    PendingFilter,
    RegisteredModel,
    SimilarityStats,
    UnembeddedItem,
    VectorMatch,
)

if TYPE_CHECKING:
    from recollect.store.sqlite.bit_code_index import BitCodeIndex, Vector

SAMPLE_SIZE = 64  # vectors from which the usual similarity to a query is estimated
MAX_SAMPLED_PARTITIONS = 8
NO_MODEL = -1  # an id that no model has
DROP_BATCH = 2_000  # vectors; takes a fraction of a second, and others can write between batches
MIN_RESCORED = 400  # embeddings compared exactly: the best ten are among them 98 times in 100

_PENDING_QUERIES: Mapping[PendingFilter, tuple[str, ...]] = {
    PendingFilter.ALL: ("never_embedded", "embedded_before", "embedded_after"),
    PendingFilter.NEW: ("never_embedded",),
    PendingFilter.REEMBED: ("embedded_before", "embedded_after"),
}


class SqliteEmbeddingIndex(SqliteTable):
    """See `recollect.store.indexes.EmbeddingIndex`."""

    _sql = query_loader.load("embeddings")

    def __init__(
        self, db: apsw.Connection, items: IndexedItemReader, code_indexes: "dict[int, BitCodeIndex]"
    ) -> None:
        super().__init__(db)
        self._items = items
        self._code_indexes = code_indexes

    def model_id(self, name: str, dimension: int) -> int | None:
        return self._first(lambda row: int(row[0]), "model", name=name, dimension=dimension)

    def latest_model(self, name: str) -> tuple[int, int] | None:
        return self._first(lambda row: (row[0], row[1]), "latest_model", name=name)

    def add_model(self, name: str, dimension: int) -> int:
        return int(self._run("add_model", name=name, dimension=dimension).get)

    def models_in_use(self) -> ModelsInUse:
        [row] = self._run("models_in_use")
        chosen = None if row[0] is None else RegisteredModel(*row[:3])
        return ModelsInUse(chosen, None if row[3] is None else RegisteredModel(*row[3:]))

    def choose_model(self, model_id: int) -> None:
        self._run("choose_model", model_id=model_id)

    def set_serving_model(self, model_id: int) -> None:
        self._run("set_serving_model", model_id=model_id)
        self._run("mark_embedded_items", model_id=model_id)

    def pending(
        self, model_id: int | None, limit: int, which: PendingFilter
    ) -> list[UnembeddedItem]:
        rows: list[Row] = []
        for name in _PENDING_QUERIES[which]:
            rows += self._rows(name, model_id=_id_or_no_model(model_id), limit=limit - len(rows))
        return self._with_texts(rows)

    def pending_among(
        self, model_id: int | None, record_ids: Sequence[str]
    ) -> list[UnembeddedItem]:
        values = {"model_id": _id_or_no_model(model_id), "ids": list(record_ids)}
        return self._with_texts(self._rows("pending_among", **values))

    def never_embedded_among(self, record_ids: Sequence[str]) -> list[UnembeddedItem]:
        return self._with_texts(self._rows("never_embedded_among", ids=list(record_ids)))

    def _with_texts(self, rows: list[Row]) -> list[UnembeddedItem]:
        by_kind: dict[str, list[str]] = {}
        for _, record_id, kind in rows:
            by_kind.setdefault(kind, []).append(record_id)
        texts: dict[str, str] = {}
        for kind, ids in by_kind.items():
            texts |= self._items.texts_to_embed(ItemKind(kind), ids)
        return [
            UnembeddedItem(item_id, texts[record_id])
            for item_id, record_id, _ in rows
            if record_id in texts
        ]

    def unchanged(self, items: Sequence[UnembeddedItem]) -> list[UnembeddedItem]:
        rows = self._rows("items_by_id", item_ids=[item.item_id for item in items])
        texts = {item.item_id: item.text for item in self._with_texts(rows)}
        return [item for item in items if texts.get(item.item_id) == item.text]

    def count_pending(self, model_id: int | None) -> int:
        return int(self._run("count_pending", model_id=_id_or_no_model(model_id)).get)

    def count_by_model(self) -> Mapping[str, int]:
        return dict(self._rows("count_by_model"))

    def count_vectors(self) -> Mapping[tuple[str, int], int]:
        rows = self._rows("count_vectors")
        return {(name, dimension): count for name, dimension, count in rows}

    def vectors_by_hash(self, model_id: int, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        vectors = {}
        for text_hash in hashes:
            if row := self._run("by_hash", model_id=model_id, hash=text_hash).fetchone():
                vectors[row[0]] = row[1]
        return vectors

    def save(
        self, model_id: int, item_ids: Sequence[int], chunks: Sequence[ChunkEmbedding]
    ) -> None:
        for chunk in chunks:
            values = {"chunks": chunk.chunk_count, "hash": chunk.text_hash, "vector": chunk.data}
            position = {"item_id": chunk.item_id, "chunk": chunk.chunk}
            self._run("add_embedding", model_id=model_id, **position, **values)
        self._run("mark_embedded", model_id=model_id, item_ids=list(item_ids))

    def has_unused_vectors(self) -> bool:
        return bool(self._run("has_unused_vectors").get)

    def drop_unused_vectors(self) -> None:
        self._run("drop_unused_vectors", limit=DROP_BATCH)

    def nearest(
        self,
        model_id: int,
        query: "Vector",
        partitions: Sequence[Partition],
        *,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, VectorMatch]:
        from recollect.store.sqlite.bit_code_index import fetch, rescore  # loads NumPy

        index = self._code_index(model_id)
        partition_ids = [partition.id for partition in partitions]
        rescored = max(MIN_RESCORED, 2 * limit)
        allowed = None if among is None else self._embedding_ids(model_id, among)
        if allowed is not None and len(allowed) <= rescored:
            return rescore(fetch(self._db, allowed), query, limit)
        rows, cached = index.nearest(self._db, query, partition_ids, rescored, among=allowed)
        best = rescore(rows, query, limit)
        while cached and (missing := index.missing_items(self._db, best, partition_ids)):
            rows = rows.without_items(missing)
            best = rescore(rows, query, limit)
        return best

    def _code_index(self, model_id: int) -> "BitCodeIndex":
        from recollect.store.sqlite.bit_code_index import BitCodeIndex  # loads NumPy

        index = self._code_indexes.get(model_id)
        if index is None:
            self._code_indexes.clear()  # one model answers at a time
            index = self._code_indexes.setdefault(model_id, BitCodeIndex(model_id))
        return index

    def _embedding_ids(self, model_id: int, item_ids: Sequence[int]) -> list[int]:
        return self._column("ids_of_items", model_id=model_id, item_ids=list(item_ids))

    def similarity_stats(
        self, model_id: int, query: "Vector", partitions: Sequence[Partition]
    ) -> SimilarityStats:
        from recollect.store.sqlite.bit_code_index import similarity_stats  # loads NumPy

        # Not ordered by id among partitions of one size: a rebuild may change the ids.
        by_size = sorted(partitions, key=lambda p: (-p.item_count, p.owner.scope, p.owner.id))
        largest = by_size[:MAX_SAMPLED_PARTITIONS]
        limit = SAMPLE_SIZE // max(len(largest), 1)
        sample: list[bytes] = []
        for partition in largest:
            values = {"model_id": model_id, "partition_id": partition.id, "limit": limit}
            sample += self._column("oldest", **values)
        return similarity_stats(sample, query)

    def pairwise_similarities(
        self, model_id: int, item_ids: Sequence[int]
    ) -> Mapping[tuple[int, int], float]:
        from recollect.store.sqlite.bit_code_index import pairwise_similarities  # loads NumPy

        return pairwise_similarities(self._first_chunks(model_id, item_ids))

    def first_vectors(self, model_id: int, item_ids: Sequence[int]) -> "Mapping[int, Vector]":
        from recollect.store.sqlite.bit_code_index import decode_vector  # loads NumPy

        rows = self._first_chunks(model_id, item_ids)
        return {item_id: decode_vector(blob) for item_id, blob in rows}

    def _first_chunks(self, model_id: int, item_ids: Sequence[int]) -> list[tuple[int, bytes]]:
        return self._rows("first_chunks", model_id=model_id, item_ids=list(item_ids))

    def similarities(
        self,
        model_id: int,
        query: "Vector",
        item_ids: Iterable[int],
        partitions: Sequence[Partition] = (),
    ) -> Mapping[int, VectorMatch]:
        from recollect.store.sqlite.bit_code_index import fetch_items, rescore  # loads NumPy

        remaining = list(item_ids)
        best: dict[int, VectorMatch] = {}
        partition_ids = [partition.id for partition in partitions]
        index = self._code_index(model_id)
        index.missing_items(self._db, remaining, partition_ids)  # drops what is stale
        for rows in index.cached_rows(partition_ids, remaining):
            best |= rescore(rows, query)
        remaining = [item_id for item_id in remaining if item_id not in best]
        if not remaining:
            return best
        return best | rescore(fetch_items(self._db, model_id, remaining), query)


def _id_or_no_model(model_id: int | None) -> int:
    return NO_MODEL if model_id is None else model_id
