"""
Read memories: search, context, explanation. Every answer is logged and can be explained later.

Reading never fails because of the log or the embedder: a log row that cannot be written and a
meaning that cannot be compared become notes, and the answer comes by what is left.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.capture_event import Event
from recollect.domain.memory import Memory, MemoryType, Status
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
)
from recollect.domain.scope import Owner, Scope, Viewer, visible_owners
from recollect.errors import NotFound, StoreError
from recollect.retrieval.candidates import QueryVector
from recollect.retrieval.retrieve import retrieve
from recollect.retrieval.why_not import why_not as find_why_not
from recollect.retrieval.why_not import why_nothing as find_why_nothing
from recollect.service import inputs
from recollect.service.places import Where, find, where_of
from recollect.service.services import Services
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.redact import redact
from recollect.wire.requests.shared import FilterFields, InboxFilterFields

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as its caller put it: checked, its places not yet looked up."""

    query: str = ""
    where: Where = Where()
    filters: Filters = Filters()
    scopes: frozenset[Scope] | None = None
    everywhere: bool = False
    asked_at: datetime | None = None
    limit: int = 10

    def as_json(self) -> Mapping[str, Any]:
        """Return what was asked besides the text, for the log and for saved views."""
        filters = self.filters
        told: dict[str, Any] = {
            "project": self.where.project,
            "repo": self.where.repo,
            "agent": self.where.agent,
            "session": self.where.session,
            "scopes": sorted(self.scopes) if self.scopes is not None else None,
            "types": sorted(filters.types) if filters.types != frozenset(MemoryType) else None,
            "statuses": sorted(filters.statuses)
            if filters.statuses != frozenset(DEFAULT_STATUSES)
            else None,
            "tags": sorted(filters.tags) or None,
            "any_tags": sorted(filters.any_tags) or None,
            "since": filters.since.isoformat() if filters.since else None,
            "until": filters.until.isoformat() if filters.until else None,
            "everywhere": self.everywhere or None,
            "limit": self.limit,
        }
        return {name: value for name, value in told.items() if value is not None}


def question_of(request: FilterFields, query: str) -> Question:
    """Return the question of a request: its query, place and filters."""
    return replace(
        inbox_question_of(request),
        query=query[: inputs.MAX_QUERY],
        filters=replace(_filters_of(request), statuses=frozenset(request.statuses or DEFAULT_STATUSES)),
    )


def inbox_question_of(request: InboxFilterFields) -> Question:
    """Return which candidates of the inbox a request asks for."""
    return Question(
        where=where_of(request),
        filters=_filters_of(request),
        scopes=None if request.scopes is None else frozenset(request.scopes),
        everywhere=request.everywhere,
        asked_at=request.asked_at,
        limit=request.limit,
    )


def _filters_of(request: InboxFilterFields) -> Filters:
    return Filters(
        types=frozenset(MemoryType) if request.types is None else frozenset(request.types),
        statuses=frozenset({Status.INBOX}),
        tags=frozenset(redact(tag).text for tag in inputs.tags_of(request.tags)),
        since=request.since,
        until=request.until,
    )


def search(services: Services, asked: Question) -> list[Hit]:
    """Return the memories that answer a question, best first, each with its reasons."""
    hits, notes = answer(services, asked)
    kept = [logged(rank, hit) for rank, hit in enumerate(hits, start=1)]
    retrieval_id = log_answer(services, "search", asked, kept, notes)
    return [replace(hit, retrieval_id=retrieval_id) for hit in hits]


def why_not(services: Services, memory_id: object, asked: Question) -> WhyNot:
    """Return why a memory does not come for a question."""
    meaning, _ = meaning_of(services, asked.query)
    with services.store.read() as tables:
        meaning = still(services, tables, asked.query, meaning)
        memory = known(tables, memory_id)
        return find_why_not(tables, _asking(services, tables, asked), meaning, memory)


def why_nothing(services: Services, asked: Question) -> WhyNot:
    """Return what came nearest to a question, and why it is not shown."""
    meaning, _ = meaning_of(services, asked.query)
    with services.store.read() as tables:
        meaning = still(services, tables, asked.query, meaning)
        return find_why_nothing(tables, _asking(services, tables, asked), meaning)


