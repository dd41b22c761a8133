"""
Review candidates: decide, promote, reject, undo, one or many at once, and consolidate on request.

`decide` applies to an inbox item: the candidate and its duplicates are decided together, and
undoing the decision restores all of them. The other functions change the named memories only.

A bulk change is one transaction, all or none, and a snapshot of the store is taken before it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from recollect.clock import derived_id
from recollect.domain.block import BlockAuthor
from recollect.domain.link import Relation
from recollect.domain.maintenance import ReviewVerdict
from recollect.domain.memory import Change, ChangeEffects, Memory, Status
from recollect.domain.scope import Scope
from recollect.domain.source import SourceKind
from recollect.engine.audited_writer import ENGINE, AuditedWriter, describe_replaced
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service.inbox import duplicate_ids
from recollect.service.services import Services
from recollect.service.write import require_memory
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.wire.requests import inbox
from recollect.wire.requests import recollect as requests

SNAPSHOT_THRESHOLD = 20  # a change of this many memories takes a snapshot first

MemoryReview = Callable[[AuditedWriter, Memory], Memory]


def decide(services: Services, request: inbox.DecideRequest) -> list[Memory]:
    """Keep, replace with, or reject candidates and their duplicates; all or none."""
    verdict, why = request.verdict, redact(request.reason).text
    with services.store.read() as tables:
        candidates = [require_memory(tables, memory_id) for memory_id in request.memory_ids]
    # Read before the write lock is taken. A duplicate that is decided meanwhile is not changed.
    duplicates = duplicate_ids(services, candidates)
    if sum(1 + len(duplicates[candidate.id]) for candidate in candidates) >= SNAPSHOT_THRESHOLD:
        _take_snapshot(services)

    def write(tables: Tables) -> list[Memory]:
        writer = AuditedWriter(tables, services.clock, request.by)
        changed: dict[str, None] = {}
        for memory in (require_memory(tables, candidate.id) for candidate in candidates):
            if memory.id in changed:
                continue  # it is a duplicate of another named candidate
            _require_inbox(memory)
            decided = _apply_verdict(writer, memory, verdict, why)
            for duplicate in tables.memories.get_many(duplicates[memory.id]):
                if duplicate.status is Status.INBOX:
                    decided += _archive_duplicate(writer, decided[0], duplicate, verdict, why)
            changed |= dict.fromkeys(changed_memory.id for changed_memory in decided)
        return tables.memories.get_many(list(changed))

    return services.store.write(write)


def list_duplicates(services: Services, memory_id: str) -> list[Memory]:
    """Return the duplicates that `decide` would change together with a candidate."""
    with services.store.read() as tables:
        memory = require_memory(tables, memory_id)
    ids = duplicate_ids(services, [memory])[memory.id]
    with services.store.read() as tables:
        return tables.memories.get_many(ids)


def _apply_verdict(
    writer: AuditedWriter, memory: Memory, verdict: ReviewVerdict, why: str
) -> list[Memory]:
    """Apply the verdict to one candidate; return it and the memories it superseded."""
    if verdict is ReviewVerdict.REJECT:
        return [writer.change_status(memory, Status.ARCHIVED, why or "rejected")]
    return _promote(writer, memory, why, replaces=verdict is ReviewVerdict.REPLACE)


def _archive_duplicate(
    writer: AuditedWriter,
    representative: Memory,
    duplicate: Memory,
    verdict: ReviewVerdict,
    why: str,
) -> list[Memory]:
    """Archive a duplicate of a decided candidate; a kept one gets its evidence."""
    writer.link(duplicate.id, Relation.SUPPORTS, representative.id)
    effects = ChangeEffects(duplicate_of=representative.id)
    reason = f"says the same as {representative.id}, which was"
    if verdict is ReviewVerdict.REJECT:
        reason += " rejected" + (f": {why}" if why else "")
        return [writer.change_status(duplicate, Status.ARCHIVED, reason, effects=effects)]
    # Imported here for the same reason as in `consolidate`.
    from recollect.engine.consolidate_stage import copy_evidence

    before = require_memory(writer.tables, representative.id)
    updated = copy_evidence(writer, before, duplicate)
    if updated.confidence > before.confidence:
        effects = replace(effects, confidence_before=before.confidence)
    # By the engine, because a person's archiving would count as a rejection.
    engine = AuditedWriter(writer.tables, writer.clock, ENGINE)
    return [engine.change_status(duplicate, Status.ARCHIVED, f"{reason} kept", effects=effects)]


def promote(services: Services, request: requests.PromoteRequest) -> Memory:
    """Make a candidate active."""
    return _promote_all(services, request, (request.memory_id,))[0]


def promote_many(services: Services, request: inbox.PromoteManyRequest) -> list[Memory]:
    """Make candidates active, all or none."""
    return _promote_all(services, request, request.memory_ids)


def reject(services: Services, request: requests.RejectRequest) -> Memory:
    """Reject a candidate: it is archived with the reason, not deleted."""
    return _reject_all(services, (request.memory_id,), request.reason)[0]


def reject_many(services: Services, request: inbox.RejectManyRequest) -> list[Memory]:
    """Reject candidates, all or none."""
    return _reject_all(services, request.memory_ids, request.reason)


def undo(services: Services, request: requests.UndoRequest) -> Memory:
    """Undo the last change of a memory's status, and the effects recorded with it."""
    return _undo_all(services, (request.memory_id,))[0]


