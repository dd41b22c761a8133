"""
The extract stage: read a source by rules, write candidates and one episode.

Candidate ids are derived from the event and the offset, so a stage that is killed and run again
continues where it stopped. Candidates are written in small batches, so that a long transcript does
not hold the write lock for long. Of a session only the most confident statements become candidates,
because each is compared with existing memories and may be reviewed. The source is stored complete.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from heapq import nlargest
from itertools import count, islice
from typing import Any

from recollect.clock import derived_id
from recollect.domain.candidate import ExtractedStatement, NotProposed, StatementSubject
from recollect.domain.candidate_scope import (
    PLACES_OF_WORK,
    SessionPlace,
    narrow_scope,
    proposed_scope,
)
from recollect.domain.capture_event import Event
from recollect.domain.job import JobKind
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.promotion_policy import PolicySettings
from recollect.domain.provenance import Provenance, StatementFlag
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Source
from recollect.engine.audited_writer import ENGINE, AuditedWriter
from recollect.engine.engine_context import EngineContext
from recollect.engine.extract.classify_sentence import JUDGED, ExtractionMode
from recollect.engine.extract.find_statements import find_statements
from recollect.engine.extract.session_episode import session_episode
from recollect.engine.judges.durability import MIN_DURABLE
from recollect.engine.leased_job import LeasedJob, NextStep, Tally
from recollect.engine.source_text import turns_in_source
from recollect.errors import NotFound
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Tables
from recollect.text.fingerprint import fingerprint
from recollect.text.revision import may_give_a_value

MAX_CANDIDATES = 300
MAX_STATED = 3_000  # statements of a session that are not proposed: only search compares them
LEFT_OUT = "left out"
BATCH = 50
MAX_COMPARED = 100  # of the statements of a session that are not proposed
LONG_SOURCE_CHARS, LONG_SOURCE_BATCH = 1_000_000, 10
MAX_QUOTE_CHARS = 1_000
# Rules that find what is preferred or always done, whether by a person or in a project.
RULES_OF_BEHAVIOUR = frozenset({"preference", "remember", "correction"})
OWNER_FIELDS = ("project_id", "repo_id", "agent_id", "session_id", "scope")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory that is not stored yet, and why it is created."""

    memory: Memory
    reason: str
    is_compared: bool = True  # with what is known: it is proposed, or may change something


def extract(context: EngineContext, leased_job: LeasedJob) -> None:
    """Write the candidates found by rules in the source of the job's event."""
    event, source = load_event_and_source(context, leased_job)
    turns = turns_in_source(source)
    mode = extraction_mode(source.metadata, is_scoped=event.owner.scope is not Scope.GLOBAL)
    statements, left_out = _most_confident(find_statements(source.content, turns, mode), mode)
    # The event's own title may be one that a model wrote.
    title = leased_job.payload.get("title", "")
    episode = session_episode(source, turns, title=title, statements=statements)
    if episode is not None:
        statements.append(episode)
    candidates = build_candidates(context, statements, event, source, leased_job, "rules")
    # The database checks each quote against its source: a long source needs smaller batches.
    size = BATCH if len(source.content) < LONG_SOURCE_CHARS else LONG_SOURCE_BATCH
    batch = list(islice(candidates, size))
    while later := list(islice(candidates, size)):
        leased_job.write(partial(add_candidates, context, event.id, batch))
        batch = later
    session = {"session_scope": event.owner.scope.value, "session_owner": event.owner.id}
    following = [NextStep(JobKind.CONSOLIDATE, payload=session)]
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
    context: EngineContext,
    statements: Iterable[ExtractedStatement],
    event: Event,
    source: Source,
    leased_job: LeasedJob,
    how: str,
) -> Iterator[NewMemory]:
    """Yield *statements* as candidates of *event*, with ids that are the same on every run."""
    place = _session_place(context, event, leased_job.payload)
    ties: Counter[tuple[str, int]] = Counter()
    left = MAX_COMPARED
    for statement in statements:
        # Ids depend on the offset: a running number would change when a span is forgotten.
        start = statement.spans[0].start
        id_seed = f"{how} {statement.rule} {start} {ties[statement.rule, start]}"
        ties[statement.rule, start] += 1
        memory_id = derived_id(event.id, id_seed, start >> 4)
        memory = _memory(context, statement, memory_id, event, source, place, leased_job.payload)
        is_compared = statement.is_proposed
        if not is_compared and left and may_give_a_value(statement.content):
            is_compared, left = True, left - 1
        yield NewMemory(memory, _creation_reason(statement), is_compared)


def add_candidates(
    context: EngineContext, event_id: str, batch: list[NewMemory], tables: Tables
) -> Tally:
    """Write the memories of *batch* that are not stored yet, and mark them for consolidation."""
    reasons = {candidate.memory.id: candidate.reason for candidate in batch}
    stored = tables.memories.stored_ids(list(reasons))
    new = [candidate.memory for candidate in batch if candidate.memory.id not in stored]
    new = _without_repeated_statements(tables, new)
    writer = AuditedWriter(tables, context.clock, ENGINE)
    writer.create_many(new, [reasons[memory.id] for memory in new])
    proposed = [memory.id for memory in new if memory.status is Status.INBOX]
    is_compared = {candidate.memory.id for candidate in batch if candidate.is_compared}
    if compared := [memory.id for memory in new if memory.id in is_compared]:
        tables.jobs.add_unconsolidated(event_id, *compared)
    return {"extracted": len(proposed), "stated": len(new) - len(proposed)}


