"""
Read memories: search and explain. Every retrieval is logged and can be explained later.

Reading never fails because of the log or the embedder, and never waits for another writer. A
retrieval is queued and written soon after; it can be explained at once. If the queue is full, there
is no retrieval id; if the query cannot be embedded, search goes by words and the log says so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.calling_client import LIBRARY, calling_client
from recollect.domain.memory import UNREVIEWED, Memory, MemoryType, Status
from recollect.domain.retrieval import (
    DEFAULT_STATUSES,
    Filters,
    Hit,
    LoggedHit,
    LoggedItem,
    MemoryExplanation,
    Parts,
    ResolvedQuery,
    Retrieval,
    WhyNot,
    mark_unreviewed,
)
from recollect.domain.scope import Owner, Scope, Viewer, visible_owners
from recollect.errors import EmbedderUnavailable, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.service import validate
from recollect.service.place_lookup import RequestPlace, find_viewer, place_of
from recollect.service.services import Services
from recollect.service.write import require_memory
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector
from recollect.text.redact import redact
from recollect.text.request_kind import asks_about_past
from recollect.wire.requests import recollect as requests
from recollect.wire.requests.shared import FilterFields, InboxFilterFields

if TYPE_CHECKING:
    # For the type checker only: most programs send none of these requests, and a hook at the start
    # of a session does not search.
    from recollect.retrieval.retrieve import MemorySearchResult
    from recollect.wire.requests.memories import GetMemoryRequest, ListMemoriesRequest

T = TypeVar("T")

MAX_DROPPED = 20  # results that were not returned, in a logged retrieval
FLUSH_S = 0.5  # how long `explain` waits until the latest retrievals are counted too


@dataclass(frozen=True, kw_only=True)
class MemoryQuery:
    """A query with its filters; validated, its place not yet looked up."""

    query: str = ""
    place: RequestPlace = field(default_factory=RequestPlace)
    filters: Filters = field(default_factory=Filters)
    scopes: frozenset[Scope] | None = None
    everywhere: bool = False
    asked_at: datetime | None = None
    limit: int = 10
    unreviewed: bool = False  # also what the user said and nobody reviewed
    session_records: bool = True  # also the records of whole sessions
    below_threshold: bool = False  # also what is not relevant enough
    related: bool = False  # also what is linked to the hits
    for_bundle: bool = False  # only what is sure enough to be told unasked

    @property
    def effective_filters(self) -> Filters:
        """The filters, with what a search adds to them if the caller does not name it."""
        filters = replace(self.filters, session_records=self.session_records)
        if not self.unreviewed:
            return filters
        return replace(filters, statuses=filters.statuses | UNREVIEWED, only_said=True)

    def as_json(self) -> Mapping[str, Any]:
        """Return everything except the text, for the log and for saved views."""
        values = {
            **vars(self.place),
            **vars(self.filters),
            "scopes": self.scopes,
            "everywhere": self.everywhere,
            "limit": self.limit,
        }
        return {
            name: _json_value(value)
            for name, value in values.items()
            if value or (name == "scopes" and value is not None)
            if value != _DEFAULTS.get(name)
        }


_DEFAULTS = vars(Filters())


def _json_value(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return value.isoformat() if isinstance(value, datetime) else value


def memory_query_of(request: FilterFields, query: str) -> MemoryQuery:
    """Return the query of a request with its place and filters."""
    inbox = inbox_query_of(request)
    statuses = frozenset(DEFAULT_STATUSES if request.statuses is None else request.statuses)
    filters = replace(inbox.filters, statuses=statuses)
    return replace(inbox, query=validate.query_of(query), filters=filters)


def search_query_of(request: FilterFields, query: str) -> MemoryQuery:
    """
    Return the query of a search.

    Unless the request names statuses, what the user said is found before anybody reviewed it. The
    records of whole sessions are found only if the request names their type or asks about the past:
    otherwise they repeat what was said there.
    """
    names_records = MemoryType.EPISODE in (request.types or ())
    return replace(
        memory_query_of(request, query),
        unreviewed=request.statuses is None,
        session_records=names_records or asks_about_past(query),
    )


def inbox_query_of(request: InboxFilterFields) -> MemoryQuery:
    """Return the query for the candidates that a request selects."""
    return MemoryQuery(
        place=place_of(request),
        filters=_filters_of(request),
        scopes=None if request.scopes is None else frozenset(request.scopes),
        everywhere=request.everywhere,
        asked_at=request.asked_at,
        limit=request.limit,
    )


def _filters_of(request: InboxFilterFields) -> Filters:
    """Return the filters of a request: its fields that have the name of a filter."""
    values: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, tuple) else value
        for name in _DEFAULTS
        if (value := getattr(request, name, None)) is not None
    }
    tags = frozenset(redact(tag).text for tag in request.tags)
    return Filters(**{"statuses": frozenset({Status.INBOX}), **values, "tags": tags})


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
            from recollect.retrieval.why_not import describe_closest  # as above

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
    from recollect.retrieval.why_not import why_not as find_why_not  # as above

    query = search_query_of(request, request.query)
    with query_snapshot(services, query.query) as snapshot:
        tables = snapshot.tables
        memory = require_memory(tables, request.memory_id)
        resolved = resolve_query(services, tables, query)
        return find_why_not(tables, resolved, snapshot.vector, memory)


def why_nothing(services: Services, request: requests.WhyNothingRequest) -> WhyNot:
    """Return the closest match of a query, and why the search does not return it."""
    from recollect.retrieval.why_not import why_nothing as find_why_nothing  # as above

    query = search_query_of(request, request.query)
    with query_snapshot(services, query.query) as snapshot:
        resolved = resolve_query(services, snapshot.tables, query)
        return find_why_nothing(snapshot.tables, resolved, snapshot.vector)


def explain(services: Services, request: requests.ExplainRequest) -> MemoryExplanation | Retrieval:
    """Return the evidence, links and changes of a memory, or a logged retrieval."""
    queued = services.store.queued_retrieval(request.some_id)
    if queued is not None:
        return queued
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        retrieval = tables.retrievals.get(request.some_id)
        if retrieval is not None:
            return retrieval
        memory = tables.memories.get(request.some_id)
        if memory is None:
            raise NotFound(
                f"{request.some_id!r} is neither a memory nor a retrieval of this store"
                + _retention_hint(services)
            )
        explanation = MemoryExplanation(
            memory=memory,
            sources=tuple(tables.sources.of_memory(memory.id)),
            links=tuple(tables.links.of_memory(memory.id)),
            changes=tuple(tables.memories.changes(memory.id)),
            shown_in=tables.retrievals.times_returned(memory.id),
        )
    return replace(explanation, text=_describe(explanation))


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


def run_query(snapshot: QuerySnapshot, query: ResolvedQuery) -> tuple[Sequence[Hit], list[str]]:
    """Return the hits of a query and notes for the log."""
    from recollect.retrieval.retrieve import retrieve  # as above

    result = retrieve(snapshot.tables, query, snapshot.vector)
    return result.hits, _log_notes(snapshot, result)


def _log_notes(snapshot: QuerySnapshot, result: "MemorySearchResult") -> list[str]:
    notes = [f"{result.above_threshold} candidates above the threshold"]
    if result.closest is not None:
        closest = result.closest
        scores = f"relevance {closest.score:.2f}, threshold {closest.threshold:.2f}"
        notes.append(f"closest: {closest.id}, {scores}")
    return [*notes, snapshot.failure] if snapshot.failure else notes


def resolve_query(
    services: Services, tables: Tables, query: MemoryQuery, viewer: Viewer | None = None
) -> ResolvedQuery:
    """Return *query* with its owners and filters; *viewer* is its place if that is known."""
    viewer = viewer or find_viewer(tables, query.place)
    filters = query.effective_filters
    if not query.everywhere:
        filters = filters.seen_by(viewer, single_user=services.settings.single_user)
    return ResolvedQuery(
        text=query.query,
        viewer=viewer,
        owners=None if query.everywhere else visible_owners(viewer, query.scopes),
        filters=filters,
        asked_at=query.asked_at or services.clock.now(),
        limit=query.limit,
        scopes=frozenset(Scope) if query.scopes is None else query.scopes,
        cross_project=services.cross_project,
        below_threshold=query.below_threshold,
        related=query.related,
        for_bundle=query.for_bundle,
    )


def owners_of(tables: Tables, query: MemoryQuery) -> tuple[Owner, ...] | None:
    """Return the owners whose memories a query may see; None for all."""
    if query.everywhere:
        return None
    return visible_owners(find_viewer(tables, query.place), query.scopes)


def visible_filters(tables: Tables, query: MemoryQuery, *, single_user: bool) -> Filters:
    """Return the filters of a list, with those of its place; without an agent it is a person's."""
    if query.everywhere:
        return query.filters
    viewer = find_viewer(tables, query.place)
    is_of_person = single_user or viewer.agent_id is None
    return query.filters.seen_by(viewer, single_user=is_of_person)


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


