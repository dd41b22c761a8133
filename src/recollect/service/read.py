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

from recollect.domain.event import Event
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import (
    SHOWN,
    Asking,
    Filters,
    Hit,
    LoggedHit,
    LoggedItem,
    MemoryExplanation,
    Parts,
    Retrieval,
    WhyNot,
)
from recollect.domain.scope import Owner, Scope, Viewer, visible_owners
from recollect.errors import NotFound, StoreError
from recollect.retrieval.candidates import Meaning
from recollect.retrieval.retrieve import retrieve
from recollect.retrieval.why_not import why_not as find_why_not
from recollect.retrieval.why_not import why_nothing as find_why_nothing
from recollect.service import inputs
from recollect.service.deps import Deps
from recollect.service.places import Where, find
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.clean import clean
from recollect.text.redact import redact

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as its caller put it: checked, its places not yet looked up."""

    query: str
    where: Where
    filters: Filters
    scopes: frozenset[Scope] | None
    everywhere: bool
    asked_at: datetime | None
    limit: int

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
            "statuses": sorted(filters.statuses) if filters.statuses != frozenset(SHOWN) else None,
            "tags": sorted(filters.tags) or None,
            "any_tags": sorted(filters.any_tags) or None,
            "since": filters.since.isoformat() if filters.since else None,
            "until": filters.until.isoformat() if filters.until else None,
            "everywhere": self.everywhere or None,
            "limit": self.limit,
        }
        return {name: value for name, value in told.items() if value is not None}


def question(
    query: object,
    *,
    where: Where,
    scopes: object = None,
    types: object = None,
    statuses: object = None,
    tags: object = (),
    since: object = None,
    until: object = None,
    asked_at: object = None,
    limit: object = 10,
    everywhere: bool = False,
) -> Question:
    """Check what a caller asks."""
    filters = Filters(
        types=frozenset(MemoryType) if types is None else inputs.some_of("type", MemoryType, types),
        statuses=(
            frozenset(SHOWN) if statuses is None else inputs.some_of("status", Status, statuses)
        ),
        tags=frozenset(redact(tag).text for tag in inputs.tags_of(tags)),
        since=inputs.moment_of("since", since),
        until=inputs.moment_of("until", until, end_of_day=True),
    )
    return Question(
        query=inputs.query_of(query),
        where=where,
        filters=filters,
        scopes=None if scopes is None else inputs.some_of("scope", Scope, scopes),
        everywhere=everywhere,
        asked_at=inputs.local_moment_of("asked_at", asked_at),
        limit=inputs.count_of("limit", limit, most=inputs.MAX_LIMIT),
    )


def search(deps: Deps, asked: Question) -> list[Hit]:
    """Return the memories that answer a question, best first, each with its reasons."""
    hits, notes = answer(deps, asked)
    kept = [logged(rank, hit) for rank, hit in enumerate(hits, start=1)]
    retrieval_id = log_answer(deps, "search", asked, kept, notes)
    return [replace(hit, retrieval_id=retrieval_id) for hit in hits]


def why_not(deps: Deps, memory_id: object, asked: Question) -> WhyNot:
    """Return why a memory does not come for a question."""
    meaning, _ = meaning_of(deps, asked.query)
    with deps.store.read() as tables:
        meaning = still(deps, tables, asked.query, meaning)
        memory = known(tables, memory_id)
        return find_why_not(tables, _asking(deps, tables, asked), meaning, memory)


def why_nothing(deps: Deps, asked: Question) -> WhyNot:
    """Return what came nearest to a question, and why it is not shown."""
    meaning, _ = meaning_of(deps, asked.query)
    with deps.store.read() as tables:
        meaning = still(deps, tables, asked.query, meaning)
        return find_why_nothing(tables, _asking(deps, tables, asked), meaning)


def explain(deps: Deps, some_id: object) -> MemoryExplanation | Retrieval:
    """Return everything known about a memory, or about a logged retrieval."""
    with deps.store.read() as tables:
        if isinstance(some_id, str):
            retrieval = tables.retrievals.get(clean(some_id))
            if retrieval is not None:
                return retrieval
        try:
            memory = known(tables, some_id)
        except NotFound:
            raise NotFound(
                f"{some_id!r} is neither a memory nor a retrieval of this store" + _pruned(deps)
            ) from None
        explanation = MemoryExplanation(
            memory=memory,
            sources=tuple(tables.sources.of_memory(memory.id)),
            links=tuple(tables.links.of_memory(memory.id)),
            changes=tuple(tables.memories.changes(memory.id)),
            shown_in=tables.retrievals.times_shown(memory.id),
        )
    return replace(explanation, text=_told(explanation))


def get(deps: Deps, memory_id: object) -> Memory:
    """Return one memory."""
    with deps.store.read() as tables:
        return known(tables, memory_id)


def viewer(deps: Deps, where: Where) -> Viewer:
    """Return who asks from *where*, by ids."""
    with deps.store.read() as tables:
        return find(tables, where)


def event(deps: Deps, event_id: object) -> Event:
    """Return how far a capture has come."""
    with deps.store.read() as tables:
        found = tables.sources.event(clean(event_id)) if isinstance(event_id, str) else None
    if found is None:
        raise NotFound(f"there is no event {event_id!r} in this store")
    return found


def newest(deps: Deps, asked: Question) -> list[Memory]:
    """Return the latest memories that a question's places and filters admit."""
    with deps.store.read() as tables:
        return tables.memories.newest(owners_of(tables, asked), asked.filters, asked.limit)


