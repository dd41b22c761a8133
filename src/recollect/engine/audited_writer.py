"""
Write memories, status changes and links, each with an entry in the audit log.

The writer runs inside the caller's transaction and makes no decisions; `domain.lifecycle` defines
the allowed changes of status.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from recollect.clock import Clock, derived_id
from recollect.domain.change import (
    NO_EFFECTS,
    Change,
    ChangeEffects,
    ChangeKind,
    ConfirmationChange,
)
from recollect.domain.lifecycle import advance
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import Memory, Status
from recollect.errors import IllegalTransition
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Tables

ENGINE = "engine"  # the author of changes that no person requested


@dataclass(frozen=True)
class AuditedWriter:
    """Writes within one transaction; *by* is the author in the audit log."""

    tables: Tables
    clock: Clock
    by: str
    changed_ids: set[str] = field(default_factory=set)  # of the memories whose row has changed
    deleted_ids: set[str] = field(default_factory=set)

    def create(self, memory: Memory, reason: str) -> None:
        """Add a new memory."""
        self.create_many([memory], [reason])

    def create_copy(
        self, memory: Memory, reason: str, *, copy_id: str | None = None, **changes: Any
    ) -> Memory:
        """
        Add a copy of *memory* with evidence of its own and *changes*, and return it.

        Work that may be repeated after a kill gives the *copy_id*; otherwise it is a new one.
        """
        now, copy_id = self.clock.now(), copy_id or self.clock.new_id()
        evidence = tuple(
            replace(evidence, id=derived_id(copy_id, "evidence", number), memory_id=copy_id)
            for number, evidence in enumerate(memory.evidence)
        )
        copy = replace(
            memory, id=copy_id, created_at=now, updated_at=now, evidence=evidence, **changes
        )
        self.create_many([copy], [reason], ChangeEffects(caused_by=memory.id))
        return copy

    def create_many(
        self,
        memories: Sequence[Memory],
        reasons: Sequence[str],
        effects: ChangeEffects = NO_EFFECTS,
    ) -> None:
        """Add new memories, each for its reason."""
        if not memories:
            return
        self.tables.memories.add_many(memories)
        self.tables.memories.add_change(
            *(
                self._change(memory, ChangeKind.CREATED, None, reason, effects)
                for memory, reason in zip(memories, reasons, strict=True)
            )
        )

    def change_status(
        self,
        memory: Memory,
        to: Status,
        kind: ChangeKind,
        reason: str = "",
        *,
        effects: ChangeEffects = NO_EFFECTS,
    ) -> Memory:
        """Change the status of a memory, record it with its effects, and return the memory."""
        updated = advance(memory, to, kind, at=self.clock.now())
        if to is Status.ACTIVE and memory.key:
            holder = self.tables.memories.with_key(memory.key, memory.owner)
            if holder is not None:
                raise IllegalTransition(
                    f"the fact {memory.key!r} is held by memory {holder.id}; archive that one "
                    "first, or set the value anew"
                )
        self.update(updated)
        confirmation = confirmation_change(memory, updated)
        effects = replace(effects, confirmations=(*effects.confirmations, *confirmation))
        change = self._change(updated, kind, memory.status, reason, effects)
        self.tables.memories.add_change(change)
        return updated

    def update(self, memory: Memory) -> None:
        """Store the status, confidence and times of a memory."""
        self.tables.memories.update_mutable_fields(memory)
        self.changed_ids.add(memory.id)

    def delete(self, memory: Memory) -> None:
        """Delete a memory with its audit log: another one has all its evidence."""
        self.tables.memories.delete(memory.id)
        self.deleted_ids.add(memory.id)

    def supersede(self, memory: Memory, by: Memory, reason: str = "") -> Memory:
        """Supersede *memory*: *by* says it now, or says otherwise."""
        links = self.add_link(by.id, Relation.SUPERSEDES, memory.id)
        effects = ChangeEffects(caused_by=by.id, links=links)
        kind = ChangeKind.SUPERSEDED
        return self.change_status(memory, Status.SUPERSEDED, kind, reason, effects=effects)

    def hold(
        self,
        memory: Memory,
        policy_rule: str,
        reason: str,
        *,
        caused_by: str = "",
        is_first: bool = False,
    ) -> None:
        """
        Record why a candidate stays in the inbox, unless the last entry is the same.

        If *is_first*, it was never held before, and the earlier entries need not be read.
        """
        changes = [] if is_first else self.tables.memories.changes(memory.id)
        last = changes[-1] if changes else None
        effects = ChangeEffects(caused_by=caused_by, policy_rule=policy_rule)
        if last is None or (last.kind, last.effects) != (ChangeKind.HELD, effects):
            change = self._change(memory, ChangeKind.HELD, memory.status, reason, effects)
            self.tables.memories.add_change(change)

    def link(
        self,
        from_id: str,
        relation: Relation,
        to_id: str,
        *,
        to_kind: LinkEnd = LinkEnd.MEMORY,
        note: str = "",
    ) -> Link:
        """Add a link, or return the existing one."""
        return self._add_link(from_id, relation, to_id, to_kind, note)[0]

    def add_link(self, from_id: str, relation: Relation, to_id: str) -> tuple[str, ...]:
        """Add a link between memories; return its id as an effect, () if it existed."""
        link, is_new = self._add_link(from_id, relation, to_id, LinkEnd.MEMORY, "")
        return (link.id,) if is_new else ()

    def _add_link(
        self, from_id: str, relation: Relation, to_id: str, to_kind: LinkEnd, note: str
    ) -> tuple[Link, bool]:
        new_link = Link(
            id=self.clock.new_id(),
            from_id=from_id,
            relation=relation,
            to_kind=to_kind,
            to_id=to_id,
            note=note,
            created_at=self.clock.now(),
        )
        stored = self.tables.links.add(new_link)
        return stored, stored.id == new_link.id

    def _change(
        self,
        memory: Memory,
        kind: ChangeKind,
        before: Status | None,
        reason: str,
        effects: ChangeEffects,
    ) -> Change:
        return Change(
            id=self.clock.new_id(),
            memory_id=memory.id,
            kind=kind,
            before=before,
            after=memory.status,
            by=self.by,
            reason=reason,
            at=self.clock.now(),
            effects=effects,
        )


def confirmation_change(before: Memory, after: Memory) -> tuple[ConfirmationChange, ...]:
    """Return the change of a memory's confidence and freshness, () if both are as before."""
    if (before.confidence, before.confirmed_at) == (after.confidence, after.confirmed_at):
        return ()
    change = ConfirmationChange(
        memory_id=before.id,
        confidence_before=before.confidence,
        confidence_after=after.confidence,
        confirmed_before=before.confirmed_at,
        confirmed_after=after.confirmed_at,
    )
    return (change,)
