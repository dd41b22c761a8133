"""
Write memories, status changes and links, each with an entry in the audit log.

The writer runs inside the caller's transaction and makes no decisions; `domain.lifecycle` defines
the allowed changes of status.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.lifecycle import advance
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import NO_EFFECTS, Change, ChangeEffects, Memory, Status
from recollect.errors import IllegalTransition
from recollect.store.protocol import Tables

ENGINE = "engine"  # the author of changes that no person requested


def describe_replaced(memory_ids: Iterable[str]) -> str:
    """Return the part of a reason that names the replaced memories, for people to read."""
    return "; ".join(f"in place of {memory_id}" for memory_id in memory_ids)


@dataclass(frozen=True)
class AuditedWriter:
    """Writes within one transaction; *by* is the author in the audit log."""

    tables: Tables
    clock: Clock
    by: str

    def create(self, memory: Memory, reason: str) -> None:
        """Add a new memory."""
        self.tables.memories.add(memory)
        self._add_change(memory, None, reason)

    def change_status(
        self,
        memory: Memory,
        to: Status,
        reason: str,
        *,
        effects: ChangeEffects = NO_EFFECTS,
        confirmed_at: datetime | None = None,
    ) -> Memory:
        """Change the status of a memory and return it; *confirmed_at* is set when undoing."""
        updated = advance(memory, to, at=self.clock.now())
        if confirmed_at is not None:
            updated = replace(updated, confirmed_at=confirmed_at)
        if to is Status.ACTIVE and memory.key:
            holder = self.tables.memories.with_key(memory.key, memory.owner)
            if holder is not None:
                raise IllegalTransition(
                    f"the fact {memory.key!r} is held by memory {holder.id}; archive that one "
                    "first, or set the value anew"
                )
        self.tables.memories.update_status(updated)
        self._add_change(updated, memory.status, reason, effects)
        return updated

    def note_hold(self, memory: Memory, reason: str) -> None:
        """Record why a candidate stays in the inbox, unless the last entry says so already."""
        changes = self.tables.memories.changes(memory.id)
        last = changes[-1] if changes else None
        if last and last.before == last.after and last.reason == f"held: {reason}":
            return
        self._add_change(memory, memory.status, f"held: {reason}")

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
        new_link = Link(
            id=self.clock.new_id(),
            from_id=from_id,
            relation=relation,
            to_kind=to_kind,
            to_id=to_id,
            note=note,
            created_at=self.clock.now(),
        )
        self.tables.links.add(new_link)
        return next(
            link
            for link in self.tables.links.of_memory(from_id)
            if (link.relation, link.to_id, link.from_id) == (relation, to_id, from_id)
        )

    def _add_change(
        self,
        memory: Memory,
        before: Status | None,
        reason: str,
        effects: ChangeEffects = NO_EFFECTS,
    ) -> None:
        change = Change(
            id=self.clock.new_id(),
            memory_id=memory.id,
            before=before,
            after=memory.status,
            by=self.by,
            reason=reason,
            at=self.clock.now(),
            effects=effects,
        )
        self.tables.memories.add_change(change)