def _describe(explanation: MemoryExplanation) -> str:
    memory = explanation.memory
    lines = [
        f"{memory.type} memory of {memory.scope} scope, {memory.status}, "
        f"confidence {memory.confidence:g}, observed {memory.observed_at:%Y-%m-%d %H:%M} UTC."
    ]
    for evidence in memory.evidence:
        quote = evidence.quote if len(evidence.quote) <= 200 else evidence.quote[:199] + "…"
        span = f"{evidence.start}–{evidence.end}"
        lines.append(f"Rests on “{quote}” (source {evidence.source_id}, {span}).")
    for link in explanation.links:
        subject = "It" if link.from_id == memory.id else f"Memory {link.from_id}"
        target = "this" if link.to_id == memory.id else f"{link.to_kind} {link.to_id}"
        lines.append(f"{subject} {link.relation.replace('_', ' ')} {target}.")
    for change in explanation.changes:
        was = f"from {change.before} " if change.before else ""
        names_others = change.effects.caused_by or change.effects.superseded
        moved = f"{was}to {change.after} by {change.by}"
        what = f" ({change.action})" if names_others else ""
        why = f": {change.reason}" if change.reason else ""
        lines.append(f"{change.at:%Y-%m-%d %H:%M}: {moved}{what}{why}.")
    lines.append(f"Returned by {explanation.shown_in} of the retrievals in the log.")
    return "\n".join(lines)


def _retention_hint(services: Services) -> str:
    settings = services.settings
    limits = [
        f"{limit} {unit} (setting {name})"
        for limit, unit, name in (
            (settings.keep_retrievals_days, "days", "keep_retrievals_days"),
            (settings.keep_retrievals_mb, "MB", "keep_retrievals_mb"),
        )
        if limit
    ]
    return f"; retrievals are kept for {' and up to '.join(limits)}" if limits else ""
