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
from itertools import count, islice
from typing import Any

from recollect.clock import Clock, derived_id
from recollect.domain.candidate import ExtractedStatement
from recollect.domain.capture_event import Event
from recollect.domain.job import JobKind
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Source
from recollect.domain.transcript import Voice
from recollect.engine.audited_writer import ENGINE, AuditedWriter
from recollect.engine.engine_context import EngineContext
from recollect.engine.extract.classify_sentence import JUDGED, ExtractionMode
from recollect.engine.extract.find_statements import find_statements
from recollect.engine.extract.session_episode import session_episode
from recollect.engine.judges.durability import MIN_DURABLE
from recollect.engine.leased_job import LeasedJob, NextStep, Tally
from recollect.engine.source_text import turns_in_source
from recollect.errors import NotFound
from recollect.store.protocol import Tables
from recollect.text.all_projects_request import asks_for_all_projects
from recollect.text.fingerprint import fingerprint
from recollect.text.statement_dates import upcoming_dates

MAX_CANDIDATES = 300
MAX_STATED = 3_000  # statements of a session that are not proposed: only search compares them
LEFT_OUT = "left out"
BATCH = 50
LONG_SOURCE_CHARS, LONG_SOURCE_BATCH = 1_000_000, 10
MAX_QUOTE_CHARS = 1_000
OWNER_FIELDS = ("project_id", "repo_id", "agent_id", "session_id", "scope")


def extract(context: EngineContext, leased_job: LeasedJob) -> None:
    """Write the candidates found by rules in the source of the job's event."""
    event, source = load_event_and_source(context, leased_job)
    turns = turns_in_source(source)
    mode = extraction_mode(source.metadata, is_scoped=event.owner.scope is not Scope.GLOBAL)
    statements, left_out = _most_confident(find_statements(source.content, turns, mode), mode)
    # The event's own title may be one that a model wrote.
    episode = session_episode(source, turns, title=leased_job.payload.get("title", ""))
    if episode is not None:
        statements.append(episode)
    candidates = build_candidates(statements, event, source, leased_job, context.clock, "rules")
    # The database checks each quote against its source: a long source needs smaller batches.
    size = BATCH if len(source.content) < LONG_SOURCE_CHARS else LONG_SOURCE_BATCH
    batch = list(islice(candidates, size))
    while later := list(islice(candidates, size)):
        leased_job.write(partial(add_candidates, context, event.id, batch))
        batch = later
    following = [NextStep(JobKind.CONSOLIDATE)]
    if context.uses_chat:
        following.append(NextStep(JobKind.ASK, payload=owner_fields(leased_job.payload)))

    def add_last(tables: Tables) -> Tally:
        tally = add_candidates(context, event.id, batch, tables) if batch else {}
        return {**tally, LEFT_OUT: left_out} if left_out else tally

    leased_job.finish(following, add_last)


