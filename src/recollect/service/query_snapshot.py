"""
Read the store for a query: one transaction, with the vector of the query.

Reading never fails because of the embedder: if it cannot embed the query, there is no vector, and
the search goes by words.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from recollect.errors import EmbedderUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector

T = TypeVar("T")


@dataclass(frozen=True)
class QuerySnapshot:
    """One transaction in which a query is answered, and the vector of the query there."""

    tables: Tables
    vector: QueryVector | None
    failure: str = ""  # why there is no vector, or what its model lacks


@contextmanager
def query_snapshot(
    services: Services, query: str, *, embeds_pending: bool = True
) -> Iterator[QuerySnapshot]:
    """
    Read the store in one transaction, with the vector of *query*.

    The query is embedded before the transaction begins. Only if the store has changed its model
    since, or has items to embed (unless not *embeds_pending*), is the transaction left for that and
    begun again.
    """
    indexer = services.indexer()
    if indexer is None or not query.strip():
        failure = "meaning was not compared: embeddings are switched off" if query else ""
        with services.store.read() as tables:
            yield QuerySnapshot(tables, None, failure)
        return
    vector, failure = indexer.embed_query(query)
    with services.store.read() as tables:
        is_current = indexer.is_current(tables, vector, failure, allows_pending=not embeds_pending)
        if is_current:
            yield QuerySnapshot(tables, vector, failure)
    if is_current:
        return
    vector, failure = indexer.update(query, vector)
    with services.store.read() as tables:
        vector = indexer.refresh_query_vector(tables, query, vector)
        yield QuerySnapshot(tables, vector, failure)


def read_for_query(
    services: Services,
    query: str,
    read: Callable[[QuerySnapshot], T],
    *,
    embeds_pending: bool = True,
) -> T:
    """
    Return what *read* returns for a query in one transaction.

    If possible the query is embedded meanwhile: the first use of its vector's values waits for it.
    If that fails, or the store has changed its model or has items to embed, *read* is called again
    in a transaction with what `query_snapshot` makes of that.
    """
    indexer = services.indexer()
    vector = indexer.begin_query(query) if indexer is not None and query.strip() else None
    if indexer is not None and vector is not None:
        try:
            with services.store.read() as tables:
                if indexer.is_current(tables, vector, allows_pending=not embeds_pending):
                    return read(QuerySnapshot(tables, vector))
            _ = vector.values  # so that it is not embedded twice
        except EmbedderUnavailable:
            pass  # the embedder is paused now, and says why
    with query_snapshot(services, query, embeds_pending=embeds_pending) as snapshot:
        return read(snapshot)


def with_query(services: Services, snapshot: QuerySnapshot, query: str) -> QuerySnapshot:
    """Return the same transaction with the vector of another query."""
    indexer = services.indexer()
    if indexer is None or snapshot.vector is None:
        return snapshot
    vector, failure = indexer.embed_query(query)
    return replace(snapshot, vector=vector, failure=failure)
