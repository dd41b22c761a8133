"""
The extract stage: read a source by rules, write candidates and one episode.

Candidates have ids that follow from their event and their number, so a stage that is killed
half-way and run again finds what it wrote and goes on. They are written in small batches, so that
a long transcript never holds the write lock for long. Of a session only the most certain become
candidates: nobody reviews thousands, and each is compared with what is known. The source stays
whole.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from heapq import nlargest
from itertools import chain
from typing import Any

from recollect.clock import Clock, derived_id
from recollect.domain.candidate import CORRECTION, UPDATE, Found
from recollect.domain.event import Event
from recollect.domain.job import JobKind
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence, Source
from recollect.engine.desk import Desk, Held, Next, Tally
from recollect.engine.extract.episode import episode
from recollect.engine.extract.find import Reading, find
from recollect.engine.material import turns_of
from recollect.engine.records import ENGINE, Records
from recollect.errors import NotFound
from recollect.store.protocol import Tables
from recollect.text.details import dates_in

MOST_OF_A_SESSION = 300
LEFT_OUT = "left out"
BATCH = 50
LONG, BATCH_OF_LONG = 1_000_000, 10
MOST_QUOTE = 1_000
PLACES = ("project_id", "repo_id", "agent_id", "session_id", "scope")


def extract(desk: Desk, held: Held) -> None:
    """Write what the rules find in the source of the held job's event."""
    event, source = subject(desk, held)
    turns = turns_of(source)
    told = source.metadata
    reading = reading_of(told, placed=event.owner.scope is not Scope.GLOBAL)
    found, left_out = _most_certain(find(source.content, turns, reading), reading)
    whole = episode(source, turns, title=event.title)
    candidates = written(
        chain(found, () if whole is None else (whole,)), event, source, held, desk.clock, "rules"
    )
    # The database looks each quote up in its source: the longer that is, the fewer at a time.
    size = BATCH if len(source.content) < LONG else BATCH_OF_LONG
    for batch in _batches(candidates, size):
        held.write(partial(add_candidates, desk, event.id, batch))
    if left_out and LEFT_OUT not in held.payload:
        held.write(lambda tables: {LEFT_OUT: left_out})
    following = [Next(JobKind.CONSOLIDATE)]
    if desk.asks:
        following.append(Next(JobKind.ASK, payload=placed(held.payload)))
    held.finish(following)


def placed(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what of a job's payload says where its candidates belong."""
    return {name: payload.get(name) for name in PLACES}


def subject(desk: Desk, held: Held) -> tuple[Event, Source]:
    """Return the event and the source that a job is about."""
    with desk.store.read() as tables:
        event = tables.sources.event(held.job.event_id)
        source = tables.sources.get(event.source_id or "") if event else None
    if event is None or source is None:
        raise NotFound(f"the source of event {held.job.event_id} is gone; there is nothing to read")
    return event, source


def reading_of(told: Any, *, placed: bool) -> Reading:
    """Return how a source is to be read, by the mode in which it was captured."""
    mode = told.get("mode", "transcript")
    return Reading(
        states_everything=mode in ("note", "summary"),
        reported=mode == "summary",
        note_type=MemoryType.PROJECT if placed else MemoryType.ARTIFACT,
    )


def _most_certain(found: Iterable[Found], reading: Reading) -> tuple[list[Found], int]:
    """Return what is worth a reviewer's time, in order, and how many more there were."""
    if reading.states_everything:
        return list(found), 0  # somebody wrote it down to be kept
    seen = 0

    def counted() -> Iterator[Found]:
        nonlocal seen
        for one in found:
            seen += 1
            yield one

    kept = nlargest(MOST_OF_A_SESSION, counted(), key=_certainty)
    return sorted(kept, key=_place), seen - len(kept)


def _certainty(one: Found) -> tuple[bool, float, int]:
    """What puts something right first, then by confidence; among equals what was said last."""
    return not {CORRECTION, UPDATE}.isdisjoint(one.flags), one.confidence, _place(one)


def _place(one: Found) -> int:
    return one.spans[0].start


def written(
    found: Iterable[Found], event: Event, source: Source, held: Held, clock: Clock, how: str
) -> Iterator[Memory]:
    """Yield *found* as candidates of *event*, each with an id of its own that never changes."""
    ties: Counter[tuple[str, int]] = Counter()
    for one in found:
        # Known by its place: a count would shift for all that follow when a span is forgotten.
        place = one.spans[0].start
        what = f"{how} {one.rule} {place} {ties[one.rule, place]}"
        ties[one.rule, place] += 1
        yield _memory(one, derived_id(event.id, what, place >> 4), event, source, held, clock)


def _batches(candidates: Iterable[Memory], size: int) -> Iterator[list[Memory]]:
    batch: list[Memory] = []
    for one in candidates:
        batch.append(one)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def add_candidates(desk: Desk, event_id: str, batch: list[Memory], tables: Tables) -> Tally:
    """Keep those of *batch* that are not there yet, to be consolidated."""
    known = {memory.id for memory in tables.memories.get_many([one.id for one in batch])}
    records = Records(tables, desk.clock, ENGINE)
    for memory in batch:
        if memory.id in known:
            continue
        records.born(memory, f"extracted: {memory.metadata['rule']}")
        tables.jobs.add_unsettled(event_id, memory.id)
    return {"extracted": len(batch) - len(known)}


def _memory(
    found: Found, memory_id: str, event: Event, source: Source, held: Held, clock: Clock
) -> Memory:
    now = clock.now()
    told = held.payload
    scope = _scope(found, event, explicit=bool(told.get("scope")))
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
        metadata["dates"] = dates_in(found.content, said_at=found.observed_at)
    return Memory(
        id=memory_id,
        type=found.type,
        scope=scope,
        status=Status.INBOX,
        content=found.content,
        title=found.title,
        project_id=told.get("project_id") if scope is not Scope.GLOBAL else None,
        repo_id=told.get("repo_id") if scope is not Scope.GLOBAL else None,
        agent_id=told.get("agent_id"),
        session_id=told.get("session_id"),
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


def _scope(found: Found, event: Event, *, explicit: bool) -> Scope:
    """A fact about the user holds everywhere, unless the caller drew the line closer."""
    if found.type is MemoryType.PROFILE and not explicit:
        return Scope.GLOBAL
    return event.owner.scope


def _evidence(found: Found, memory_id: str, source: Source, clock: Clock) -> Iterator[Evidence]:
    for number, span in enumerate(found.spans):
        end = min(span.end, span.start + MOST_QUOTE)
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
