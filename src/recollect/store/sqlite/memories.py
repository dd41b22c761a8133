"""Memories in SQLite. Adding or deleting one updates the word index and the items."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.memory import Change, Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.source import Evidence, SourceKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import (
    Row,
    effects_json,
    fetch_all,
    filter_values,
    parse_effects,
    parse_redactions,
    redactions_json,
    to_json,
)
from recollect.store.sqlite.sources import parse_evidence
from recollect.store.sqlite.word_index import SqliteWordIndex
from recollect.store.values import CandidateRow
from recollect.text.fingerprint import fingerprint

_SQL = query_loader.load("memories")

# A query decodes hundreds of rows: looking a member up is cheaper than calling its enum.
_SCOPES = {scope.value: scope for scope in Scope}
_TYPES = {kind.value: kind for kind in MemoryType}
_STATUSES = {status.value: status for status in Status}


class SqliteMemoryTable:
    """See `recollect.store.protocol.MemoryTable`."""

    def __init__(self, db: apsw.Connection, word_index: SqliteWordIndex) -> None:
        self._db = db
        self._word_index = word_index

    def add(self, memory: Memory) -> None:
        for evidence in memory.evidence:
            self.add_evidence(evidence)
        self._db.execute(_SQL["add_memory"], _memory_values(memory))
        for tag in memory.tags:
            self._db.execute(_SQL["add_tag"], {"memory_id": memory.id, "tag": tag})
        self._word_index.add(ItemKind.MEMORY, memory.owner, memory.id, indexed_text(memory))

    def add_evidence(self, evidence: Evidence) -> None:
        self._db.execute(_SQL["add_evidence"], _evidence_values(evidence))

    def drop_evidence(self, evidence_ids: Sequence[str]) -> None:
        self._db.execute(_SQL["drop_evidence"], {"ids": to_json(list(evidence_ids))})

    def get(self, memory_id: str) -> Memory | None:
        memories = self.get_many([memory_id])
        return memories[0] if memories else None

    def get_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        ids = {"ids": to_json(list(memory_ids))}
        tags: dict[str, list[str]] = {}
        for memory_id, tag in self._db.execute(_SQL["tags_of"], ids):
            tags.setdefault(memory_id, []).append(tag)
        evidence: dict[str, list[Evidence]] = {}
        for row in self._db.execute(_SQL["evidence_of"], ids):
            evidence.setdefault(row[1], []).append(parse_evidence(row))
        memories = {
            row[0]: _memory(row, tags.get(row[0], ()), evidence.get(row[0], ()))
            for row in self._db.execute(_SQL["memories"], ids)
        }
        return [memories[memory_id] for memory_id in memory_ids if memory_id in memories]

    def contents(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        return dict(
            fetch_all(self._db.execute(_SQL["contents"], {"ids": to_json(list(memory_ids))}))
        )

    def item_id_of(self, memory_id: str) -> int | None:
        row = self._db.execute(_SQL["item_id_of"], {"id": memory_id}).fetchone()
        return row[0] if row else None

    def with_key(self, key: str, owner: Owner) -> Memory | None:
        values = {"key": key, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["with_key"], values).fetchone()
        return self.get(row[0]) if row else None

    def with_fingerprint(self, fingerprint: str, owner: Owner) -> list[int]:
        values = {"fingerprint": fingerprint, "scope": owner.scope.value, "owner_id": owner.id}
        return [item_id for (item_id,) in self._db.execute(_SQL["with_fingerprint"], values)]

    def update_status(self, memory: Memory) -> None:
        values = {
            "id": memory.id,
            "status": memory.status.value,
            "confidence": memory.confidence,
            "confirmed_at": to_micros(memory.confirmed_at),
            "updated_at": to_micros(memory.updated_at),
        }
        self._db.execute(_SQL["update_status"], values)

    def add_change(self, change: Change) -> None:
        values = {
            "id": change.id,
            "memory_id": change.memory_id,
            "before": change.before.value if change.before else None,
            "after": change.after.value,
            "by": change.by,
            "reason": change.reason,
            "at": to_micros(change.at),
            "effects": effects_json(change.effects),
        }
        self._db.execute(_SQL["add_change"], values)

    def remove_id_from_history(self, memory_id: str, in_changes_of: Sequence[str]) -> None:
        values = {"id": memory_id, "ids": to_json(list(in_changes_of))}
        self._db.execute(_SQL["remove_id_from_history"], values)

    def changes(self, memory_id: str) -> list[Change]:
        rows = self._db.execute(_SQL["changes"], {"memory_id": memory_id})
        return [_change(row) for row in rows]

    def delete(self, memory_id: str) -> Mapping[str, int]:
        memory = self.get(memory_id)
        if memory is None:
            return {}
        cursor = self._db.execute(_SQL["count_related_rows"], {"id": memory_id})
        names = [column[0] for column in cursor.get_description()]
        removed = dict(zip(names, next(cursor), strict=True))
        cursor.close()
        self._db.execute(_SQL["delete_memory"], {"id": memory_id})
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
                selected = values | {"status": status.value}
                rows += fetch_all(self._db.execute(_SQL[f"{name}_anywhere"], selected))
                continue
            for owner, kind in product(owners, filters.types):
                owned = {"scope": owner.scope.value, "owner_id": owner.id, "type": kind.value}
                selected = values | owned | {"status": status.value}
                rows += fetch_all(self._db.execute(_SQL[name], selected))
        return rows

    def candidate_rows(self, item_ids: Iterable[int], filters: Filters) -> list[CandidateRow]:
        values = filter_values(filters) | {"item_ids": to_json(list(item_ids))}
        owners: dict[tuple[str, str], Owner] = {}  # shared: hundreds of rows have few owners
        return [
            _candidate_row(row, owners) for row in self._db.execute(_SQL["candidate_rows"], values)
        ]

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, int]:
        return dict(
            fetch_all(self._db.execute(_SQL["preceding"], {"item_ids": to_json(list(item_ids))}))
        )

    def ids_with_status(self, status: Status) -> list[str]:
        rows = self._db.execute(_SQL["ids_with_status"], {"status": status.value})
        return [memory_id for (memory_id,) in rows]

    def unconfirmed(self, since: Mapping[MemoryType, datetime], limit: int) -> list[Memory]:
        rows: list[tuple[int, str]] = []
        for kind, moment in since.items():
            values = {"type": kind.value, "since": to_micros(moment), "limit": limit}
            rows += fetch_all(self._db.execute(_SQL["unconfirmed"], values))
        return self.get_many([memory_id for _, memory_id in sorted(rows)[:limit]])

    def count_extracted(self) -> tuple[int, int]:
        extracted, rejected = fetch_all(self._db.execute(_SQL["count_extracted"]))[0]
        return extracted, rejected

    def count_by_status(self) -> Mapping[str, int]:
        return dict(fetch_all(self._db.execute(_SQL["count_by_status"])))


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


def _evidence_values(evidence: Evidence) -> Mapping[str, Any]:
    return {
        "id": evidence.id,
        "memory_id": evidence.memory_id,
        "source_id": evidence.source_id,
        "start": evidence.start,
        "end": evidence.end,
        "quote": evidence.quote,
        "voice": evidence.voice,
        "created_at": to_micros(evidence.created_at),
    }


def _memory_values(memory: Memory) -> Mapping[str, Any]:
    return {
        "id": memory.id,
        "type": memory.type.value,
        "scope": memory.scope.value,
        "status": memory.status.value,
        "project_id": memory.project_id,
        "repo_id": memory.repo_id,
        "agent_id": memory.agent_id,
        "session_id": memory.session_id,
        "source_kind": memory.source_kind.value,
        "key": memory.key,
        "title": memory.title,
        "content": memory.content,
        "summary": memory.summary,
        "rationale": memory.rationale,
        "alternatives": to_json(list(memory.alternatives)),
        "confidence": memory.confidence,
        "fingerprint": fingerprint(memory.content),
        "redactions": redactions_json(memory.redactions),
        "metadata": to_json(dict(memory.metadata)),
        "observed_at": to_micros(memory.observed_at),
        "confirmed_at": to_micros(memory.confirmed_at),
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
    }


def _memory(row: Row, tags: Iterable[str], evidence: Iterable[Evidence]) -> Memory:
    (memory_id, kind, scope, status, project_id, repo_id, agent_id, session_id, source_kind) = row[
        :9
    ]
    key, title, content, summary, rationale, alternatives, confidence = row[9:16]
    redactions, metadata, observed_at, confirmed_at, created_at, updated_at = row[16:]
    return Memory(
        id=memory_id,
        type=MemoryType(kind),
        scope=Scope(scope),
        status=Status(status),
        project_id=project_id,
        repo_id=repo_id,
        agent_id=agent_id,
        session_id=session_id,
        source_kind=SourceKind(source_kind),
        key=key,
        title=title,
        content=content,
        summary=summary,
        rationale=rationale,
        alternatives=tuple(json.loads(alternatives)),
        confidence=confidence,
        metadata=json.loads(metadata),
        observed_at=from_micros(observed_at),
        confirmed_at=from_micros(confirmed_at),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        tags=tuple(tags),
        evidence=tuple(evidence),
        redactions=parse_redactions(redactions),
    )


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


def _change(row: Row) -> Change:
    change_id, memory_id, before, after, by, reason, at, effects = row
    return Change(
        id=change_id,
        memory_id=memory_id,
        before=Status(before) if before else None,
        after=Status(after),
        by=by,
        reason=reason,
        at=from_micros(at),
        effects=parse_effects(effects),
    )
