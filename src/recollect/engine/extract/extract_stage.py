"""
The extract stage: read a source by rules, write candidates and one episode.

Candidate ids are derived from the event and the offset, so a stage that is killed and run again
continues where it stopped. Candidates are written in small batches, so that a long transcript does
not hold the write lock for long. Of a session only the most confident statements become candidates,
because each is compared with existing memories and may be reviewed. The source is stored complete.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from heapq import nlargest
from itertools import count
from typing import Any

from recollect.clock import Clock, derived_id
from recollect.domain.candidate import CORRECTION, UPDATE, Found
from recollect.domain.event import Event
from recollect.domain.job import JobKind
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Source
from recollect.engine.desk import Desk, Held, Next, Tally
from recollect.engine.extract.find_statements import ExtractionMode, find_statements
from recollect.engine.extract.session_episode import session_episode
from recollect.engine.material import turns_of
from recollect.engine.records import ENGINE, Records
from recollect.errors import NotFound
from recollect.store.protocol import Tables
from recollect.text.decision_details import upcoming_dates

MAX_CANDIDATES = 300
LEFT_OUT = "left out"
BATCH = 50
LONG_SOURCE_CHARS, LONG_SOURCE_BATCH = 1_000_000, 10
MAX_QUOTE_CHARS = 1_000
OWNER_FIELDS = ("project_id", "repo_id", "agent_id", "session_id", "scope")


def extract(desk: Desk, held: Held) -> None:
    """Write the candidates found by rules in the source of the job's event."""
    event, source = load_event_and_source(desk, held)
    turns = turns_of(source)
    mode = extraction_mode(source.metadata, is_scoped=event.owner.scope is not Scope.GLOBAL)
    statements, left_out = _most_confident(find_statements(source.content, turns, mode), mode)
    episode = session_episode(source, turns, title=event.title)
    if episode is not None:
        statements.append(episode)
    candidates = build_candidates(statements, event, source, held, desk.clock, "rules")
    # The database checks each quote against its source: a long source needs smaller batches.
    size = BATCH if len(source.content) < LONG_SOURCE_CHARS else LONG_SOURCE_BATCH
    for batch in _batches(candidates, size):
        held.write(partial(add_candidates, desk, event.id, batch))
    if left_out and LEFT_OUT not in held.payload:
        held.write(lambda tables: {LEFT_OUT: left_out})
    following = [Next(JobKind.CONSOLIDATE)]
    if desk.asks:
        following.append(Next(JobKind.ASK, payload=owner_fields(held.payload)))
    held.finish(following)


