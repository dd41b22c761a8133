"""Memories in SQLite. Adding or deleting one updates the word index and the items."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

from recollect.clock import from_micros
from recollect.domain.memory import Change, Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.source import Evidence
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, filter_values
from recollect.store.sqlite.sources import parse_evidence
from recollect.store.sqlite.table import SqliteIndexedTable, field_values, row_parser
from recollect.store.values import CandidateRow
from recollect.text.fingerprint import fingerprint

_MEMORY = """
id type scope status project_id repo_id agent_id session_id source_kind key title content summary
rationale alternatives confidence redactions metadata observed_at confirmed_at created_at updated_at
"""
_memory = row_parser(Memory, _MEMORY)
_change = row_parser(Change, "id memory_id before after by reason at effects")

# A query decodes hundreds of rows: looking a member up is cheaper than calling its enum.
_SCOPES = {scope.value: scope for scope in Scope}
_TYPES = {kind.value: kind for kind in MemoryType}
_STATUSES = {status.value: status for status in Status}


class SqliteMemoryTable(SqliteIndexedTable):
    """See `recollect.store.protocol.MemoryTable`."""

    _sql = query_loader.load("memories")

    def add(self, memory: Memory) -> None:
        for evidence in memory.evidence:
            self.add_evidence(evidence)
        values = field_values(memory, without=("tags", "evidence"))
        self._run("add_memory", **values, fingerprint=fingerprint(memory.content))
        for tag in memory.tags:
            self._run("add_tag", memory_id=memory.id, tag=tag)
        self._word_index.add(ItemKind.MEMORY, memory.owner, memory.id, indexed_text(memory))

    def add_evidence(self, evidence: Evidence) -> None:
        self._run("add_evidence", **field_values(evidence))

    def drop_evidence(self, evidence_ids: Sequence[str]) -> None:
        self._run("drop_evidence", ids=list(evidence_ids))

    def get(self, memory_id: str) -> Memory | None:
        memories = self.get_many([memory_id])
        return memories[0] if memories else None

    def get_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        ids = list(memory_ids)
        tags: dict[str, tuple[str, ...]] = {}
        for memory_id, tag in self._run("tags_of", ids=ids):
            tags[memory_id] = (*tags.get(memory_id, ()), tag)
        evidence: dict[str, tuple[Evidence, ...]] = {}
        for item in self._all(parse_evidence, "evidence_of", ids=ids):
            evidence[item.memory_id] = (*evidence.get(item.memory_id, ()), item)
        memories = {
            row[0]: _memory(row, tags=tags.get(row[0], ()), evidence=evidence.get(row[0], ()))
            for row in self._run("memories", ids=ids)
        }
        return [memories[memory_id] for memory_id in memory_ids if memory_id in memories]

    def contents(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        return dict(self._rows("contents", ids=list(memory_ids)))

    def item_id_of(self, memory_id: str) -> int | None:
        return self._first(lambda row: int(row[0]), "item_id_of", id=memory_id)

    def with_key(self, key: str, owner: Owner) -> Memory | None:
        ids = self._column("with_key", key=key, scope=owner.scope, owner_id=owner.id)
        return self.get(ids[0]) if ids else None

    def with_fingerprint(self, fingerprint: str, owner: Owner) -> list[int]:
        values = {"fingerprint": fingerprint, "scope": owner.scope, "owner_id": owner.id}
        return self._column("with_fingerprint", **values)

    def update_status(self, memory: Memory) -> None:
        self._run("update_status", **field_values(memory, without=("tags", "evidence")))

    def add_change(self, change: Change) -> None:
        self._run("add_change", **field_values(change))

    def remove_id_from_history(self, memory_id: str, in_changes_of: Sequence[str]) -> None:
        self._run("remove_id_from_history", id=memory_id, ids=list(in_changes_of))

    def changes(self, memory_id: str) -> list[Change]:
        return self._all(_change, "changes", memory_id=memory_id)

    def delete(self, memory_id: str) -> Mapping[str, int]:
        memory = self.get(memory_id)
        if memory is None:
            return {}
        removed = self._count_then_delete(("delete_memory",), memory_id)
        removed["postings"] = self._word_index.remove(memory_id, indexed_text(memory))
        return {"memories": 1, **removed}

    def newest(self, owners: Sequence[Owner] | None, filters: Filters, limit: int) -> list[Memory]:
        latest = sorted(self._read_filtered("newest", owners, filters, limit), reverse=True)[:limit]
        return self.get_many([memory_id for _, memory_id in latest])

    def timeline(
        self, owners: Sequence[Owner] | None, filters: Filters, *, limit: int
    ) -> list[tuple[datetime, int]] | None:
        rows = sorted(self._read_filtered("timeline", owners, filters, limit + 1))
        return None if len(rows) > limit else [(from_micros(at), item_id) for at, item_id in rows]

    def _read_filtered(
        self, name: str, owners: Sequence[Owner] | None, filters: Filters, limit: int
    ) -> list[tuple[int, Any]]:
        """Read an index for each owner, type and status; each reads at most *limit* rows."""
        values = filter_values(filters) | {"limit": limit}
        rows: list[tuple[int, Any]] = []
        for status in filters.statuses:
            if owners is None:
                rows += self._rows(f"{name}_anywhere", **values, status=status)
                continue
            for owner, kind in product(owners, filters.types):
                owned = {"scope": owner.scope, "owner_id": owner.id, "type": kind}
                rows += self._rows(name, **values, **owned, status=status)
        return rows

    def candidate_rows(self, item_ids: Iterable[int], filters: Filters) -> list[CandidateRow]:
        owners: dict[tuple[str, str], Owner] = {}  # shared: hundreds of rows have few owners
        rows = self._run("candidate_rows", **filter_values(filters), item_ids=list(item_ids))
        return [_candidate_row(row, owners) for row in rows]

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, int]:
        return dict(self._rows("preceding", item_ids=list(item_ids)))

    def ids_with_status(self, status: Status) -> list[str]:
        return self._column("ids_with_status", status=status)

    def unconfirmed(self, since: Mapping[MemoryType, datetime], limit: int) -> list[Memory]:
        rows: list[tuple[int, str]] = []
        for kind, moment in since.items():
            rows += self._rows("unconfirmed", type=kind, since=moment, limit=limit)
        return self.get_many([memory_id for _, memory_id in sorted(rows)[:limit]])

    def count_extracted(self) -> tuple[int, int]:
        extracted, rejected = self._rows("count_extracted")[0]
        return extracted, rejected

    def count_by_status(self) -> Mapping[str, int]:
        return dict(self._rows("count_by_status"))


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


def _candidate_row(row: Row, owners: dict[tuple[str, str], Owner]) -> CandidateRow:
    item_id, memory_id, scope, owner_id, kind, status, confidence, observed_at, session_id = row
    owner = owners.get((scope, owner_id))
    if owner is None:
        owner = owners[scope, owner_id] = Owner(_SCOPES[scope], owner_id)
    return CandidateRow(
        item_id=item_id,
        id=memory_id,
        owner=owner,
        type=_TYPES[kind],
        status=_STATUSES[status],
        confidence=confidence,
        observed_at=from_micros(observed_at),
        session_id=session_id,
    )