def undo_many(services: Services, request: inbox.UndoManyRequest) -> list[Memory]:
    """Undo the last change of each memory, all or none."""
    return _undo_all(services, request.memory_ids)


def _promote_all(
    services: Services,
    request: requests.PromoteRequest | inbox.PromoteManyRequest,
    memory_ids: Sequence[str],
) -> list[Memory]:
    """
    Make candidates active; `replaces` supersedes the memories they contradict.

    A memory stays in its scope. Scope "global" makes an active global copy that replaces it.
    """
    if request.scope not in (None, Scope.GLOBAL):
        raise InvalidInput("a memory can be promoted to scope global only; leave scope out")
    why, globally = redact(request.reason).text, request.scope is Scope.GLOBAL

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        return _promote(writer, memory, why, replaces=request.replaces, globally=globally)[0]

    return _review_each(services, memory_ids, review)


def _reject_all(services: Services, memory_ids: Sequence[str], reason: str) -> list[Memory]:
    why = redact(reason).text or "rejected"

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        _require_inbox(memory)
        return writer.change_status(memory, Status.ARCHIVED, why)

    return _review_each(services, memory_ids, review)


def _undo_all(services: Services, memory_ids: Sequence[str]) -> list[Memory]:
    restored_ids: set[str] = set()  # duplicates restored with another named memory

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        if memory.id in restored_ids:
            return memory  # undoing that too would archive it again
        changes = _status_changes(writer.tables, memory)
        last = changes[-1] if changes else None
        if last is None or last.before is None:
            raise IllegalTransition(f"memory {memory.id} has not changed since it was written")
        duplicates: list[Memory] = []
        for replaced_id in last.effects.superseded:
            _restore_superseded(writer, replaced_id, memory.id)
        for link in writer.tables.links.of_memory(memory.id):
            if link.relation is Relation.SUPPORTS and last.before is Status.INBOX:
                duplicates += _restore_duplicate(writer, link.from_id, memory)
        restored_ids.update(duplicate.id for duplicate in duplicates)
        was = f"{last.after}: {last.reason}" if last.reason else f"{last.after}"
        # Read again: the evidence of its duplicates has been removed from it.
        memory = require_memory(writer.tables, memory.id)
        memory = _with_earlier_confidence(writer.tables, memory, duplicates)
        confirmed_at = _earlier_confirmed_at(writer.tables, memory, changes)
        reason = f"undone: was {was}"
        return writer.change_status(memory, last.before, reason, confirmed_at=confirmed_at)

    return _review_each(services, memory_ids, review)


def consolidate(services: Services, request: requests.ConsolidateRequest) -> Mapping[str, int]:
    """Compare candidates with existing memories and apply the policy; no ids: the whole inbox."""
    # Imported here, as in jobs.py, so that other commands start faster.
    from recollect.engine.consolidate_stage import consolidate_memories, embed_memories

    with services.store.read() as tables:
        if request.ids is None:
            ids = tables.memories.ids_with_status(Status.INBOX)
        else:
            ids = [require_memory(tables, memory_id).id for memory_id in request.ids]
    counts: dict[str, int] = {}
    for start in range(0, len(ids), SNAPSHOT_THRESHOLD):
        batch = ids[start : start + SNAPSHOT_THRESHOLD]
        vectors = embed_memories(services.engine, batch)
        work = partial(consolidate_memories, services.clock, batch, vectors)
        for name, count in services.store.write(work).items():
            counts[name] = counts.get(name, 0) + count
    return counts


def _take_snapshot(services: Services) -> None:
    if services.store.file is not None:
        services.store.file.snapshot("bulk")


def _review_each(services: Services, ids: Sequence[str], review: MemoryReview) -> list[Memory]:
    if len(ids) >= SNAPSHOT_THRESHOLD:
        _take_snapshot(services)

    def write(tables: Tables) -> list[Memory]:
        writer = AuditedWriter(tables, services.clock, BlockAuthor.USER)
        return [review(writer, require_memory(tables, memory_id)) for memory_id in ids]

    return services.store.write(write)


def _require_inbox(memory: Memory) -> None:
    if memory.status is not Status.INBOX:
        raise IllegalTransition(
            f"memory {memory.id} is {memory.status}; only a candidate in the inbox can be "
            "decided. `undo` takes its last change back; `forget` removes it"
        )


