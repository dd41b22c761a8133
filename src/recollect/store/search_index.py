"""
The search index: one call returns candidates, each scored by its words and by its vector.

Records are known by their text id. How an index finds them (partitions, integer ids, bit codes, how
many it reads until enough pass the filters) stays below this interface. The index is derived from
the canonical rows and can be rebuilt from them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from recollect.domain.conversation import MessageFilters, Role
from recollect.domain.memory import MemoryType
from recollect.domain.model_profile import SAME_SCALE, SimilarityScale
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    # For the type checker only: a process that compares no vectors never loads NumPy.
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class QueryVector:
    """The embedding of a query, and the model whose vectors it may be compared with."""

    model_id: int
    values: "NDArray[np.float32]"
    scale: SimilarityScale = SAME_SCALE  # of the model: of a query and a text
    texts_scale: SimilarityScale = SAME_SCALE  # of two texts


class PendingQueryVector(QueryVector):
    """
    A query vector that another thread computes: `values` waits for it, and raises its error.

    So a search reads first what it needs no values for.
    """

    _wait: "Callable[[], NDArray[np.float32]]"

    def __init__(
        self,
        model_id: int,
        wait: "Callable[[], NDArray[np.float32]]",
        scale: SimilarityScale = SAME_SCALE,
        texts_scale: SimilarityScale = SAME_SCALE,
    ) -> None:
        object.__setattr__(self, "model_id", model_id)
        object.__setattr__(self, "_wait", wait)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "texts_scale", texts_scale)

    @property
    def values(self) -> "NDArray[np.float32]":
        """The embedding."""
        return self._wait()


# This and three classes below are not frozen: a search creates hundreds of objects, and setting the
# fields of a frozen one takes eight times as long. Nobody changes them.
@dataclass(slots=True, unsafe_hash=True)
class WordMatch:
    """How a record matches the words of a query."""

    score: float  # BM25
    words: tuple[str, ...]  # of the query, as it spells them
    weight: float  # the sum of the matched words' idf


@dataclass(slots=True, unsafe_hash=True)
class VectorMatch:
    """The similarity of a record's most similar chunk to the query, and its number of chunks."""

    similarity: float
    chunk_count: int


@dataclass(frozen=True, slots=True)
class SimilarityStats:
    """Mean and standard deviation of the similarity of a sample of records to the query."""

    mean: float
    stdev: float
    sample_size: int = 0


NO_STATS = SimilarityStats(0.0, 1.0)  # if no vectors are compared


@dataclass(slots=True, unsafe_hash=True)
class IndexedRecord:
    """What ranking needs of a record; cheaper to read than the whole record."""

    id: str
    sequence: int  # grows with each record that is added; of equal records the newer comes first
    owner: Owner | None = None  # of a memory
    at: datetime | None = None  # when a memory was observed, or a message said
    session_id: str | None = None  # of a memory
    type: MemoryType | None = None
    confidence: float = 1.0
    role: Role | None = None  # of a message
    is_reviewed: bool = True  # of a memory: a person or a policy accepted it
    is_typed: bool = False  # of a memory: plainly typed by the user
    is_of_past: bool = False  # of a memory: its date is earlier than the day on which it was said


@dataclass(slots=True, unsafe_hash=True)
class SearchCandidate:
    """A record that may answer a query, with its match in each index."""

    record: IndexedRecord
    word_match: WordMatch | None = None
    vector_match: VectorMatch | None = None
    coverage: float = 0.0  # share of the query's word weight that it matches
    reached: str = "visible"
    preceding_score: float = 0.0  # BM25 of the record said or written just before it
    preceding_id: str | None = None  # the id of that record


@dataclass(frozen=True, kw_only=True)
class OtherOwners:
    """Which records of owners that a query may not see are returned nevertheless."""

    scopes: frozenset[Scope]
    min_coverage: float  # share of the query's word weight
    min_words: int
    max_matches: int
    max_postings: int  # read of the index: what covers the query has its rarest words


@dataclass(frozen=True, kw_only=True)
class IndexQuery:
    """What is searched for, and which records may be returned."""

    kind: ItemKind
    text: str  # '' to search by the vector alone
    vector: QueryVector | None
    owners: Sequence[Owner] | None  # None: every owner
    limit: int  # how many the caller returns; more candidates are found, to rank the best of them
    filters: Filters | MessageFilters | None = None
    scopes: frozenset[Scope] = frozenset(Scope)
    ids: Collection[str] | None = None  # only these records
    within_time_range: bool = False  # search only records of the filters' time, if they are few
    use_preceding: bool = False
    correct_spelling: bool = False  # look for words like those of the text that occur nowhere
    others: OtherOwners | None = None


@dataclass(frozen=True)
class SearchResult:
    """The candidates of a query, the oldest record first, and what the index says about it."""

    candidates: list[SearchCandidate]
    similarity_stats: SimilarityStats = NO_STATS
    unknown_words: tuple[str, ...] = ()  # words of the query that occur in no visible record
    others: list[SearchCandidate] = field(default_factory=list)  # of other owners
    visible_count: int = 0  # records that the query may see; 0 if not counted


@dataclass(frozen=True)
class NeighbourQuery:
    """A text whose neighbours among the memories of some owners are searched."""

    text: str
    owners: Sequence[Owner]
    like: str = ""  # the id of a memory with the same meaning as the text
    also: Collection[str] = ()  # ids of memories that are returned in any case


class SearchIndex(Protocol):
    """The words and vectors of all searchable records."""

    def search(self, query: IndexQuery) -> SearchResult:
        """Return what either index finds, each candidate scored by both."""

    def match(self, query: IndexQuery, ids: Collection[str]) -> SearchResult:
        """Return how some records match, whatever their owners; those that pass the filters."""

    def neighbours(
        self,
        queries: Sequence[NeighbourQuery],
        *,
        limit: int,
        model_id: int | None = None,
        scale: SimilarityScale = SAME_SCALE,
        max_postings: int = 20_000,
    ) -> list[Mapping[str, float | None]]:
        """
        Return, for each query, the memories that resemble its text, with their similarity if known.

        They are the *limit* that share most words with the text, those of `also`, and the *limit*
        nearest to the vector that the model gave the memory `like`. All queries together take
        about as many statements as one. *scale* is that of two texts.
        """

    def pairwise_similarities(
        self,
        model_id: int,
        candidates: Sequence[IndexedRecord],
        *,
        scale: SimilarityScale = SAME_SCALE,
    ) -> Mapping[tuple[str, str], float]:
        """Return the similarity of each ordered pair of ids, by the records' first chunks."""

    def records(self, ids: Sequence[str], filters: Filters) -> list[IndexedRecord]:
        """Return what ranking needs of some memories, of those that pass the filters."""

    def timeline(self, query: IndexQuery, *, limit: int) -> list[tuple[datetime, str]] | None:
        """
        Return when the memories that *query* may return were observed, oldest first.

        None if there are more than *limit*.
        """

    def drop(self, kind: ItemKind, owner: Owner) -> int:
        """Remove all records of a kind and an owner from the index; return how many there were."""
