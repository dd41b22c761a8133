"""
Review candidates: decide, promote, reject, undo, one or many at once, and consolidate on request.

`decide` applies to an inbox item: the candidate and its duplicates are decided together, and
undoing the decision restores all of them. The other functions change the named memories only.

A bulk change is one transaction, all or none, and a snapshot of the store is taken before it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from recollect.domain.block import BlockAuthor
from recollect.domain.change import NO_EFFECTS, ChangeEffects, ChangeKind
from recollect.domain.link import Relation
from recollect.domain.maintenance import ReviewVerdict
from recollect.domain.memory import Memory, Status
from recollect.domain.scope import Scope
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service.duplicate_search import active_duplicate, duplicate_ids
from recollect.service.keep_candidate import activate
from recollect.service.services import Services
from recollect.service.undo import undo_last_change
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.wire.requests import inbox
from recollect.wire.requests import recollect as requests

SNAPSHOT_THRESHOLD = 20  # a change of this many memories takes a snapshot first

MemoryReview = Callable[[AuditedWriter, Memory], Memory]


def decide(services: Services, request: inbox.DecideRequest) -> list[Memory]:
    """Keep, replace with, reject or merge candidates and their duplicates; all or none."""
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
            _require_unreviewed(memory)
            others = [
                other
                for other in tables.memories.get_many(duplicates[memory.id])
                if other.status is Status.INBOX
            ]
            decided = _decide(services, writer, memory, others, verdict, why)
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


def _decide(
    services: Services,
    writer: AuditedWriter,
    memory: Memory,
    duplicates: Sequence[Memory],
    verdict: ReviewVerdict,
    why: str,
) -> list[Memory]:
    """Decide a candidate with its *duplicates*; return all memories that were changed."""
    # Imported here for the same reason as in `consolidate`.
    from recollect.engine.consolidate_stage import merge_duplicate

    merged = tuple(duplicate.id for duplicate in duplicates)
    if verdict is ReviewVerdict.REJECT:
        rejected = _reject(writer, memory, why, ChangeEffects(merged=merged))
        for duplicate in duplicates:
            links = writer.add_link(duplicate.id, Relation.SUPPORTS, memory.id)
            _reject(writer, duplicate, why, ChangeEffects(caused_by=memory.id, links=links))
        return [rejected, *duplicates]
    if verdict is ReviewVerdict.MERGE:
        target = _merge_target(services, writer.tables, memory)
        for candidate in (memory, *duplicates):
            target = merge_duplicate(writer, candidate, target)
        return [memory, *duplicates]
    for duplicate in duplicates:
        memory = merge_duplicate(writer, duplicate, memory)
    is_replacing = verdict is ReviewVerdict.REPLACE
    changed = _promote(services, writer, memory, why, replaces=is_replacing, merged=merged)
    return [*changed, *duplicates]


def _merge_target(services: Services, tables: Tables, memory: Memory) -> Memory:
    """Return the active memory that a candidate is merged into."""
    target = active_duplicate(tables, memory, single_user=services.settings.single_user)
    if target is None:
        raise InvalidInput(f"no active memory says the same as {memory.id}; keep it, or reject it")
    return target


def _reject(writer: AuditedWriter, memory: Memory, why: str, effects: ChangeEffects) -> Memory:
    return writer.change_status(memory, Status.ARCHIVED, ChangeKind.REJECTED, why, effects=effects)


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

    Scope "global" makes an active global copy that replaces a narrower candidate. Without a scope
    a candidate stays in its own, or gets that of its agent (`service/keep_candidate.py`).
    """
    if request.scope not in (None, Scope.GLOBAL):
        raise InvalidInput("a memory can be promoted to scope global only; leave scope out")
    why, globally = redact(request.reason).text, request.scope is Scope.GLOBAL

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        changed = _promote(
            services, writer, memory, why, replaces=request.replaces, globally=globally
        )
        return changed[0]

    return _review_each(services, memory_ids, review)


def _reject_all(services: Services, memory_ids: Sequence[str], reason: str) -> list[Memory]:
    why = redact(reason).text

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        _require_unreviewed(memory)
        return _reject(writer, memory, why, NO_EFFECTS)

    return _review_each(services, memory_ids, review)


def _undo_all(services: Services, memory_ids: Sequence[str]) -> list[Memory]:
    restored: set[str] = set()  # with another named memory; undoing that too would redo it

    def review(writer: AuditedWriter, memory: Memory) -> Memory:
        if memory.id not in restored:
            restored.update(undo_last_change(writer, memory))
        return require_memory(writer.tables, memory.id)

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
        work = partial(consolidate_memories, services.engine, batch, vectors)
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


def _require_unreviewed(memory: Memory) -> None:
    if memory.is_reviewed:
        raise IllegalTransition(
            f"memory {memory.id} is {memory.status}; only a candidate or a statement can be "
            "decided. `undo` takes its last change back; `forget` removes it"
        )


def _promote(
    services: Services,
    writer: AuditedWriter,
    memory: Memory,
    why: str,
    *,
    replaces: bool,
    globally: bool = False,
    merged: tuple[str, ...] = (),
) -> list[Memory]:
    """
    Make a candidate active, or a copy of it in another scope; return it and what it superseded.

    A global copy supersedes the candidate; into a copy for its agent it is merged.
    """
    conflicts = writer.tables.links.conflicts([memory.id]) if replaces else {}
    rivals = writer.tables.memories.get_many(conflicts.get(memory.id, ()))
    superseded = tuple(other.id for other in rivals)
    if globally:
        if memory.scope is not Scope.GLOBAL:
            rivals.insert(0, memory)
            memory = _add_global_copy(writer, memory)
        effects = ChangeEffects(superseded=tuple(other.id for other in rivals), merged=merged)
        active = [
            writer.change_status(memory, Status.ACTIVE, ChangeKind.PROMOTED, why, effects=effects)
        ]
    else:
        single_user = services.settings.single_user
        active = activate(
            writer, memory, why, single_user=single_user, superseded=superseded, merged=merged
        )
    return [*active, *(writer.supersede(other, active[0]) for other in rivals)]


def _add_global_copy(writer: AuditedWriter, memory: Memory) -> Memory:
    """
    Add a copy of *memory* with scope global, archived: `undo` must not leave a candidate that
    every project would find.
    """
    return writer.create_copy(
        memory,
        "promoted to all projects",
        scope=Scope.GLOBAL,
        project_id=None,
        repo_id=None,
        agent_id=None,
        session_id=None,
        status=Status.ARCHIVED,
    )
