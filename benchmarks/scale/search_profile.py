"""
Profile a search: time the pieces of one open store.

The pieces are functions of this project, wrapped while the profile is taken and restored after it.
The time of an inner piece is not counted for the outer one.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, TypeVar

from benchmarks.server.span_timer import SpanTimer
from recollect.engine.embedding_indexer import Indexer
from recollect.engine.resilient_embedder import ResilientEmbedder
from recollect.retrieval import message_search, retrieve
from recollect.service import retrieval_log, search_messages
from recollect.store.indexes.hybrid_search_index import HybridSearchIndex
from recollect.store.indexes.item_records import ItemRecords
from recollect.store.indexes.vector_index import VectorIndex
from recollect.store.indexes.word_index import WordIndex
from recollect.store.repositories.memories import MemoryRepository
from recollect.store.repositories.messages import MessageRepository

PIECES: Mapping[str, Sequence[tuple[Any, str]]] = {
    "embedding the query": [(ResilientEmbedder, "embed_query")],
    "embedding pending items": [(Indexer, "_embed_few_pending")],
    "words": [
        (WordIndex, "find_query_words"),
        (WordIndex, "read_postings"),
        (WordIndex, "match"),
        (WordIndex, "match_among"),
        (WordIndex, "match_item"),
    ],
    "vectors": [
        (VectorIndex, "nearest"),
        (VectorIndex, "similarities"),
        (VectorIndex, "similarity_stats"),
        (VectorIndex, "pairwise_similarities"),
    ],
    "candidate rows": [(ItemRecords, "load")],
    "gathering candidates": [(HybridSearchIndex, "search")],
    "ranking": [
        (message_search, "fuse"),
        (retrieve, "fuse"),
        (message_search, "rank"),
        (message_search, "_rank_messages"),
        (retrieve, "rank"),
        (retrieve, "prefer_newer"),
    ],
    "memories of other projects": [
        (HybridSearchIndex, "_find_others"),
        (retrieve, "linked_candidates"),
        (retrieve, "relevant_candidates"),
    ],
    "reading the results": [(MessageRepository, "get_many"), (MemoryRepository, "get_many")],
    "the log": [(search_messages, "log_retrieval"), (retrieval_log, "log_retrieval")],
}
REST = "everything else"
T = TypeVar("T")


def profile(
    ask: Callable[[T], object],
    questions: Sequence[T],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median ms of each piece of a search; the sum is only approximate."""
    spans = SpanTimer(clock)
    with _patched(spans):
        whole = spans.timed(REST, ask)
        for question in questions:
            whole(question)
    names = (*PIECES, REST)
    return {name: median(request.get(name, 0.0) for request in spans.requests) for name in names}


@contextmanager
def _patched(spans: SpanTimer) -> Iterator[None]:
    before: list[tuple[Any, str, Any]] = [
        (owner, name, getattr(owner, name)) for some in PIECES.values() for owner, name in some
    ]
    for piece, some in PIECES.items():
        for owner, name in some:
            spans.watch(piece, owner, name)
    try:
        yield
    finally:
        for owner, name, was in before:
            setattr(owner, name, was)
