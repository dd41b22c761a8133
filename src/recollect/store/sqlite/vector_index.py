"""
Search by vector in SQLite: the nearest items, and how similar given items are to a query.

Methods import NumPy themselves: a process that only writes never loads it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import apsw

from recollect.store.search_index import QueryVector, SimilarityStats, VectorMatch
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import fetch_all, to_json
from recollect.store.values import Partition

if TYPE_CHECKING:
    from recollect.store.sqlite.bit_code_index import BitCodeIndex, Vector

SAMPLE_SIZE = 64  # vectors from which the usual similarity to a query is estimated
MAX_SAMPLED_PARTITIONS = 8
MIN_RESCORED = 400  # embeddings compared exactly: the best ten are among them 98 times in 100

_SQL = query_loader.load("vector_index")
# Returns which of some items have no vectors in some partitions.
WithoutVectors = Callable[[Iterable[int], Collection[int]], list[int]]


class SqliteVectorIndex:
    """The vectors of one connection; the bit codes in memory are shared by all connections."""

    def __init__(self, db: apsw.Connection, code_indexes: "dict[int, BitCodeIndex]") -> None:
        self._db = db
        self._code_indexes = code_indexes

    def nearest(
        self,
        query: QueryVector,
        partitions: Sequence[Partition],
        *,
        limit: int,
        without_vectors: WithoutVectors,
        among: Sequence[int] | None = None,
    ) -> dict[int, VectorMatch]:
        """Return the *limit* most similar items, best first; if given, only items of *among*."""
        from recollect.store.sqlite.bit_code_index import fetch, rescore  # loads NumPy

        index = self._code_index(query.model_id)
        partition_ids = [partition.id for partition in partitions]
        rescored = max(MIN_RESCORED, 2 * limit)
        allowed = None if among is None else self._embedding_ids(query.model_id, among)
        if allowed is not None and len(allowed) <= rescored:
            return rescore(fetch(self._db, allowed), query.values, limit)
        newest = max((partition.newest_embedding for partition in partitions), default=0)
        rows, cached = index.nearest(
            self._db, query.values, partition_ids, rescored, newest=newest, among=allowed
        )
        best = rescore(rows, query.values, limit)
        while cached and (missing := without_vectors(best, partition_ids)):
            index.drop_stale(self._db, missing, partition_ids)
            rows = rows.without_items(missing)
            best = rescore(rows, query.values, limit)
        return best

    def similarities(
        self,
        query: QueryVector,
        item_ids: Iterable[int],
        partitions: Sequence[Partition],
        without_vectors: WithoutVectors,
    ) -> dict[int, VectorMatch]:
        """Return how similar some items are to *query*; items without a vector are left out."""
        from recollect.store.sqlite.bit_code_index import fetch_items, rescore  # loads NumPy

        remaining = list(item_ids)
        if not remaining:
            return {}
        best: dict[int, VectorMatch] = {}
        partition_ids = [partition.id for partition in partitions]
        index = self._code_index(query.model_id)
        if partition_ids and (missing := without_vectors(remaining, partition_ids)):
            index.drop_stale(self._db, missing, partition_ids)
        for rows in index.cached_rows(partition_ids, remaining):
            best |= rescore(rows, query.values)
        remaining = [item_id for item_id in remaining if item_id not in best]
        if not remaining:
            return best
        return best | rescore(fetch_items(self._db, query.model_id, remaining), query.values)

    def similarity_stats(
        self, query: QueryVector, partitions: Sequence[Partition]
    ) -> SimilarityStats:
        """Return how similar a sample of the items in *partitions* is to *query*."""
        from recollect.store.sqlite.bit_code_index import similarity_stats  # loads NumPy

        # Not ordered by id among partitions of one size: a rebuild may change the ids.
        by_size = sorted(partitions, key=lambda p: (-p.item_count, p.owner.scope, p.owner.id))
        largest = [partition.id for partition in by_size[:MAX_SAMPLED_PARTITIONS]]
        values = {
            "model_id": query.model_id,
            "partition_ids": to_json(largest),
            "limit": SAMPLE_SIZE // max(len(largest), 1),
        }
        sample = [vector for (vector,) in self._db.execute(_SQL["oldest"], values)]
        return similarity_stats(sample, query.values)

    def pairwise_similarities(
        self, model_id: int, item_ids: Sequence[int]
    ) -> Mapping[tuple[int, int], float]:
        """Return the similarity of each ordered pair of some items, by their first chunks."""
        from recollect.store.sqlite.bit_code_index import pairwise_similarities  # loads NumPy

        return pairwise_similarities(self._first_chunks(model_id, item_ids))

    def first_vector(self, model_id: int, item_id: int) -> "Vector | None":
        """Return the vector of an item's first chunk, or None."""
        from recollect.store.sqlite.bit_code_index import decode_vector  # loads NumPy

        rows = self._first_chunks(model_id, [item_id])
        return decode_vector(rows[0][1]) if rows else None

    def _first_chunks(self, model_id: int, item_ids: Sequence[int]) -> list[tuple[int, bytes]]:
        values = {"model_id": model_id, "item_ids": to_json(list(item_ids))}
        return fetch_all(self._db.execute(_SQL["first_chunks"], values))

    def _code_index(self, model_id: int) -> "BitCodeIndex":
        from recollect.store.sqlite.bit_code_index import BitCodeIndex  # loads NumPy

        index = self._code_indexes.get(model_id)
        if index is None:
            self._code_indexes.clear()  # one model answers at a time
            index = self._code_indexes.setdefault(model_id, BitCodeIndex(model_id))
        return index

    def _embedding_ids(self, model_id: int, item_ids: Sequence[int]) -> list[int]:
        values = {"model_id": model_id, "item_ids": to_json(list(item_ids))}
        return [row[0] for row in self._db.execute(_SQL["ids_of_items"], values)]
