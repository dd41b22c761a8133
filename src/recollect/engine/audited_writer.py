"""
The small writes that every change of memory is made of: a birth, a move, a link.

Each leaves its line in the audit log. They run inside somebody else's transaction and decide
nothing; `domain.lifecycle` says which moves there are.
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

ENGINE = "engine"  # who writes what no person asked for


def describe_replaced(memory_ids: Iterable[str]) -> str:
    """Return how a reason says which memories another one replaced."""
    return "; ".join(f"in place of {memory_id}" for memory_id in memory_ids)


@dataclass(frozen=True)
class AuditedWriter:
    """The records of one transaction, kept in the name of *by*."""

    tables: Tables
    clock: Clock
    by: str

    def create(self, memory: Memory, reason: str) -> None:
        """Keep a new memory."""
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
        """Change a memory's status along the lifecycle; *confirmed_at* where a move is undone."""
        moved = advance(memory, to, at=self.clock.now())
        if confirmed_at is not None:
            moved = replace(moved, confirmed_at=confirmed_at)
        if to is Status.ACTIVE and memory.key:
            holder = self.tables.memories.with_key(memory.key, memory.owner)
            if holder is not None:
                raise IllegalTransition(
                    f"the fact {memory.key!r} is held by memory {holder.id}; archive that one "
                    "first, or set the value anew"
                )
        self.tables.memories.update_status(moved)
        self._add_change(moved, memory.status, reason, effects)
        return moved

    def note_hold(self, memory: Memory, reason: str) -> None:
        """Note why a candidate stays where it is, unless that was the last thing noted."""
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
        """Keep a link; saying the same twice is saying it once."""
        made = Link(
            id=self.clock.new_id(),
            from_id=from_id,
            relation=relation,
            to_kind=to_kind,
            to_id=to_id,
            note=note,
            created_at=self.clock.now(),
        )
        self.tables.links.add(made)
        kept = (made.relation, made.to_id, made.from_id)
        return next(
            one
            for one in self.tables.links.of_memory(from_id)
            if (one.relation, one.to_id, one.from_id) == kept
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
