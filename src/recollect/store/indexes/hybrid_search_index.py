"""
Search in the tables of a database: find candidates by words and by vectors, and score each by both.

Both indexes return only items of visible partitions that pass the filters of the query. Each index
is asked for its best hundred or so; if too few of them pass, it is asked for more. So a narrow
filter still finds enough, and a wide one costs one round. What one index finds is scored by the
other too: an item with a similar vector gets its word score although a hundred others match more
words. If only few items can pass at all (a time range), only those are searched.

An item is a searchable record, known to the indexes by an integer. Those integers, partitions and
bit codes are not known above this file: candidates have the text ids of their records.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from recollect.clock import from_micros
from recollect.domain.conversation import MessageFilters
from recollect.domain.memory import Status
from recollect.domain.model_profile import SAME_SCALE, SimilarityScale
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection
from recollect.store.indexes.item_records import (
    ItemRecords,
    memory_filter_values,
    time_range_values,
)
from recollect.store.indexes.vector_index import VectorIndex, VectorNeighbours
from recollect.store.indexes.word_index import Postings, WordIndex
from recollect.store.indexes.word_scores import POSTINGS_BUDGET, QueryWord, WordMatches
from recollect.store.repositories.repository import Repository
from recollect.store.search_index import (
    NO_STATS,
    IndexedRecord,
    IndexQuery,
    NeighbourQuery,
    OtherOwners,
    QueryVector,
    SearchCandidate,
    SearchResult,
    VectorMatch,
    WordMatch,
)
from recollect.store.values import Partition

T = TypeVar("T")

MIN_CANDIDATES = 100  # of each index that pass the filters, however few are to be returned
OVERFETCH = 1.2  # factor on the first request, since some may not pass the filters
MIN_GROWTH, MAX_GROWTH = 1.5, 20.0  # factor from one request to the next
MAX_FETCH = 100_000
RESTRICT_BELOW = 5_000  # if a time range leaves fewer items, only those are searched
NO_ITEM = -1

_EVERY_STATUS = Filters(statuses=frozenset(Status))
_SCOPES = {scope.value: scope for scope in Scope}  # looked up: cheaper than calling the enum


class HybridSearchIndex(Repository):
    """See `recollect.store.search_index.SearchIndex`."""

    _statements = "search_index"

    def __init__(
        self, connection: DatabaseConnection, word_index: WordIndex, vectors: VectorIndex
    ) -> None:
        super().__init__(connection)
        self._words = word_index
        self._vectors = vectors

    def search(self, query: IndexQuery) -> SearchResult:
        partitions, other_partitions = self._partitions(query)
        records = ItemRecords(
            self._connection,
            query.kind,
            query.filters,
            query.ids,
            with_preceding=query.use_preceding and bool(query.text),
        )
        among = self._few_items(query, partitions) if query.within_time_range else None
        fetcher = _Fetcher(records, max(MIN_CANDIDATES, query.limit), {})
        words, other_words = self._words.find_query_words(
            query.text, (partitions, other_partitions), correct_spelling=query.correct_spelling
        )
        plans = [] if among is not None else [(words, POSTINGS_BUDGET)]
        if query.others is not None:
            plans.append((other_words, query.others.max_postings))
        postings = self._words.read_postings(plans)
        # Words first, because the query may still be embedded; but words that are too common to be
        # read are looked up for what the vectors find.
        by_vector: dict[int, VectorMatch] = {}
        is_vector_first = among is not None or not self._words.reads_in_full(words)
        if is_vector_first:
            by_vector = self._search_vectors(query.vector, partitions, fetcher, among)
        by_words, result = self._search_words(words, postings, fetcher, among, by_vector)
        stats = NO_STATS
        if query.vector is not None:
            stats = self._vectors.similarity_stats(query.vector, partitions)
        if not is_vector_first:
            by_vector = self._search_vectors(query.vector, partitions, fetcher, among)
        by_words |= result.match_of(by_vector)
        if query.vector is not None:
            unseen = [item_id for item_id in by_words if item_id not in by_vector]
            by_vector |= self._vectors.similarities(
                query.vector, unseen, partitions, records.without_vectors
            )
        candidates = _candidates(query, fetcher, by_words, by_vector, result)
        others = []
        if query.others is not None:
            others = self._find_others(query, query.others, other_words, postings)
        visible_count = sum(partition.item_count for partition in partitions)
        return SearchResult(candidates, stats, result.unknown_words, others, visible_count)

    def match(self, query: IndexQuery, ids: Collection[str]) -> SearchResult:
        items = self._rows("items_of", ids=sorted(ids))
        item_ids = sorted(item_id for _, item_id in items)
        if not item_ids:
            return SearchResult([])
        visible, _ = self._partitions(replace(query, others=None))
        records = ItemRecords(self._connection, query.kind, query.filters, query.ids)
        records.load(item_ids)
        by_vector = self._similarities(query.vector, item_ids, records)
        candidates = []
        for item_id in item_ids:
            record = records.record(item_id)
            if record is None:
                continue
            own = [] if record.owner is None else self._read_partitions(query.kind, [record.owner])
            known_ids = {partition.id for partition in visible}
            searched = visible + [other for other in own if other.id not in known_ids]
            [words] = self._words.find_query_words(query.text, [searched])
            result = self._words.match_item(words, item_id)
            match = result.matches.get(item_id)
            candidates.append(
                SearchCandidate(record, match, by_vector.get(item_id), _coverage(match, result))
            )
        return SearchResult(candidates)

    def neighbours(
        self,
        queries: Sequence[NeighbourQuery],
        *,
        limit: int,
        model_id: int | None = None,
        scale: SimilarityScale = SAME_SCALE,
        max_postings: int = POSTINGS_BUDGET,
    ) -> list[Mapping[str, float | None]]:
        owners = list(dict.fromkeys(owner for query in queries for owner in query.owners))
        visible = self._read_partitions(ItemKind.MEMORY, owners)
        partitions = [
            [partition for partition in visible if partition.owner in query.owners]
            for query in queries
        ]
        texts = [query.text for query in queries]
        words = self._words.find_words_of_queries(list(zip(texts, partitions, strict=True)))
        postings = self._words.read_postings([(some, max_postings) for some in words])
        named = sorted({id_ for query in queries for id_ in (*query.also, query.like)})
        items = dict(self._rows("items_of", ids=named))
        item_ids = [
            {*self._words.match(some, postings, limit=limit, budget=max_postings).matches}
            | {items[record_id] for record_id in query.also if record_id in items}
            for query, some in zip(queries, words, strict=True)
        ]
        records = ItemRecords(self._connection, ItemKind.MEMORY, _EVERY_STATUS)
        likes = [items.get(query.like, NO_ITEM) for query in queries]
        similarities: list[dict[int, float]] = [{} for _ in queries]
        if model_id is not None:
            similarities = self._vectors.similarities_to_items(
                model_id,
                scale,
                [VectorNeighbours(*some) for some in zip(likes, partitions, item_ids, strict=True)],
                limit=limit,
                records=records,
            )
        records.load(sorted({id_ for ids in (*item_ids, *similarities) for id_ in ids}))
        results: list[Mapping[str, float | None]] = []
        for ids, near in zip(item_ids, similarities, strict=True):
            rows = ((item_id, records.record(item_id)) for item_id in sorted({*ids, *near}))
            results.append({record.id: near.get(item_id) for item_id, record in rows if record})
        return results

    def pairwise_similarities(
        self,
        model_id: int,
        candidates: Sequence[IndexedRecord],
        *,
        scale: SimilarityScale = SAME_SCALE,
    ) -> Mapping[tuple[str, str], float]:
        ids = {record.sequence: record.id for record in candidates}
        pairs = self._vectors.pairwise_similarities(model_id, scale, list(ids))
        return {(ids[a], ids[b]): similarity for (a, b), similarity in pairs.items()}

    def records(self, ids: Sequence[str], filters: Filters) -> list[IndexedRecord]:
        items = self._rows("items_of", ids=list(ids))
        records = ItemRecords(self._connection, ItemKind.MEMORY, filters)
        records.load(item_id for _, item_id in items)
        return [record for _, item_id in items if (record := records.record(item_id)) is not None]

    def timeline(self, query: IndexQuery, *, limit: int) -> list[tuple[datetime, str]] | None:
        partitions, _ = self._partitions(replace(query, others=None))
        rows = self._timeline(query.filters, partitions, limit)
        if rows is None:
            return None
        return [(from_micros(observed_at), memory_id) for observed_at, _, memory_id in rows]

    def drop(self, kind: ItemKind, owner: Owner) -> int:
        return self._words.drop_partition(kind, owner)

    def _timeline(
        self, filters: Any, partitions: Sequence[Partition], limit: int
    ) -> list[tuple[int, int, str]] | None:
        """Return time, item and id of the memories in *partitions*; None if more than *limit*."""
        owners = _owner_pairs([partition.owner for partition in partitions])
        values = memory_filter_values(filters) | {"owners": owners, "limit": limit + 1}
        rows = sorted(self._rows("timeline", **values))
        return None if len(rows) > limit else rows

    def _partitions(self, query: IndexQuery) -> tuple[list[Partition], list[Partition]]:
        """Return the partitions that *query* may see, and those of other owners that it asks."""
        if query.others is None:
            visible = self._read_partitions(query.kind, query.owners)
            return [part for part in visible if part.owner.scope in query.scopes], []
        every = self._read_partitions(query.kind, None)
        owners = None if query.owners is None else set(query.owners)
        visible = [part for part in every if owners is None or part.owner in owners]
        others = [part for part in every if owners is not None and part.owner not in owners]
        return (
            [part for part in visible if part.owner.scope in query.scopes],
            [part for part in others if part.owner.scope in query.others.scopes],
        )

    def _read_partitions(self, kind: ItemKind, owners: Sequence[Owner] | None) -> list[Partition]:
        if owners is None:
            rows = self._rows("all_partitions", kind=kind)
        else:
            rows = self._rows("partitions_of_owners", kind=kind, owners=_owner_pairs(owners))
        return [
            Partition(partition_id, Owner(_SCOPES[scope], owner_id), item_count, word_count, newest)
            for partition_id, scope, owner_id, item_count, word_count, newest in rows
        ]

    def _few_items(self, query: IndexQuery, partitions: Sequence[Partition]) -> list[int] | None:
        """Return the items of the filters' time range or conversation; None if they are many."""
        if isinstance(query.filters, Filters):
            rows = self._timeline(query.filters, partitions, RESTRICT_BELOW)
            return None if rows is None else [item_id for _, item_id, _ in rows]
        if not isinstance(query.filters, MessageFilters):
            return None
        filters = query.filters
        values: dict[str, Any] = time_range_values(filters) | {"limit": RESTRICT_BELOW + 1}
        owner = query.owners[0] if query.owners else None
        if filters.conversation_id is not None:
            name, values = (
                "few_of_conversation",
                values | {"conversation_id": filters.conversation_id},
            )
        elif owner is not None and owner.scope is Scope.AGENT and (filters.since or filters.until):
            name, values = "few_of_agent", values | {"agent_id": owner.id}
        else:
            return None
        item_ids = self._column(name, **values)
        return None if len(item_ids) > RESTRICT_BELOW else item_ids

    def _search_vectors(
        self,
        vector: QueryVector | None,
        partitions: Sequence[Partition],
        fetcher: "_Fetcher",
        among: Sequence[int] | None,
    ) -> dict[int, VectorMatch]:
        if vector is None:
            return {}
        total = sum(part.item_count for part in partitions) if among is None else len(among)

        def search(limit: int) -> Mapping[int, VectorMatch]:
            return self._vectors.nearest(
                vector,
                partitions,
                limit=limit,
                without_vectors=fetcher.records.without_vectors,
                among=among,
            )

        return fetcher.fetch(search, lambda: total)

    def _search_words(
        self,
        words: Sequence[QueryWord],
        postings: Postings,
        fetcher: "_Fetcher",
        among: Sequence[int] | None,
        also: Collection[int],
    ) -> tuple[dict[int, WordMatch], WordMatches]:
        """Return the word matches by item, and the last raw result."""
        result = WordMatches({}, 0.0, 0)

        def search(limit: int) -> Mapping[int, WordMatch]:
            nonlocal result
            if among is None:
                result = self._words.match(words, postings, limit=limit, also=also)
            else:
                result = self._words.match_among(words, among, limit=limit, also=also)
            return result.matches

        return fetcher.fetch(search, lambda: result.match_count), result

    def _find_others(
        self,
        query: IndexQuery,
        others: OtherOwners,
        words: Sequence[QueryWord],
        postings: Postings,
    ) -> list[SearchCandidate]:
        """Return the records of other owners that have enough words of the query."""
        if not words:
            return []
        result = self._words.match(
            words, postings, limit=others.max_matches, budget=others.max_postings
        )
        strong = {
            item_id: match
            for item_id, match in result.matches.items()
            if len(match.words) >= others.min_words
            and _coverage(match, result) >= others.min_coverage
        }
        if not strong:
            return []
        records = ItemRecords(self._connection, query.kind, query.filters)
        records.load(strong)
        by_vector = self._similarities(query.vector, list(strong), records)
        rows = ((item_id, records.record(item_id)) for item_id in strong)
        return [
            SearchCandidate(record, strong[id_], by_vector.get(id_), _coverage(strong[id_], result))
            for id_, record in rows
            if record is not None
        ]

    def _similarities(
        self, vector: QueryVector | None, item_ids: Sequence[int], records: ItemRecords
    ) -> Mapping[int, VectorMatch]:
        if vector is None:
            return {}
        return self._vectors.similarities(vector, item_ids, (), records.without_vectors)


