"""
Where the time of a search goes: a stopwatch around the pieces of one open memory.

The pieces are functions of this project, watched from outside while a profile is taken and given
back as they were. What a piece inside another takes is not counted for the outer one.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, TypeVar

from benchmarks.server.spans import Spans
from recollect.engine import embedding_indexer
from recollect.engine import resilient_embedder
from recollect.retrieval import message_search, retrieve
from recollect.service import read, recall
from recollect.store.sqlite.embeddings import SqliteEmbeddingIndex
from recollect.store.sqlite.memories import SqliteMemoryTable
from recollect.store.sqlite.messages import SqliteMessageTable
from recollect.store.sqlite.word_index import SqliteWordIndex

PIECES: Mapping[str, Sequence[tuple[Any, str]]] = {
    "embedding the question": [(resilient_embedder.ResilientEmbedder, "vector")],
    "what waits to be embedded": [(embedding_indexer.Indexer, "_catch_up")],
    "words": [
        (SqliteWordIndex, "match"),
        (SqliteWordIndex, "match_item"),
        (SqliteWordIndex, "partitions"),
    ],
    "vectors": [
        (SqliteEmbeddingIndex, "nearest"),
        (SqliteEmbeddingIndex, "similarities"),
        (SqliteEmbeddingIndex, "pairwise_similarities"),
    ],
    "candidate rows": [
        (SqliteMessageTable, "candidate_rows"),
        (SqliteMemoryTable, "candidate_rows"),
    ],
    "gathering candidates": [(message_search, "find_candidates"), (retrieve, "find_candidates")],
    "ranking": [
        (message_search, "fuse_scores"),
        (retrieve, "fuse_scores"),
        (message_search, "_rank_messages"),
        (retrieve, "rank"),
        (retrieve, "prefer_newer"),
    ],
    "other projects' doors": [(retrieve, "linked_candidates"), (retrieve, "relevant_candidates")],
    "reading what is returned": [(SqliteMessageTable, "get_many"), (SqliteMemoryTable, "get_many")],
    "the log": [(recall, "keep_log"), (read, "keep_log")],
}
REST = "everything else"
T = TypeVar("T")


def profile(
    ask: Callable[[T], object],
    asked: Sequence[T],
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median ms each piece of a search takes; they add up only about."""
    spans = Spans(clock)
    with _watched(spans):
        whole = spans.timed(REST, ask)
        for question in asked:
            whole(question)
    names = (*PIECES, REST)
    return {name: median(one.get(name, 0.0) for one in spans.requests) for name in names}


@contextmanager
def _watched(spans: Spans) -> Iterator[None]:
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