def explain(services: Services, some_id: object) -> MemoryExplanation | Retrieval:
    """Return everything known about a memory, or about a logged retrieval."""
    with services.store.read() as tables:
        if isinstance(some_id, str):
            retrieval = tables.retrievals.get(clean(some_id))
            if retrieval is not None:
                return retrieval
        try:
            memory = known(tables, some_id)
        except NotFound:
            raise NotFound(
                f"{some_id!r} is neither a memory nor a retrieval of this store" + _pruned(services)
            ) from None
        explanation = MemoryExplanation(
            memory=memory,
            sources=tuple(tables.sources.of_memory(memory.id)),
            links=tuple(tables.links.of_memory(memory.id)),
            changes=tuple(tables.memories.changes(memory.id)),
            shown_in=tables.retrievals.times_returned(memory.id),
        )
    return replace(explanation, text=_told(explanation))


def get(services: Services, memory_id: object) -> Memory:
    """Return one memory."""
    with services.store.read() as tables:
        return known(tables, memory_id)


def viewer(services: Services, where: Where) -> Viewer:
    """Return who asks from *where*, by ids."""
    with services.store.read() as tables:
        return find(tables, where)


def event(services: Services, event_id: object) -> Event:
    """Return how far a capture has come."""
    with services.store.read() as tables:
        found = tables.sources.event(clean(event_id)) if isinstance(event_id, str) else None
    if found is None:
        raise NotFound(f"there is no event {event_id!r} in this store")
    return found


def newest(services: Services, asked: Question) -> list[Memory]:
    """Return the latest memories that a question's places and filters admit."""
    with services.store.read() as tables:
        return tables.memories.newest(owners_of(tables, asked), asked.filters, asked.limit)


def answer(
    services: Services, asked: Question, known: tuple[QueryVector | None, str] | None = None
) -> tuple[Sequence[Hit], list[str]]:
    """Return the hits of a question, and notes for the log; its meaning may be *known* already."""
    if not asked.query.strip():
        return (), ["the question is empty"]
    meaning, trouble = known or meaning_of(services, asked.query)
    with services.store.read() as tables:
        meaning = still(services, tables, asked.query, meaning)
        found = retrieve(tables, _asking(services, tables, asked), meaning)
    notes = [f"{found.above_threshold} candidates above the bar"]
    if found.closest is not None:
        nearest, reached, needed = found.closest.id, found.closest.score, found.closest.threshold
        notes.append(f"the nearest was {nearest}: {reached:.2f} of the {needed:.2f} needed")
    return found.hits, [*notes, trouble] if trouble else notes


def meaning_of(services: Services, query: str) -> tuple[QueryVector | None, str]:
    """Return a question as a vector, or None and why meaning is not compared."""
    indexer = services.indexer()
    if indexer is None or not query.strip():
        return None, "meaning was not compared: embeddings are switched off" if query else ""
    return indexer.embed_query(query)


def still(
    services: Services, tables: Tables, query: str, meaning: QueryVector | None
) -> QueryVector | None:
    """Return the meaning of *query* by the model that answers in *tables*."""
    indexer = services.indexer() if meaning is not None else None
    return None if indexer is None else indexer.refresh_query_vector(tables, query, meaning)


def _asking(services: Services, tables: Tables, asked: Question) -> ResolvedQuery:
    return ResolvedQuery(
        text=asked.query,
        viewer=find(tables, asked.where),
        owners=owners_of(tables, asked),
        filters=asked.filters,
        asked_at=asked.asked_at or services.clock.now(),
        limit=asked.limit,
        scopes=frozenset(Scope) if asked.scopes is None else asked.scopes,
        cross_project=services.cross_project,
    )


def owners_of(tables: Tables, asked: Question) -> tuple[Owner, ...] | None:
    """Return whose memories a question may see; None for everybody's."""
    if asked.everywhere:
        return None
    return visible_owners(find(tables, asked.where), asked.scopes)


def newest_hits(services: Services, asked: Question) -> list[Hit]:
    """Return the latest memories a question admits, as hits that nothing was matched for."""
    with services.store.read() as tables:
        found = tables.memories.newest(owners_of(tables, asked), asked.filters, asked.limit)
        return unasked(tables, found, "The newest first: no question was asked.")


