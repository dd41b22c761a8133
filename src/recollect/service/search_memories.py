"""
Search and list memories, and tell why a memory was not returned.

A search never waits for another writer. It is logged (`retrieval_log.py`) and can be explained.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, Parts, ResolvedQuery, WhyNot, mark_unreviewed
from recollect.retrieval import ranking_constants as constants
from recollect.service.memory_query import (
    MemoryQuery,
    memory_query_of,
    owners_of,
    resolve_query,
    search_query_of,
    visible_filters,
)
from recollect.service.place_lookup import find_viewer
from recollect.service.query_snapshot import QuerySnapshot, query_snapshot, read_for_query
from recollect.service.retrieval_log import log_query, logged_hits
from recollect.service.services import Services
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.wire.requests import recollect as requests

if TYPE_CHECKING:
    # For the type checker only: a hook at the start of a session does not search.
    from recollect.retrieval.retrieve import MemorySearchResult
    from recollect.wire.requests.memories import GetMemoryRequest, ListMemoriesRequest


def search(services: Services, request: requests.SearchRequest) -> list[Hit]:
    """Return the memories that match a query, best first, each with its explanation."""
    return search_memories(services, _requested_query(request), offset=request.offset)


def search_or_explain(
    services: Services, request: requests.SearchRequest
) -> tuple[list[Hit], WhyNot | None]:
    """Return the hits of a search; if there is none, also what its closest match lacked."""
    reasons: list[WhyNot] = []
    query = _requested_query(request)
    hits = search_memories(services, query, offset=request.offset, if_nothing=reasons.append)
    return hits, reasons[0] if reasons else None


def _requested_query(request: requests.SearchRequest) -> MemoryQuery:
    return replace(
        search_query_of(request, request.query),
        limit=request.offset + request.limit,
        below_threshold=request.below_threshold,
        related=request.related,
    )


def search_memories(
    services: Services,
    query: MemoryQuery,
    *,
    offset: int = 0,
    if_nothing: Callable[[WhyNot], None] | None = None,
) -> list[Hit]:
    """
    Return the memories that match *query* after *offset*, best first, and log the retrieval.

    *if_nothing* gets what the closest match lacked, from the same snapshot of the store.
    """
    # Slow to load, and not needed to list or to brief.
    from recollect.retrieval.retrieve import retrieve

    def find(snapshot: QuerySnapshot) -> tuple[ResolvedQuery, Sequence[Hit], list[str]]:
        resolved = resolve_query(services, snapshot.tables, query)
        if not query.query.strip():
            return resolved, (), ["the query is empty"]
        result = retrieve(snapshot.tables, resolved, snapshot.vector)
        hits = result.hits
        if not query.below_threshold and all(hit.is_weak for hit in hits):
            hits = hits[: constants.MAX_WEAK_MATCHES]
        if if_nothing is not None and not result.hits:
            from recollect.retrieval.why_not import describe_closest  # loads on use

            if_nothing(describe_closest(snapshot.tables, resolved, result.closest))
        page = hits[offset:]
        related = result.related.of(page) if result.related is not None else ()
        return resolved, (*page, *related), _log_notes(snapshot, result)

    resolved, hits, notes = read_for_query(services, query.query, find)
    agent_id = resolved.viewer.agent_id
    logged = logged_hits(hits, {})
    retrieval_id = log_query(services, "search", query, logged, notes, agent_id=agent_id)
    return mark_unreviewed([replace(hit, retrieval_id=retrieval_id) for hit in hits])


def why_not(services: Services, request: requests.WhyNotRequest) -> WhyNot:
    """Return why a search does not return a memory."""
    from recollect.retrieval.why_not import why_not as find_why_not  # loads on use

    query = search_query_of(request, request.query)
    with query_snapshot(services, query.query) as snapshot:
        tables = snapshot.tables
        memory = require_memory(tables, request.memory_id)
        resolved = resolve_query(services, tables, query)
        return find_why_not(tables, resolved, snapshot.vector, memory)


def why_nothing(services: Services, request: requests.WhyNothingRequest) -> WhyNot:
    """Return the closest match of a query, and why the search does not return it."""
    from recollect.retrieval.why_not import why_nothing as find_why_nothing  # loads on use

    query = search_query_of(request, request.query)
    with query_snapshot(services, query.query) as snapshot:
        resolved = resolve_query(services, snapshot.tables, query)
        return find_why_nothing(snapshot.tables, resolved, snapshot.vector)


def get_memory(services: Services, request: "GetMemoryRequest") -> Memory:
    """Return one memory."""
    with services.store.read() as tables:
        return require_memory(tables, request.memory_id)


def list_memories(services: Services, request: "ListMemoriesRequest") -> list[Memory]:
    """Return the newest memories that match the filters."""
    query = memory_query_of(request, "")
    with services.store.read() as tables:
        filters = query.filters
        if not query.everywhere and not services.settings.single_user:
            filters = replace(filters, agent_id=find_viewer(tables, query.place).agent_id)
        return tables.memories.newest(owners_of(tables, query), filters, query.limit)


def run_query(snapshot: QuerySnapshot, query: ResolvedQuery) -> tuple[Sequence[Hit], list[str]]:
    """Return the hits of a query and notes for the log."""
    from recollect.retrieval.retrieve import retrieve  # loads on use

    result = retrieve(snapshot.tables, query, snapshot.vector)
    return result.hits, _log_notes(snapshot, result)


def _log_notes(snapshot: QuerySnapshot, result: "MemorySearchResult") -> list[str]:
    notes = [f"{result.above_threshold} candidates above the threshold"]
    if result.closest is not None:
        closest = result.closest
        scores = f"relevance {closest.score:.2f}, threshold {closest.threshold:.2f}"
        notes.append(f"closest: {closest.id}, {scores}")
    return [*notes, snapshot.failure] if snapshot.failure else notes


def newest_hits(services: Services, query: MemoryQuery) -> list[Hit]:
    """Return the newest memories that match the filters, as hits without a score."""
    with services.store.read() as tables:
        filters = visible_filters(tables, query, single_user=services.settings.single_user)
        memories = tables.memories.newest(owners_of(tables, query), filters, query.limit)
        return unranked_hits(tables, memories, "The newest first: no question was asked.")


def unranked_hits(tables: Tables, memories: Sequence[Memory], why: str) -> list[Hit]:
    """Return memories as hits without a score."""
    conflicts = tables.links.conflicts([memory.id for memory in memories])
    return [
        Hit(
            memory=memory,
            score=0.0,
            parts=Parts(confidence=memory.confidence),
            explanation=why,
            conflicts=conflicts.get(memory.id, ()),
        )
        for memory in memories
    ]