def owner_fields(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a job's payload that say who owns its candidates."""
    return {name: payload.get(name) for name in OWNER_FIELDS}


def load_event_and_source(desk: Desk, held: Held) -> tuple[Event, Source]:
    """Return the event and the source that a job is about."""
    with desk.store.read() as tables:
        event = tables.sources.event(held.job.event_id)
        source = tables.sources.get(event.source_id or "") if event else None
    if event is None or source is None:
        raise NotFound(
            f"the source of event {held.job.event_id} was deleted; there is nothing to extract"
        )
    return event, source


def extraction_mode(metadata: Any, *, is_scoped: bool) -> ExtractionMode:
    """Return how to read a source that was captured with this *metadata*."""
    mode = metadata.get("mode", "transcript")
    return ExtractionMode(
        states_everything=mode in ("note", "summary"),
        reported=mode == "summary",
        note_type=MemoryType.PROJECT if is_scoped else MemoryType.ARTIFACT,
    )


def _most_confident(statements: Iterable[Found], mode: ExtractionMode) -> tuple[list[Found], int]:
    """Return the most confident statements in order, and the number of the others."""
    if mode.states_everything:
        return list(statements), 0  # a note was written to be remembered
    total = count()  # counts while streaming: a long transcript has many statements
    stream = (statement for statement, _ in zip(statements, total, strict=False))
    confident = nlargest(MAX_CANDIDATES, stream, key=_confidence_rank)
    return sorted(confident, key=_start_of), next(total) - len(confident)


def _confidence_rank(statement: Found) -> tuple[bool, float, int]:
    """Rank corrections and updates first, then by confidence, then the latest first."""
    is_correction = not {CORRECTION, UPDATE}.isdisjoint(statement.flags)
    return is_correction, statement.confidence, _start_of(statement)


def _start_of(statement: Found) -> int:
    return statement.spans[0].start


def build_candidates(
    statements: Iterable[Found], event: Event, source: Source, held: Held, clock: Clock, how: str
) -> Iterator[Memory]:
    """Yield *statements* as candidates of *event*, with ids that are the same on every run."""
    ties: Counter[tuple[str, int]] = Counter()
    for statement in statements:
        # Ids depend on the offset: a running number would change when a span is forgotten.
        start = statement.spans[0].start
        id_seed = f"{how} {statement.rule} {start} {ties[statement.rule, start]}"
        ties[statement.rule, start] += 1
        memory_id = derived_id(event.id, id_seed, start >> 4)
        yield _memory(statement, memory_id, event, source, held, clock)


def _batches(candidates: Iterable[Memory], size: int) -> Iterator[list[Memory]]:
    batch: list[Memory] = []
    for candidate in candidates:
        batch.append(candidate)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def add_candidates(desk: Desk, event_id: str, batch: list[Memory], tables: Tables) -> Tally:
    """Write the memories of *batch* that are not stored yet, and mark them for consolidation."""
    stored = {memory.id for memory in tables.memories.get_many([memory.id for memory in batch])}
    records = Records(tables, desk.clock, ENGINE)
    for memory in batch:
        if memory.id in stored:
            continue
        records.born(memory, f"extracted: {memory.metadata['rule']}")
        tables.jobs.add_unconsolidated(event_id, memory.id)
    return {"extracted": len(batch) - len(stored)}


def _memory(
    found: Found, memory_id: str, event: Event, source: Source, held: Held, clock: Clock
) -> Memory:
    now = clock.now()
    payload = held.payload
    scope = _candidate_scope(found, event, explicit=bool(payload.get("scope")))
    metadata: dict[str, Any] = {
        "rule": found.rule,
        "voice": found.voice.value,
        "event": event.id,
    }
    if found.flags:
        metadata["flags"] = list(found.flags)
    if found.type is MemoryType.EPISODE:
        metadata["session"] = source.session
    if found.type is MemoryType.TASK_HINT:
        metadata["dates"] = upcoming_dates(found.content, said_at=found.observed_at)
    return Memory(
        id=memory_id,
        type=found.type,
        scope=scope,
        status=Status.INBOX,
        content=found.content,
        title=found.title,
        project_id=payload.get("project_id") if scope is not Scope.GLOBAL else None,
        repo_id=payload.get("repo_id") if scope is not Scope.GLOBAL else None,
        agent_id=payload.get("agent_id"),
        session_id=payload.get("session_id"),
        source_kind=source.kind,
        confidence=found.confidence,
        observed_at=found.observed_at,
        confirmed_at=found.observed_at,
        created_at=now,
        updated_at=now,
        rationale=found.rationale,
        alternatives=found.alternatives,
        metadata=metadata,
        evidence=tuple(_evidence(found, memory_id, source, clock)),
    )


def _candidate_scope(found: Found, event: Event, *, explicit: bool) -> Scope:
    """Return the scope: global for facts about the user, unless the caller set a scope."""
    if found.type is MemoryType.PROFILE and not explicit:
        return Scope.GLOBAL
    return event.owner.scope


def _evidence(found: Found, memory_id: str, source: Source, clock: Clock) -> Iterator[Evidence]:
    for number, span in enumerate(found.spans):
        end = min(span.end, span.start + MAX_QUOTE_CHARS)
        yield Evidence(
            id=derived_id(memory_id, "evidence", number),
            memory_id=memory_id,
            source_id=source.id,
            start=span.start,
            end=end,
            quote=source.content[span.start : end],
            voice=span.voice.value,
            created_at=clock.now(),
        )