@dataclass(frozen=True)
class _Fetcher:
    """Fetches from an index until enough results pass the filters; collects what passed."""

    records: ItemRecords
    min_count: int
    passed: dict[int, IndexedRecord]

    def fetch(
        self, search: Callable[[int], Mapping[int, T]], total: Callable[[], int]
    ) -> dict[int, T]:
        """Call *search* with growing limits until enough results pass, or all were seen."""
        limit, previous = int(self.min_count * OVERFETCH), -1
        while True:
            results = search(limit)
            passed = self.records.passing(results)
            # A higher limit only helps while it brings more. In the vector index the chunks of one
            # item may fill a round, so fewer results than the limit need not be all of them.
            exhausted = len(results) in (previous, total()) or limit >= MAX_FETCH
            if len(passed) >= self.min_count or exhausted:
                self.passed.update(passed)
                return {item_id: match for item_id, match in results.items() if item_id in passed}
            if len(results) < limit:
                limit, previous = 5 * limit, len(results)
            else:
                limit, previous = int(limit * self._growth(len(passed))), -1

    def _growth(self, passed: int) -> float:
        """Return the factor for the next limit, if the same share of results passes."""
        needed = OVERFETCH * self.min_count / max(passed, 1)
        return min(max(needed, MIN_GROWTH), MAX_GROWTH)


