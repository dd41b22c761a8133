"""
The small writes that every change of memory is made of: a birth, a move, a link.

Each leaves its line in the audit log. They run inside somebody else's transaction and decide
nothing; `domain.lifecycle` says which moves there are.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.lifecycle import advance
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import Change, Memory, Status
from recollect.errors import IllegalTransition
from recollect.store.protocol import Tables

ENGINE = "engine"  # who writes what no person asked for
_SURE = re.compile(r"; it was ([0-9.e-]+) sure before$")


def in_place_of(memory_id: str) -> str:
    """Return how a reason says that a memory took another one's place; `undo` looks for it."""
    return f"in place of {memory_id}"


def says_the_same_as(memory_id: str) -> str:
    """Return how the reason begins of what was filed away along with its lead; `undo` looks too."""
    return f"says the same as {memory_id}, which was"


def was_sure(confidence: float) -> str:
    """Return how such a reason ends where the lead became surer by it; `sure_before` reads it."""
    return f"; it was {confidence!r} sure before"


def sure_before(reason: str) -> float | None:
    """Return how sure the lead was before, where a reason says that it became surer."""
    found = _SURE.search(reason)
    return float(found[1]) if found else None


@dataclass(frozen=True)
class Records:
    """The records of one transaction, kept in the name of *by*."""

    tables: Tables
    clock: Clock
    by: str

    def born(self, memory: Memory, reason: str) -> None:
        """Keep a new memory."""
        self.tables.memories.add(memory)
        self._note(memory, None, reason)

    def move(
        self, memory: Memory, to: Status, reason: str, *, confirmed_at: datetime | None = None
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
        self.tables.memories.set_standing(moved)
        self._note(moved, memory.status, reason)
        return moved

    def held(self, memory: Memory, reason: str) -> None:
        """Note why a candidate stays where it is, unless that was the last thing noted."""
        changes = self.tables.memories.changes(memory.id)
        if changes and changes[-1].reason == f"held: {reason}":
            return
        self._note(memory, memory.status, f"held: {reason}")

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

    def _note(self, memory: Memory, before: Status | None, reason: str) -> None:
        change = Change(
            id=self.clock.new_id(),
            memory_id=memory.id,
            before=before,
            after=memory.status,
            by=self.by,
            reason=reason,
            at=self.clock.now(),
        )
        self.tables.memories.add_change(change)
