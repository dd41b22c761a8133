"""Memories. Adding or deleting one updates the word index and the items."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from recollect.domain.change import Change
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import MentionedDate, Provenance, StatementFlag
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.source import Evidence
from recollect.domain.transcript import Voice
from recollect.store.database_connection import (
    RowList,
    field_shape,
    record_shape,
    value_shape,
)
from recollect.store.repositories.repository import (
    EARLIEST,
    LATEST,
    IndexedRepository,
    field_values,
)
from recollect.text.fingerprint import fingerprint

_MEMORY = """
id type scope status project_id repo_id agent_id session_id source_kind key title content summary
rationale alternatives confidence redactions metadata observed_at confirmed_at created_at updated_at
"""
_PROVENANCE: dict[str, Any] = {
    "voice": Voice | None,
    "flags": tuple[StatementFlag, ...],
    "rule": str,
    "event_id": str | None,
    "session": str,
    "author": str,
    "dates": tuple[MentionedDate, ...],
}
_memory = field_shape(Memory, f"{_MEMORY} {' '.join(_PROVENANCE)} tags evidence", **_PROVENANCE)
_change = record_shape(Change, "id memory_id kind before after by reason at effects")
_time_and_id = value_shape(datetime, str)


class MemoryRepository(IndexedRepository):
    """Memories. Adding or deleting one updates the word index."""

    _statements = "memories"

    def add(self, memory: Memory) -> None:
        """Store a new memory with its evidence and tags, and index its words."""
        self.add_many([memory])

    def add_many(self, memories: Sequence[Memory]) -> None:
        """Store new memories with their evidence and tags, and index their words."""
        self.add_evidence(*(piece for memory in memories for piece in memory.evidence))
        rows = RowList(
            _memory_values(memory)
            | field_values(memory.provenance)
            | {"fingerprint": fingerprint(memory.content)}
            for memory in memories
        )
        self._run("add_memories", rows=rows)
        if tags := [[memory.id, tag] for memory in memories for tag in memory.tags]:
            self._run("add_tags", rows=tags)
        items = [(memory.owner, memory.id, indexed_text(memory)) for memory in memories]
        self._index.add_many(ItemKind.MEMORY, items)

    def add_evidence(self, *evidence: Evidence) -> None:
        """Store more pieces of evidence of memories."""
        if evidence:
            self._run("add_evidence", rows=RowList(field_values(piece) for piece in evidence))

    def stored_ids(self, memory_ids: Sequence[str]) -> set[str]:
        """Return which of some ids are those of stored memories."""
        return set(self._column("stored_ids", ids=list(memory_ids)))

    def drop_evidence(self, evidence_ids: Sequence[str]) -> None:
        """Delete some pieces of evidence; unknown ids are ignored."""
        self._run("drop_evidence", ids=list(evidence_ids))

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory with that id, or None."""
        memories = self.get_many([memory_id])
        return memories[0] if memories else None

    def get_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories with those ids, in that order; unknown ids are left out."""
        if not memory_ids:
            return []
        memories = {
            fields["id"]: Memory(
                provenance=Provenance(**{name: fields.pop(name) for name in _PROVENANCE}), **fields
            )
            for fields in self._all(_memory, "memories", ids=list(dict.fromkeys(memory_ids)))
        }
        return [memories[memory_id] for memory_id in memory_ids if memory_id in memories]

    def contents(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the contents of some memories, by id."""
        return dict(self._rows("contents", ids=list(memory_ids)))

    def with_key(self, key: str, owner: Owner) -> Memory | None:
        """Return an owner's active profile fact of that key, or None."""
        ids = self._column("with_key", key=key, scope=owner.scope, owner_id=owner.id)
        return self.get(ids[0]) if ids else None

    def with_fingerprints(self, texts: Sequence[tuple[str, Owner]]) -> list[list[str]]:
        """Return, for each fingerprint and owner, the oldest memories with that text."""
        rows = [[text, owner.scope, owner.id] for text, owner in texts]
        ids: list[list[str]] = [[] for _ in texts]
        for position, memory_id in self._rows("with_fingerprints", rows=rows):
            ids[position].append(memory_id)
        return ids

    def update_mutable_fields(self, memory: Memory) -> None:
        """Store a memory's new status, confidence and times; its content never changes."""
        self._run("update_mutable_fields", **_memory_values(memory))

    def add_change(self, *changes: Change) -> None:
        """Store changes of memories."""
        self._run("add_changes", rows=RowList(field_values(change) for change in changes))

    def remove_id_from_history(self, memory_id: str, in_changes_of: Sequence[str]) -> None:
        """Remove the id of a forgotten memory from the history of other memories."""
        self._run("remove_id_from_history", id=memory_id, ids=list(in_changes_of))

    def changes(self, memory_id: str) -> list[Change]:
        """Return the changes of a memory, oldest first."""
        return self._all(_change, "changes", memory_id=memory_id)

    def delete(self, memory_id: str) -> Mapping[str, int]:
        """Delete a memory from every table and index; return how many rows each lost."""
        memory = self.get(memory_id)
        if memory is None:
            return {}
        removed = dict(self._rows("count_related_rows", id=memory_id))
        self._run("delete_memory", id=memory_id)
        removed["postings"] = self._index.remove(memory_id, indexed_text(memory))
        return {"memories": 1, **removed}

    def newest(self, owners: Sequence[Owner] | None, filters: Filters, limit: int) -> list[Memory]:
        """Return the newest memories of *owners* or, if None, of all that pass *filters*."""
        return self.get_many(self.newest_ids(owners, filters, limit))

    def newest_ids(self, owners: Sequence[Owner] | None, filters: Filters, limit: int) -> list[str]:
        """Return the ids of the newest memories of *owners*, or of all, the newest first."""
        values = _filter_values(filters) | {"limit": limit}
        if owners is None:
            rows: list[Any] = []
            for status in filters.statuses:
                rows += self._rows("newest_anywhere", **values, status=status)
        else:
            values["owners"] = [[owner.scope, owner.id] for owner in owners]
            rows = self._rows("newest", **values)
        return [memory_id for _, memory_id in sorted(rows, reverse=True)[:limit]]

    def ids_with_status(self, status: Status) -> list[str]:
        """Return the ids of all memories with that status."""
        return self._column("ids_with_status", status=status)

    def review_order(self) -> list[str]:
        """Return the ids of all candidates, group by group; records of sessions come last."""
        groups: dict[tuple[int, str], list[str]] = {}
        for memory_id, group, is_record in self._rows("candidates_by_certainty"):
            groups.setdefault((is_record, group), []).append(memory_id)
        ordered = sorted(groups, key=lambda key: key[0])  # stable: only records of sessions move
        return [memory_id for key in ordered for memory_id in groups[key]]

    def candidate_texts(self, owner: Owner, kind: MemoryType) -> list[tuple[str, str, str, str]]:
        """Return id, title, summary and content of an owner's candidates of one type."""
        values = {"scope": owner.scope, "owner_id": owner.id, "type": kind}
        return [tuple(row) for row in self._rows("candidate_texts", **values)]

    def unconfirmed(self, since: Mapping[MemoryType, datetime], limit: int) -> list[Memory]:
        """Return active memories not confirmed since the moment of their type, oldest first."""
        rows: list[Any] = []
        for kind, moment in since.items():
            rows += self._all(_time_and_id, "unconfirmed", type=kind, since=moment, limit=limit)
        return self.get_many([memory_id for _, memory_id in sorted(rows)[:limit]])

    def count_extracted(self) -> tuple[int, int]:
        """Return how many memories the engine extracted, and how many of these were rejected."""
        extracted, rejected = self._rows("count_extracted")[0]
        return extracted, rejected

    def count_with_status(self, status: Status) -> int:
        """Return how many memories have that status; reads only these."""
        return int(self._value("count_with_status", status=status))

    def count_by_day(self, days: Sequence[datetime]) -> Mapping[datetime, int]:
        """Return how many memories were observed within 24 hours of each of some times."""
        rows = RowList({"start": day, "end": day + timedelta(days=1)} for day in days)
        counts = self._column("count_by_day", rows=rows, statuses=list(Status))
        return dict(zip(days, counts, strict=True))

    def count_by_status(self) -> Mapping[str, int]:
        """Return how many memories have each status."""
        return dict(self._rows("count_by_status"))


def _memory_values(memory: Memory) -> dict[str, Any]:
    return field_values(memory, without=("tags", "evidence", "provenance"))


def indexed_text(memory: Memory) -> str:
    """Return the text of a memory that is indexed."""
    fields = (
        memory.title,
        memory.key.replace("_", " "),
        memory.content,
        memory.summary,
        memory.rationale,
        *memory.alternatives,
        *memory.tags,
    )
    return "\n".join(field for field in fields if field)


def _filter_values(filters: Filters) -> dict[str, Any]:
    values = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in vars(filters).items()
    }
    return values | {"since": filters.since or EARLIEST, "until": filters.until or LATEST}