def _promote(
    writer: AuditedWriter, memory: Memory, why: str, *, replaces: bool, globally: bool = False
) -> list[Memory]:
    """Make a candidate, or a global copy of it, active; return it and what it superseded."""
    conflicts = writer.tables.links.conflicts([memory.id]) if replaces else {}
    superseded = writer.tables.memories.get_many(conflicts.get(memory.id, ()))
    if globally and memory.scope is not Scope.GLOBAL:
        superseded.insert(0, memory)
        memory = _add_global_copy(writer, memory)
    replaced = tuple(other.id for other in superseded)
    reason = "; ".join(text for text in (why, describe_replaced(replaced)) if text)
    effects = ChangeEffects(superseded=replaced)
    changed = [writer.change_status(memory, Status.ACTIVE, reason, effects=effects)]
    for other in superseded:
        writer.link(memory.id, Relation.SUPERSEDES, other.id)
        changed.append(writer.change_status(other, Status.SUPERSEDED, f"replaced by {memory.id}"))
    return changed


def _add_global_copy(writer: AuditedWriter, memory: Memory) -> Memory:
    """Add a candidate of scope global with the content and the evidence of *memory*."""
    now, copy_id = writer.clock.now(), writer.clock.new_id()
    evidence = tuple(
        replace(evidence, id=derived_id(copy_id, "evidence", number), memory_id=copy_id)
        for number, evidence in enumerate(memory.evidence)
    )
    copy = replace(
        memory,
        id=copy_id,
        scope=Scope.GLOBAL,
        project_id=None,
        repo_id=None,
        agent_id=None,
        session_id=None,
        status=Status.INBOX,
        created_at=now,
        updated_at=now,
        evidence=evidence,
    )
    writer.create(copy, f"copied from {memory.id}")
    return copy


def _restore_superseded(writer: AuditedWriter, memory_id: str, replaced_by: str) -> None:
    """Restore a memory that was superseded by one whose promotion is undone."""
    other = writer.tables.memories.get(memory_id)
    if other is None or other.status is not Status.SUPERSEDED:
        return
    changes = _status_changes(writer.tables, other)
    if changes and changes[-1].before is not None:
        why = f"{replaced_by} was undone"
        writer.change_status(other, changes[-1].before, why, confirmed_at=other.confirmed_at)


def _restore_duplicate(writer: AuditedWriter, memory_id: str, survivor: Memory) -> list[Memory]:
    """Put a duplicate of a memory whose decision is undone back into the inbox."""
    duplicate = writer.tables.memories.get(memory_id)
    if duplicate is None or duplicate.status is not Status.ARCHIVED or memory_id == survivor.id:
        return []
    changes = _status_changes(writer.tables, duplicate)
    if not changes or changes[-1].effects.duplicate_of != survivor.id:
        return []
    # Imported here for the same reason as in `consolidate`.
    from recollect.engine.consolidate_stage import remove_copied_evidence

    remove_copied_evidence(writer, survivor, duplicate)
    return [writer.change_status(duplicate, Status.INBOX, f"{survivor.id} was undone")]


def _with_earlier_confidence(
    tables: Tables, representative: Memory, duplicates: Sequence[Memory]
) -> Memory:
    raised_by = {
        duplicate.confidence: before
        for duplicate in duplicates
        if (before := _status_changes(tables, duplicate)[-2].effects.confidence_before) is not None
    }
    # If its confidence has risen again since then, it stays.
    if representative.confidence != max(raised_by, default=None):
        return representative
    return replace(representative, confidence=min(raised_by.values()))


def _earlier_confirmed_at(tables: Tables, memory: Memory, changes: Sequence[Change]) -> datetime:
    """
    Return when a memory was confirmed before the last of its *changes*.

    A memory is confirmed when it becomes active, and the log has that time. A candidate that was
    never active was last confirmed when it was last said.
    """
    *earlier, last = changes
    confirmed_at = memory.confirmed_at
    if last.after is Status.ACTIVE and confirmed_at >= last.at:
        confirmed_at = _last_said_at(tables, memory)
        if last.before is Status.INBOX:
            return confirmed_at
    elif (last.before, last.after) != (Status.ACTIVE, Status.INBOX):
        return confirmed_at
    activations = [change.at for change in earlier if change.after is Status.ACTIVE]
    return max([confirmed_at, *activations])


def _last_said_at(tables: Tables, memory: Memory) -> datetime:
    by_hand = memory.source_kind is SourceKind.MANUAL
    first = memory.created_at if by_hand else memory.observed_at
    later_ids = list(dict.fromkeys(evidence.source_id for evidence in memory.evidence))[1:]
    sources = [source for id in later_ids if (source := tables.sources.get(id)) is not None]
    return max([first, *(source.observed_at for source in sources)])


def _status_changes(tables: Tables, memory: Memory) -> list[Change]:
    """Return the changes of a memory's status, oldest first."""
    changes = tables.memories.changes(memory.id)
    return [change for change in changes if change.before != change.after]