def _without_repeated_statements(tables: Tables, batch: list[Memory]) -> list[Memory]:
    """Return *batch* without statements, not proposed, whose owner has the same words already."""
    stated = [memory for memory in batch if memory.status is Status.STATED]
    if not stated:
        return batch
    keys = [(fingerprint(memory.content), memory.owner) for memory in stated]
    same_texts = tables.memories.with_fingerprints(keys)
    repeated = {
        memory.id
        for memory, same in zip(stated, same_texts, strict=True)
        if same and _is_of_same_days(tables, memory, same)
    }
    dated_keys = [(key, memory.provenance.days) for memory, key in zip(stated, keys, strict=True)]
    first = {key: memory.id for memory, key in reversed(list(zip(stated, dated_keys, strict=True)))}
    repeated |= {memory.id for memory in stated} - set(first.values())
    return [memory for memory in batch if memory.id not in repeated]


def _is_of_same_days(tables: Tables, memory: Memory, same_text_ids: Sequence[str]) -> bool:
    """Return whether one of the memories with the words of *memory* means the same days."""
    days = memory.provenance.days
    if not days:
        return True
    others = tables.memories.get_many(list(same_text_ids))
    return any(other.provenance.days == days for other in others)


def _creation_reason(statement: ExtractedStatement) -> str:
    """Return why a statement was proposed, or not, as `explain` shows it."""
    confidence = f"confidence {statement.confidence:.2f}"
    if statement.not_proposed is NotProposed.JOKE:
        reason = "said, but not proposed: it sounds like a joke or irony"
    elif statement.not_proposed is NotProposed.UNLIKELY:
        reason = f"said, but not proposed ({confidence}, below {MIN_DURABLE})"
    elif statement.rule == JUDGED:
        reason = f"extracted: judged worth remembering ({confidence})"
    else:
        reason = f"extracted: {statement.rule}"
    is_confidential = StatementFlag.CONFIDENTIAL in statement.flags
    return f"{reason}; told in confidence" if is_confidential else reason


def _memory(
    context: EngineContext,
    statement: ExtractedStatement,
    memory_id: str,
    event: Event,
    source: Source,
    place: SessionPlace,
    payload: Mapping[str, Any],
) -> Memory:
    now = context.clock.now()
    is_automatic = _is_automatic(statement, context.policy)
    scope = _scope(statement, place, is_automatic=is_automatic)
    kind = _type(statement, scope)
    if kind is MemoryType.PROFILE and place.is_private_to_agent and scope in PLACES_OF_WORK:
        scope = Scope.AGENT  # in a project other agents learn what is about the work, nothing else
    return Memory(
        id=memory_id,
        type=kind,
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
        evidence=tuple(_evidence(statement, memory_id, source, now)),
    )


def _provenance(statement: ExtractedStatement, event: Event, source: Source) -> Provenance:
    return Provenance(
        voice=statement.voice,
        flags=statement.flags,
        rule=statement.rule,
        event_id=event.id,
        session=source.session,
        dates=statement.dates,
    )


def _session_place(
    context: EngineContext, event: Event, payload: Mapping[str, Any]
) -> SessionPlace:
    agent_id, project_id = payload.get("agent_id"), payload.get("project_id")
    works_in_projects = bool(agent_id and project_id)
    if agent_id and not works_in_projects:
        with context.store.read() as tables:
            works_in_projects = tables.agents.works_in_projects(agent_id)
    return SessionPlace(
        scope=event.owner.scope,
        is_set_by_caller=bool(payload.get("scope")),
        has_agent=agent_id is not None,
        has_project=project_id is not None,
        single_user=context.policy.single_user,
        agent_works_in_projects=works_in_projects,
    )


def _scope(statement: ExtractedStatement, place: SessionPlace, *, is_automatic: bool) -> Scope:
    """Return the proposed scope, or the narrow one if the policy will probably activate it."""
    scope = proposed_scope(statement, place)
    if scope is Scope.GLOBAL and is_automatic:
        return narrow_scope(MemoryType.PROFILE, statement.flags, place)
    return scope


def _is_automatic(statement: ExtractedStatement, policy: PolicySettings) -> bool:
    """Return whether the policy probably makes a statement active without a person."""
    is_explicit = StatementFlag.EXPLICIT in statement.flags and policy.promote_explicit
    return is_explicit or StatementFlag.CORRECTION in statement.flags


def _type(statement: ExtractedStatement, scope: Scope) -> MemoryType:
    """Return the type of a candidate: a profile describes a person, not a project."""
    is_work = statement.subject is StatementSubject.WORK and scope in PLACES_OF_WORK
    if statement.type is MemoryType.PROFILE and is_work and statement.rule in RULES_OF_BEHAVIOUR:
        return MemoryType.PROJECT
    if statement.rule == JUDGED and statement.type is MemoryType.PROJECT and not is_work:
        return MemoryType.PROFILE
    return statement.type


def _evidence(
    statement: ExtractedStatement, memory_id: str, source: Source, created_at: datetime
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
            created_at=created_at,
        )
