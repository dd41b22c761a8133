"""
Find candidates in the word index and in the vector index.

Both indexes return only items of visible partitions that the caller's filters admit (memories and
messages have different filters). Each index is asked for its best hundred or so; if too few of them
pass the filters, it is asked for more. So a narrow filter still finds enough, and a wide one costs
one round. What one index finds is scored by the other too: an item with a similar vector gets its
word score although a hundred others match more words. If the caller knows the few items that can
pass at all (*among*), only those are searched.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.store.protocol import Tables
from recollect.store.values import Partition, SimilarityStats, VectorMatch, WordMatch, WordMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class HasItemId(Protocol):
    """An item of an index, as far as every ranking knows it."""

    @property
    def item_id(self) -> int:
        """The integer id by which the indexes know it."""


S = TypeVar("S", bound=HasItemId)
Admit = Callable[[Iterable[int]], Sequence[S]]  # returns those of some items that pass the filters

MIN_CANDIDATES = 100  # of each index that pass the filters, however few are to be returned
OVERFETCH = 1.2  # factor on the first request, since some may not pass the filters
MIN_GROWTH, MAX_GROWTH = 1.5, 20.0  # factor from one request to the next
MAX_FETCH = 100_000
NO_ITEM = -1
NO_STATS = SimilarityStats(0.0, 1.0)  # if no vectors are compared


@dataclass(frozen=True)
class QueryVector:
    """The embedding of a query, and the model whose vectors it may be compared with."""

    model_id: int
    values: "NDArray[np.float32]"


@dataclass(frozen=True)
class Candidate(Generic[S]):
    """An item that an index found, with its match in each index."""

    item: S
    word_match: WordMatch | None
    vector_match: VectorMatch | None
    coverage: float = 0.0  # share of the query's word weight that it matches
    reached: str = "visible"
    preceding_score: float = 0.0  # BM25 of the item said or written just before it
    preceding_item: int = NO_ITEM  # the id of that item


@dataclass(frozen=True)
class CandidatePool(Generic[S]):
    """The candidates of a query, and what the indexes say about the query itself."""

    candidates: list[Candidate[S]]
    similarity_stats: SimilarityStats
    unknown_words: tuple[str, ...] = ()  # words of the query that occur in no visible item


def find_candidates(
    tables: Tables,
    query: str,
    partitions: Sequence[Partition],
    admit: Admit[S],
    vector: QueryVector | None,
    *,
    limit: int,
    among: Sequence[int] | None = None,
    preceding: Callable[[Iterable[int]], Mapping[int, int]] | None = None,
) -> CandidatePool[S]:
    """
    Return what either index finds in *partitions*, enough to rank the best *limit* of them.

    *preceding* returns, for some items, the item just before each.
    """
    items: dict[int, S] = {}
    fetcher = _Fetcher(admit, max(MIN_CANDIDATES, limit), items)
    vector_matches = _search_vectors(tables, vector, partitions, fetcher, among) if vector else {}
    word_matches, result = _search_words(tables, query, partitions, fetcher, among, vector_matches)
    stats = NO_STATS
    if vector is not None:
        model_id, values = vector.model_id, vector.values
        unseen = [item_id for item_id in word_matches if item_id not in vector_matches]
        vector_matches |= tables.embeddings.similarities(model_id, values, unseen, partitions)
        stats = tables.embeddings.similarity_stats(model_id, values, partitions)
    before = preceding(items) if preceding is not None and result.scores else {}
    candidates = [
        Candidate(
            item,
            word_matches.get(item_id),
            vector_matches.get(item_id),
            coverage(word_matches.get(item_id), result.query_weight),
            preceding_score=result.scores.get(before.get(item_id, NO_ITEM), 0.0),
            preceding_item=before.get(item_id, NO_ITEM),
        )
        for item_id, item in sorted(items.items())
    ]
    return CandidatePool(candidates, stats, result.unknown_words)


def vector_matches_of(
    tables: Tables, vector: QueryVector | None, item_ids: Collection[int]
) -> Mapping[int, VectorMatch]:
    """Return the vector matches of some items; none without *vector*."""
    if vector is None:
        return {}
    return tables.embeddings.similarities(vector.model_id, vector.values, item_ids)


def coverage(match: WordMatch | None, query_weight: float) -> float:
    """Return the share of the query's word weight that *match* has."""
    return match.weight / query_weight if match and query_weight > 0 else 0.0


@dataclass(frozen=True)
class _Fetcher(Generic[S]):
    """Fetches from an index until enough results pass the filters; collects what passed."""

    admit: Admit[S]
    min_count: int
    items: dict[int, S]

    def fetch(
        self, search: Callable[[int], Mapping[int, T]], total: Callable[[], int]
    ) -> dict[int, T]:
        """Call *search* with growing limits until enough results pass, or all were seen."""
        limit, previous = int(self.min_count * OVERFETCH), -1
        admitted: dict[int, S | None] = {}
        while True:
            results = search(limit)
            unchecked = [item_id for item_id in results if item_id not in admitted]
            admitted |= dict.fromkeys(unchecked)
            admitted |= {item.item_id: item for item in self.admit(unchecked)}
            passed = {key: item for key in results if (item := admitted[key]) is not None}
            # A higher limit only helps while it brings more. In the vector index the chunks of one
            # item may fill a round, so fewer results than the limit need not be all of them.
            exhausted = len(results) in (previous, total()) or limit >= MAX_FETCH
            if len(passed) >= self.min_count or exhausted:
                self.items.update(passed)
                return {item_id: match for item_id, match in results.items() if item_id in passed}
            if len(results) < limit:
                limit, previous = 5 * limit, len(results)
            else:
                limit, previous = int(limit * self._growth(len(passed))), -1

    def _growth(self, passed: int) -> float:
        """Return the factor for the next limit, if the same share of results passes."""
        needed = OVERFETCH * self.min_count / max(passed, 1)
        return min(max(needed, MIN_GROWTH), MAX_GROWTH)


def _search_words(
    tables: Tables,
    query: str,
    partitions: Sequence[Partition],
    fetcher: "_Fetcher[S]",
    among: Sequence[int] | None,
    also: Collection[int],
) -> tuple[dict[int, WordMatch], WordMatches]:
    """Return the word matches by item, those of *also* included, and the last raw result."""
    result = WordMatches((), 0.0, 0)

    def search(limit: int) -> Mapping[int, WordMatch]:
        nonlocal result
        result = tables.word_index.match(query, partitions, limit=limit, among=among, also=also)
        return {match.item_id: match for match in result.matches[:limit]}

    matches = fetcher.fetch(search, lambda: result.match_count)
    extra = {match.item_id: match for match in result.matches if match.item_id in also}
    return matches | extra, result


def _search_vectors(
    tables: Tables,
    vector: QueryVector,
    partitions: Sequence[Partition],
    fetcher: "_Fetcher[S]",
    among: Sequence[int] | None,
) -> dict[int, VectorMatch]:
    total = sum(part.item_count for part in partitions) if among is None else len(among)

    def search(limit: int) -> Mapping[int, VectorMatch]:
        model_id, values = vector.model_id, vector.values
        return tables.embeddings.nearest(model_id, values, partitions, limit=limit, among=among)

    return fetcher.fetch(search, lambda: total)