def _candidates(
    query: IndexQuery,
    fetcher: _Fetcher,
    by_words: Mapping[int, WordMatch],
    by_vector: Mapping[int, VectorMatch],
    result: WordMatches,
) -> list[SearchCandidate]:
    """Return what passed the filters, each with its matches, the oldest first."""
    before: Mapping[int, tuple[int, str]] = {}
    if query.use_preceding and result.scores:
        before = fetcher.records.preceding(fetcher.passed)
    no_item: tuple[int, str | None] = (NO_ITEM, None)
    candidates = []
    for item_id, record in sorted(fetcher.passed.items()):
        preceding, preceding_id = before.get(item_id, no_item)
        match = by_words.get(item_id)
        candidates.append(
            SearchCandidate(
                record,
                match,
                by_vector.get(item_id),
                _coverage(match, result),
                preceding_score=result.scores.get(preceding, 0.0),
                preceding_id=preceding_id,
            )
        )
    return candidates


def _coverage(match: WordMatch | None, result: WordMatches) -> float:
    """Return the share of the query's word weight that *match* has."""
    return match.weight / result.query_weight if match and result.query_weight > 0 else 0.0


def _owner_pairs(owners: Sequence[Owner]) -> list[list[str]]:
    return [[owner.scope.value, owner.id] for owner in owners]
