"""
Undo the last change of a memory: replay its recorded effects backwards.

The change itself says which links and evidence it added, whose confidence and freshness it changed,
and which other memories changed with it. Those are undone too, if that was their last change.
"""

from collections.abc import Iterator
from dataclasses import replace

from recollect.domain.change import Change, ChangeEffects, ChangeKind, ConfirmationChange
from recollect.domain.memory import Memory
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables


def undo_last_change(writer: AuditedWriter, memory: Memory) -> set[str]:
    """Undo the last change of a memory's status; return the ids of all memories restored."""
    last = _last_status_change(writer.tables, memory.id)
    if last is None or last.before is None:
        raise IllegalTransition(f"memory {memory.id} has not changed since it was written")
    if copy := _copy_that_replaced(writer.tables, memory, last):
        return undo_last_change(writer, copy)
    return set(_undo(writer, memory, last, caused_by=""))


def _undo(writer: AuditedWriter, memory: Memory, last: Change, *, caused_by: str) -> Iterator[str]:
    """Undo the *last* change of a memory and of those that changed with it; yield their ids."""
    assert last.before is not None
    tables, effects = writer.tables, last.effects
    tables.memories.drop_evidence(effects.evidence)
    tables.links.remove(effects.links)
    own = _restore_confirmations(writer, memory, reversed(effects.confirmations))
    undone = ChangeEffects(caused_by=caused_by, confirmations=own)
    memory = require_memory(tables, memory.id)
    writer.change_status(memory, last.before, ChangeKind.UNDONE, last.description, effects=undone)
    yield memory.id
    # In reverse order: the values that each of them restores are those before it.
    for other_id in reversed((*effects.merged, *effects.superseded)):
        other = tables.memories.get(other_id)
        change = _last_status_change(tables, other_id) if other else None
        if other and change and change.before and change.effects.caused_by == memory.id:
            yield from _undo(writer, other, change, caused_by=memory.id)


def _copy_that_replaced(tables: Tables, memory: Memory, last: Change) -> Memory | None:
    """Return the copy in another scope that replaced *memory* when it was kept, if one did."""
    if last.kind is not ChangeKind.MERGED:
        return None
    changes = tables.memories.changes(last.effects.caused_by)
    if not changes or (changes[0].kind, changes[0].effects.caused_by) != (
        ChangeKind.CREATED,
        memory.id,
    ):
        return None
    decision = next(change for change in reversed(changes) if change.before != change.after)
    is_decided_together = memory.id in decision.effects.merged
    return tables.memories.get(last.effects.caused_by) if is_decided_together else None


def _restore_confirmations(
    writer: AuditedWriter, memory: Memory, changes: Iterator[ConfirmationChange]
) -> tuple[ConfirmationChange, ...]:
    """Restore confidence and freshness; return how those of *memory* itself changed."""
    own: tuple[ConfirmationChange, ...] = ()
    for change in changes:
        target = writer.tables.memories.get(change.memory_id)
        if target is None:
            continue
        # A value that has changed again since then stays.
        if target.confidence == change.confidence_after:
            target = replace(target, confidence=change.confidence_before)
        if target.confirmed_at == change.confirmed_after:
            target = replace(target, confirmed_at=change.confirmed_before)
        writer.tables.memories.update_mutable_fields(replace(target, updated_at=writer.clock.now()))
        if change.memory_id == memory.id:
            own = (*own, _reverse(change))
    return own


def _reverse(change: ConfirmationChange) -> ConfirmationChange:
    return replace(
        change,
        confidence_before=change.confidence_after,
        confidence_after=change.confidence_before,
        confirmed_before=change.confirmed_after,
        confirmed_after=change.confirmed_before,
    )


def _last_status_change(tables: Tables, memory_id: str) -> Change | None:
    changes = tables.memories.changes(memory_id)
    return next((change for change in reversed(changes) if change.before != change.after), None)