def answer(
    deps: Deps, asked: Question, known: tuple[Meaning | None, str] | None = None
) -> tuple[Sequence[Hit], list[str]]:
    """Return the hits of a question, and notes for the log; its meaning may be *known* already."""
    if not asked.query.strip():
        return (), ["the question is empty"]
    meaning, trouble = known or meaning_of(deps, asked.query)
    with deps.store.read() as tables:
        meaning = still(deps, tables, asked.query, meaning)
        found = retrieve(tables, _asking(deps, tables, asked), meaning)
    notes = [f"{found.weighed} candidates above the bar"]
    if found.refused is not None:
        nearest, reached, needed = found.refused.id, found.refused.reached, found.refused.needed
        notes.append(f"the nearest was {nearest}: {reached:.2f} of the {needed:.2f} needed")
    return found.hits, [*notes, trouble] if trouble else notes


def meaning_of(deps: Deps, query: str) -> tuple[Meaning | None, str]:
    """Return a question as a vector, or None and why meaning is not compared."""
    indexer = deps.indexer()
    if indexer is None or not query.strip():
        return None, "meaning was not compared: embeddings are switched off" if query else ""
    return indexer.meaning(query)


def still(deps: Deps, tables: Tables, query: str, meaning: Meaning | None) -> Meaning | None:
    """Return the meaning of *query* by the model that answers in *tables*."""
    indexer = deps.indexer() if meaning is not None else None
    return None if indexer is None else indexer.still(tables, query, meaning)


def _asking(deps: Deps, tables: Tables, asked: Question) -> Asking:
    return Asking(
        query=asked.query,
        viewer=find(tables, asked.where),
        owners=owners_of(tables, asked),
        filters=asked.filters,
        asked_at=asked.asked_at or deps.clock.now(),
        limit=asked.limit,
        scopes=frozenset(Scope) if asked.scopes is None else asked.scopes,
        crossing=deps.cross_project,
    )


def owners_of(tables: Tables, asked: Question) -> tuple[Owner, ...] | None:
    """Return whose memories a question may see; None for everybody's."""
    if asked.everywhere:
        return None
    return visible_owners(find(tables, asked.where), asked.scopes)


def newest_hits(deps: Deps, asked: Question) -> list[Hit]:
    """Return the latest memories a question admits, as hits that nothing was matched for."""
    with deps.store.read() as tables:
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
    deps: Deps,
    verb: str,
    asked: Question,
    hits: Sequence[LoggedHit],
    notes: Sequence[str],
    context: Sequence[LoggedItem] = (),
) -> str | None:
    """Log a question with what was answered; return its id, or None where that cannot be."""
    retrieval = Retrieval(
        id=deps.clock.new_id(),
        verb=verb,
        query=asked.query,
        asking={**asked.as_json(), **_askers(deps, asked.where)},
        notes=tuple(notes),
        asked_at=asked.asked_at or deps.clock.now(),
        hits=tuple(hits),
        context=tuple(context),
    )
    return keep_log(deps, retrieval)


def _askers(deps: Deps, where: Where) -> Mapping[str, str]:
    """Return who asked by id, so that their questions go when they go."""
    found: dict[str, str] = {}
    if where.agent is not None:
        with deps.store.read() as tables:
            found["agent_id"] = find(tables, where).agent_id or ""
    if where.session is not None:
        found["conversation_id"] = where.session
    return found


def log_items(deps: Deps, verb: str, query: str, kind: str, found: Mapping[str, float]) -> None:
    """Log a search for other things than memories: which came, by id, with their scores."""
    items = tuple(
        LoggedItem(kind=kind, item_id=item_id, outcome=f"score {score:g}")
        for item_id, score in found.items()
    )
    retrieval = Retrieval(
        id=deps.clock.new_id(),
        verb=verb,
        query=query,
        asking={},
        notes=(),
        asked_at=deps.clock.now(),
        context=items,
    )
    keep_log(deps, retrieval)


def keep_log(deps: Deps, retrieval: Retrieval) -> str | None:
    """Log a question; return its id, or None where the log cannot be written."""
    try:
        deps.store.note(lambda tables: tables.retrievals.add(retrieval))
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


def _pruned(deps: Deps) -> str:
    keep = deps.settings.keep_retrievals
    if not keep:
        return ""
    return (
        f"; old retrievals are removed, the newest {keep:,} are kept "
        "(setting keep_retrievals, 0 keeps all)"
    )
