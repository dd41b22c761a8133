"""
Search by vector: the nearest items, and how similar given items are to a query.

Methods import NumPy themselves: a process that only writes never loads it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from recollect.domain.model_profile import SimilarityScale
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection
from recollect.store.indexes.item_records import ItemRecords
from recollect.store.repositories.repository import Repository
from recollect.store.search_index import QueryVector, SimilarityStats, VectorMatch
from recollect.store.values import Partition

if TYPE_CHECKING:
    from recollect.store.indexes.bit_code_index import BitCodeIndex, Vector
    from recollect.store.indexes.vector_cache import EmbeddingRows

SAMPLE_SIZE = 64  # vectors from which the usual similarity to a query is estimated
MAX_SAMPLED_PARTITIONS = 8
MIN_RESCORED = 400  # embeddings compared exactly: the best ten are among them 98 times in 100

# Returns which of some items have no vectors in some partitions.
WithoutVectors = Callable[[Iterable[int], Collection[int]], list[int]]


@dataclass(frozen=True)
class VectorNeighbours:
    """A request for the items of some partitions that are nearest to an item, and some others."""

    item_id: int
    partitions: Sequence[Partition]
    also: Collection[int]


@dataclass(frozen=True)
class _Scan:
    """The embeddings nearest to a query, before it is known whether all of them still exist."""

    query: QueryVector
    partition_ids: Sequence[int]
    limit: int
    rows: "EmbeddingRows"
    is_cached: bool

    @cached_property
    def best(self) -> dict[int, VectorMatch]:
        """The most similar items, best first."""
        from recollect.store.indexes.bit_code_index import rescore  # loads NumPy

        return rescore(self.rows, self.query, self.limit)


class VectorIndex(Repository):
    """The vectors of one connection; the bit codes in memory are shared by all connections."""

    _statements = "vector_index"

    def __init__(
        self, connection: DatabaseConnection, code_indexes: "dict[int, BitCodeIndex]"
    ) -> None:
        super().__init__(connection)
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
        scan = self._scan(query, partitions, limit, among)
        return self._check(scan, without_vectors)

    def similarities_to_items(
        self,
        model_id: int,
        scale: SimilarityScale,
        requests: "Sequence[VectorNeighbours]",
        *,
        limit: int,
        records: ItemRecords,
    ) -> list[dict[int, float]]:
        """
        Return, for each request, the *limit* items nearest to its item, and those it names.

        An item is compared by its first chunk; nothing is returned for one without vectors. What
        surrounds a statement is not compared: statements of one message would resemble each other.
        """
        from recollect.store.indexes.bit_code_index import (  # loads NumPy
            decode_vector,
            fetch_compared,
            rescore,
        )

        liked = sorted({request.item_id for request in requests})
        vectors = {id_: decode_vector(blob) for id_, blob in self._first_chunks(model_id, liked)}
        queries = {id_: QueryVector(model_id, values, scale) for id_, values in vectors.items()}
        compared = [request for request in requests if request.item_id in queries]
        self._refresh(model_id, vectors, compared)
        scans = [
            self._scan(queries[request.item_id], request.partitions, limit) for request in compared
        ]
        compared_ids = sorted(
            {
                *(id_ for request in compared for id_ in request.also),
                *(id_ for scan in scans for id_ in scan.best),
            }
        )
        # Read once for all of them; checking each finds its records there.
        records.load(compared_ids)
        rows = fetch_compared(self._connection, model_id, compared_ids) if compared_ids else None
        similarities: list[dict[int, float]] = []
        remaining = iter(scans)
        for request in requests:
            near: dict[int, VectorMatch] = {}
            if rows is not None and request.item_id in queries:
                nearest = self._check(next(remaining), records.without_vectors)
                some = rows.of_items([*nearest, *request.also])
                near = rescore(some, queries[request.item_id])
            similarities.append({id_: match.similarity for id_, match in near.items()})
        return similarities

    def _refresh(
        self,
        model_id: int,
        vectors: "Mapping[int, Vector]",
        requests: "Sequence[VectorNeighbours]",
    ) -> None:
        """Read what is new in the partitions of some requests, once for all of them."""
        newest = {part.id: part.newest_embedding for req in requests for part in req.partitions}
        if newest:
            dimension = len(next(iter(vectors.values())))
            last = max(newest.values())
            self._code_index(model_id).refresh(
                self._connection, list(newest), dimension, newest=last
            )

    def _scan(
        self,
        query: QueryVector,
        partitions: Sequence[Partition],
        limit: int,
        among: Sequence[int] | None = None,
    ) -> "_Scan":
        """Find the most similar items; some that are cached may have been deleted since."""
        from recollect.store.indexes.bit_code_index import fetch  # loads NumPy

        index = self._code_index(query.model_id)
        partition_ids = [partition.id for partition in partitions]
        rescored = max(MIN_RESCORED, 2 * limit)
        allowed = None if among is None else self._embedding_ids(query.model_id, among)
        if allowed is not None and len(allowed) <= rescored:
            return _Scan(
                query, partition_ids, limit, fetch(self._connection, allowed), is_cached=False
            )
        newest = max((partition.newest_embedding for partition in partitions), default=0)
        rows, is_cached = index.nearest(
            self._connection, query.values, partition_ids, rescored, newest=newest, among=allowed
        )
        return _Scan(query, partition_ids, limit, rows, is_cached=is_cached)

    def _check(self, scan: "_Scan", without_vectors: WithoutVectors) -> dict[int, VectorMatch]:
        """Return the best items of a scan that still have vectors."""
        while scan.is_cached and (missing := without_vectors(scan.best, scan.partition_ids)):
            index = self._code_index(scan.query.model_id)
            index.drop_stale(self._connection, missing, scan.partition_ids)
            scan = replace(scan, rows=scan.rows.without_items(missing))
        return scan.best

    def similarities(
        self,
        query: QueryVector,
        item_ids: Iterable[int],
        partitions: Sequence[Partition],
        without_vectors: WithoutVectors,
    ) -> dict[int, VectorMatch]:
        """Return how similar some items are to *query*; items without a vector are left out."""
        from recollect.store.indexes.bit_code_index import fetch, rescore  # loads NumPy

        remaining = list(item_ids)
        if not remaining:
            return {}
        best: dict[int, VectorMatch] = {}
        partition_ids = [partition.id for partition in partitions]
        index = self._code_index(query.model_id)
        if partition_ids and (missing := without_vectors(remaining, partition_ids)):
            index.drop_stale(self._connection, missing, partition_ids)
        for rows in index.cached_rows(partition_ids, remaining):
            best |= rescore(rows, query)
        remaining = [item_id for item_id in remaining if item_id not in best]
        if not remaining:
            return best
        ids = self._embedding_ids(query.model_id, remaining)
        return best | rescore(fetch(self._connection, ids), query)

    def similarity_stats(
        self, query: QueryVector, partitions: Sequence[Partition]
    ) -> SimilarityStats:
        """Return how similar a sample of the items in *partitions* is to *query*."""
        # Not ordered by id among partitions of one size: a rebuild may change the ids.
        by_size = sorted(partitions, key=lambda p: (-p.item_count, p.owner.scope, p.owner.id))
        largest = [partition.id for partition in by_size[:MAX_SAMPLED_PARTITIONS]]
        limit = SAMPLE_SIZE // max(len(largest), 1)
        sample = self._column("oldest", model_id=query.model_id, partition_ids=largest, limit=limit)
        index = self._code_index(query.model_id)
        return index.similarity_stats(self._connection, tuple(sample), query)

    def pairwise_similarities(
        self, model_id: int, scale: SimilarityScale, item_ids: Sequence[int]
    ) -> Mapping[tuple[int, int], float]:
        """Return the similarity of each ordered pair of some items, by their first chunks."""
        from recollect.store.indexes.bit_code_index import pairwise_similarities  # loads NumPy

        return pairwise_similarities(self._first_chunks(model_id, item_ids), scale)

    def _first_chunks(self, model_id: int, item_ids: Sequence[int]) -> list[tuple[int, bytes]]:
        return self._rows("first_chunks", model_id=model_id, item_ids=list(item_ids))

    def _code_index(self, model_id: int) -> "BitCodeIndex":
        from recollect.store.indexes.bit_code_index import BitCodeIndex  # loads NumPy

        index = self._code_indexes.get(model_id)
        if index is None:
            self._code_indexes.clear()  # one model answers at a time
            index = self._code_indexes.setdefault(model_id, BitCodeIndex(model_id))
        return index

    def _embedding_ids(self, model_id: int, item_ids: Sequence[int]) -> list[int]:
        return self._column("ids_of_items", model_id=model_id, item_ids=list(item_ids))