def owner_fields(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a job's payload that say who owns its candidates."""
    return {name: payload.get(name) for name in OWNER_FIELDS}


def load_event_and_source(context: EngineContext, leased_job: LeasedJob) -> tuple[Event, Source]:
    """Return the event and the source that a job is about."""
    event_id = leased_job.job.event_id
    with context.store.read() as tables:
        event = tables.sources.event(event_id)
        source = tables.sources.get(event.source_id or "") if event else None
    if event is None or source is None:
        raise NotFound(f"the source of event {event_id} was deleted; nothing can be extracted")
    return event, source


def extraction_mode(metadata: Any, *, is_scoped: bool) -> ExtractionMode:
    """Return how to read a source that was captured with this *metadata*."""
    mode = metadata.get("mode", "transcript")
    return ExtractionMode(
        states_everything=mode in ("note", "summary"),
        reported=mode == "summary",
        note_type=MemoryType.PROJECT if is_scoped else MemoryType.ARTIFACT,
    )


def _most_confident(
    statements: Iterable[ExtractedStatement], mode: ExtractionMode
) -> tuple[list[ExtractedStatement], int]:
    """Return the most confident statements in order, and the number of the others."""
    if mode.states_everything:
        return list(statements), 0  # a note was written to be remembered
    total = count()  # counts while streaming: a long transcript has many statements
    stream = (statement for statement, _ in zip(statements, total, strict=False))
    best = nlargest(MAX_CANDIDATES + MAX_STATED, stream, key=_confidence_rank)
    confident = [statement for statement in best if statement.is_proposed][:MAX_CANDIDATES]
    confident += [statement for statement in best if not statement.is_proposed][:MAX_STATED]
    return sorted(confident, key=_start_of), next(total) - len(confident)


def _confidence_rank(statement: ExtractedStatement) -> tuple[bool, bool, float, int]:
    """Rank proposals first, then corrections and updates, by confidence, the latest first."""
    is_correction = not {StatementFlag.CORRECTION, StatementFlag.UPDATE}.isdisjoint(statement.flags)
    return statement.is_proposed, is_correction, statement.confidence, _start_of(statement)


def _start_of(statement: ExtractedStatement) -> int:
    return statement.spans[0].start


def build_candidates(
    statements: Iterable[ExtractedStatement],
    event: Event,
    source: Source,
    leased_job: LeasedJob,
    clock: Clock,
    how: str,
) -> Iterator[Memory]:
    """Yield *statements* as candidates of *event*, with ids that are the same on every run."""
    ties: Counter[tuple[str, int]] = Counter()
    for statement in statements:
        # Ids depend on the offset: a running number would change when a span is forgotten.
        start = statement.spans[0].start
        id_seed = f"{how} {statement.rule} {start} {ties[statement.rule, start]}"
        ties[statement.rule, start] += 1
        memory_id = derived_id(event.id, id_seed, start >> 4)
        yield _memory(statement, memory_id, event, source, leased_job, clock)


def add_candidates(
    context: EngineContext, event_id: str, batch: list[Memory], tables: Tables
) -> Tally:
    """Write the memories of *batch* that are not stored yet, and mark them for consolidation."""
    stored = tables.memories.stored_ids([memory.id for memory in batch])
    new = [memory for memory in batch if memory.id not in stored]
    new = _without_repeated_statements(tables, new)
    writer = AuditedWriter(tables, context.clock, ENGINE)
    writer.create_many(new, [_creation_reason(memory) for memory in new])
    proposed = [memory.id for memory in new if memory.status is Status.INBOX]
    if proposed:
        tables.jobs.add_unconsolidated(event_id, *proposed)
    return {"extracted": len(proposed), "stated": len(new) - len(proposed)}


def _without_repeated_statements(tables: Tables, batch: list[Memory]) -> list[Memory]:
    """Return *batch* without statements, not proposed, whose owner has the same words already."""
    stated = [memory for memory in batch if memory.status is Status.STATED]
    if not stated:
        return batch
    keys = [(fingerprint(memory.content), memory.owner) for memory in stated]
    same_texts = tables.memories.with_fingerprints(keys)
    repeated = {memory.id for memory, same in zip(stated, same_texts, strict=True) if same}
    first = {key: memory.id for memory, key in reversed(list(zip(stated, keys, strict=True)))}
    repeated |= {memory.id for memory in stated} - set(first.values())
    return [memory for memory in batch if memory.id not in repeated]


def _creation_reason(memory: Memory) -> str:
    """Return why a statement was proposed, or not, as `explain` shows it."""
    if memory.status is Status.STATED:
        return f"said, but not proposed (confidence {memory.confidence:.2f}, below {MIN_DURABLE})"
    if memory.provenance.rule == JUDGED:
        return f"extracted: judged worth remembering (confidence {memory.confidence:.2f})"
    return f"extracted: {memory.provenance.rule}"


def _memory(
    statement: ExtractedStatement,
    memory_id: str,
    event: Event,
    source: Source,
    leased_job: LeasedJob,
    clock: Clock,
) -> Memory:
    now = clock.now()
    payload = leased_job.payload
    scope = _scope(statement, event, source, payload)
    return Memory(
        id=memory_id,
        type=statement.type,
        scope=scope,
        status=Status.INBOX if statement.is_proposed else Status.STATED,
        content=statement.content,
        title=statement.title,
        project_id=payload.get("project_id") if scope is not Scope.GLOBAL else None,
        repo_id=payload.get("repo_id") if scope is not Scope.GLOBAL else None,
        agent_id=payload.get("agent_id"),
        session_id=payload.get("session_id"),
        source_kind=source.kind,
        confidence=statement.confidence,
        observed_at=statement.observed_at,
        confirmed_at=statement.observed_at,
        created_at=now,
        updated_at=now,
        rationale=statement.rationale,
        alternatives=statement.alternatives,
        provenance=_provenance(statement, event, source),
        evidence=tuple(_evidence(statement, memory_id, source, clock)),
    )


def _provenance(statement: ExtractedStatement, event: Event, source: Source) -> Provenance:
    is_hint = statement.type is MemoryType.TASK_HINT
    return Provenance(
        voice=statement.voice,
        flags=statement.flags,
        rule=statement.rule,
        event_id=event.id,
        session=source.session if statement.type is MemoryType.EPISODE else "",
        dates=upcoming_dates(statement.content, said_at=statement.observed_at) if is_hint else (),
    )


def _scope(
    statement: ExtractedStatement, event: Event, source: Source, payload: Mapping[str, Any]
) -> Scope:
    """
    Return the scope of a candidate: that of its session, even of a fact about the user.

    If agents may serve different users, facts about the user and session records are the agent's.
    A candidate is global only if the user says so in the same sentence and the caller set no scope,
    or if it is a fact about the only user of the store, told to an agent outside of any project.
    """
    is_personal = statement.type in (MemoryType.PROFILE, MemoryType.EPISODE)
    if is_personal and (personal_scope := payload.get("personal_scope")):
        return Scope(personal_scope)
    if payload.get("scope") or statement.type in (MemoryType.EPISODE, MemoryType.TASK_HINT):
        return event.owner.scope
    if statement.type is MemoryType.PROFILE and event.owner.scope is Scope.AGENT:
        return Scope.GLOBAL  # all agents serve one user: see `capture.store_capture`
    if statement.voice is not Voice.USER:
        return event.owner.scope
    span = statement.spans[0]
    is_for_all = asks_for_all_projects(source.content[span.start : span.end])
    return Scope.GLOBAL if is_for_all else event.owner.scope


def _evidence(
    statement: ExtractedStatement, memory_id: str, source: Source, clock: Clock
) -> Iterator[Evidence]:
    for number, span in enumerate(statement.spans):
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