def unasked(tables: Tables, found: Sequence[Memory], why: str) -> list[Hit]:
    """Return memories as hits that nothing was matched for."""
    conflicts = tables.links.conflicts([memory.id for memory in found])
    return [
        Hit(
            memory=memory,
            score=0.0,
            parts=Parts(confidence=memory.confidence),
            explanation=why,
            conflicts=conflicts.get(memory.id, ()),
        )
        for memory in found
    ]


def logged(rank: int, hit: Hit, outcome: str = "returned") -> LoggedHit:
    """Return a hit as the log keeps it."""
    return LoggedHit(
        rank=rank,
        memory_id=hit.memory.id,
        score=hit.score,
        parts=dict(vars(hit.parts)),  # numbers only: `asdict` would copy each deeply
        explanation=hit.explanation,
        outcome=outcome,
    )


def log_answer(
    services: Services,
    verb: str,
    asked: Question,
    hits: Sequence[LoggedHit],
    notes: Sequence[str],
    context: Sequence[LoggedItem] = (),
) -> str | None:
    """Log a question with what was answered; return its id, or None where that cannot be."""
    retrieval = Retrieval(
        id=services.clock.new_id(),
        verb=verb,
        query=asked.query,
        asking={**asked.as_json(), **_askers(services, asked.where)},
        notes=tuple(notes),
        asked_at=asked.asked_at or services.clock.now(),
        hits=tuple(hits),
        context=tuple(context),
    )
    return keep_log(services, retrieval)


def _askers(services: Services, where: Where) -> Mapping[str, str]:
    """Return who asked by id, so that their questions go when they go."""
    found: dict[str, str] = {}
    if where.agent is not None:
        with services.store.read() as tables:
            found["agent_id"] = find(tables, where).agent_id or ""
    if where.session is not None:
        found["conversation_id"] = where.session
    return found


def log_items(
    services: Services, verb: str, query: str, kind: str, found: Mapping[str, float]
) -> None:
    """Log a search for other things than memories: which came, by id, with their scores."""
    items = tuple(
        LoggedItem(kind=kind, item_id=item_id, outcome=f"score {score:g}")
        for item_id, score in found.items()
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
    keep_log(services, retrieval)


def keep_log(services: Services, retrieval: Retrieval) -> str | None:
    """Log a question; return its id, or None where the log cannot be written."""
    try:
        services.store.write_log(lambda tables: tables.retrievals.add(retrieval))
    except StoreError as error:
        log.warning("the retrieval could not be logged: %s", error)
        return None
    return retrieval.id


def _told(explanation: MemoryExplanation) -> str:
    memory = explanation.memory
    lines = [
        f"{memory.type} memory of {memory.scope} scope, {memory.status}, "
        f"confidence {memory.confidence:g}, observed {memory.observed_at:%Y-%m-%d %H:%M} UTC."
    ]
    for piece in memory.evidence:
        shown = piece.quote if len(piece.quote) <= 200 else piece.quote[:199] + "…"
        lines.append(f"Rests on “{shown}” (source {piece.source_id}, {piece.start}–{piece.end}).")
    for link in explanation.links:
        other = "this" if link.to_id == memory.id else f"{link.to_kind} {link.to_id}"
        one = "It" if link.from_id == memory.id else f"Memory {link.from_id}"
        lines.append(f"{one} {link.relation.replace('_', ' ')} {other}.")
    for change in explanation.changes:
        was = f"from {change.before} " if change.before else ""
        why = f": {change.reason}" if change.reason else ""
        lines.append(f"{change.at:%Y-%m-%d %H:%M}: {was}to {change.after} by {change.by}{why}.")
    lines.append(f"Returned by {explanation.shown_in} of the retrievals in the log.")
    return "\n".join(lines)


def _pruned(services: Services) -> str:
    keep = services.settings.keep_retrievals
    if not keep:
        return ""
    return (
        f"; old retrievals are removed, the newest {keep:,} are kept "
        "(setting keep_retrievals, 0 keeps all)"
    )
