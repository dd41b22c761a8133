"""
Log retrievals, and list those that were logged.

A retrieval is queued and written soon after; it can be explained at once. If the queue is full or
the log cannot be written, there is no retrieval id, and the search goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.calling_client import LIBRARY, calling_client
from recollect.domain.retrieval import Hit, LoggedHit, LoggedItem, Retrieval
from recollect.service.memory_query import MemoryQuery
from recollect.service.place_lookup import RequestPlace, find_viewer
from recollect.service.services import Services

if TYPE_CHECKING:
    from recollect.wire.requests.retrievals import ListRetrievalsRequest

MAX_DROPPED = 20  # results that were not returned, in a logged retrieval
FLUSH_S = 0.5  # how long to wait until the latest retrievals are in the log


def logged_hits(hits: Sequence[Hit], outcomes: Mapping[str, str]) -> list[LoggedHit]:
    """Return hits as they are logged, each with its outcome by its id; else it was returned."""
    return [
        LoggedHit(
            rank=rank,
            memory_id=hit.memory.id,
            score=hit.score,
            parts=dict(vars(hit.parts)),  # numbers only: `asdict` would copy each deeply
            explanation=hit.explanation,
            outcome=outcomes.get(hit.memory.id, "returned"),
        )
        for rank, hit in enumerate(hits, start=1)
    ]


def log_query(
    services: Services,
    verb: str,
    query: MemoryQuery,
    hits: Sequence[LoggedHit],
    notes: Sequence[str],
    context: Sequence[LoggedItem] = (),
    *,
    agent_id: str | None = None,
) -> str | None:
    """
    Log a query with its results; return the retrieval id, or None if that failed.

    All results that were returned are logged, and the best MAX_DROPPED of the others. The row is
    deleted with the agent and the conversation that asked.
    """
    dropped = [hit for hit in hits if hit.outcome != "returned"][MAX_DROPPED:]
    if dropped:
        left_out = {hit.rank for hit in dropped}
        hits = [hit for hit in hits if hit.rank not in left_out]
        notes = [*notes, f"{len(dropped)} more candidates were dropped; ask why_not about one"]
    requester = {"agent_id": agent_id or ""} if query.place.agent is not None else {}
    if query.place.session is not None:
        requester["conversation_id"] = query.place.session
    retrieval = Retrieval(
        id=services.clock.new_id(),
        verb=verb,
        query=query.query,
        asking={**query.as_json(), **requester},
        notes=tuple(notes),
        asked_at=query.asked_at or services.clock.now(),
        hits=tuple(hits),
        context=tuple(context),
    )
    return log_retrieval(services, retrieval)


def log_items(
    services: Services, verb: str, query: str, kind: str, scores: Mapping[str, float]
) -> None:
    """Log a search for items that are not memories: their ids and scores."""
    items = tuple(
        LoggedItem(kind=kind, item_id=item_id, outcome=f"score {score:g}")
        for item_id, score in scores.items()
    )
    retrieval = Retrieval(
        id=services.clock.new_id(),
        verb=verb,
        query=query,
        asking={},
        notes=(),
        asked_at=services.clock.now(),
        context=items,
    )
    log_retrieval(services, retrieval)


def log_retrieval(services: Services, retrieval: Retrieval) -> str | None:
    """Log a retrieval; return its id, or None if the log cannot be written."""
    client = calling_client()
    if client not in ("", LIBRARY):
        retrieval = replace(retrieval, asking={**retrieval.asking, "client": client})
    return retrieval.id if services.store.log_retrieval(retrieval) else None


def list_retrievals(services: Services, request: "ListRetrievalsRequest") -> list[Retrieval]:
    """Return logged retrievals, newest first."""
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        agent_id = None
        if request.agent is not None:
            place = RequestPlace.of(agent=request.agent)
            agent_id = find_viewer(tables, place).agent_id
        return tables.retrievals.latest(
            agent_id=agent_id,
            memory_id=request.memory,
            limit=request.limit,
            offset=request.offset,
        )
