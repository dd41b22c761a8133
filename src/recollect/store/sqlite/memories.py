"""Memories in SQLite. Whatever adds or deletes one keeps the word index and items in step."""

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
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import (
    Row,
    filter_values,
    redactions_from,
    redactions_json,
    rows,
    to_json,
)
from recollect.store.sqlite.sources import evidence_from
from recollect.store.sqlite.words import SqliteWords
from recollect.store.values import Standing
from recollect.text.fingerprint import fingerprint

_SQL = queries.load("memories")

# A question decodes hundreds of rows: looking a member up is cheaper than calling its enum.
_SCOPES = {scope.value: scope for scope in Scope}
_TYPES = {kind.value: kind for kind in MemoryType}
_STATUSES = {status.value: status for status in Status}


class SqliteMemories:
    """See `recollect.store.protocol.Memories`."""

    def __init__(self, db: apsw.Connection, words: SqliteWords) -> None:
        self._db = db
        self._words = words

    def add(self, memory: Memory) -> None:
        """Keep a new memory with its evidence and tags, findable by words at once."""
        for piece in memory.evidence:
            self.add_evidence(piece)
        self._db.execute(_SQL["add_memory"], _memory_values(memory))
        for tag in memory.tags:
            self._db.execute(_SQL["add_tag"], {"memory_id": memory.id, "tag": tag})
        self._words.add(ItemKind.MEMORY, memory.owner, memory.id, indexed_text(memory))

    def add_evidence(self, piece: Evidence) -> None:
        """Keep one more quote of a memory."""
        self._db.execute(_SQL["add_evidence"], _evidence_values(piece))

    def drop_evidence(self, evidence_ids: Sequence[str]) -> None:
        """Take quotes back; ids that are not there are passed over."""
        self._db.execute(_SQL["drop_evidence"], {"ids": to_json(list(evidence_ids))})

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory with that id."""
        found = self.get_many([memory_id])
        return found[0] if found else None

    def get_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories with those ids, in that order; unknown ones are left out."""
        ids = {"ids": to_json(list(memory_ids))}
        tags: dict[str, list[str]] = {}
        for memory_id, tag in self._db.execute(_SQL["tags_of"], ids):
            tags.setdefault(memory_id, []).append(tag)
        evidence: dict[str, list[Evidence]] = {}
        for row in self._db.execute(_SQL["evidence_of"], ids):
            evidence.setdefault(row[1], []).append(evidence_from(row))
        found = {
            row[0]: _memory(row, tags.get(row[0], ()), evidence.get(row[0], ()))
            for row in self._db.execute(_SQL["memories"], ids)
        }
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    def contents(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what some memories say, and nothing else of them."""
        return dict(rows(self._db.execute(_SQL["contents"], {"ids": to_json(list(memory_ids))})))

    def seq_of(self, memory_id: str) -> int | None:
        """Return the integer by which indexes know a memory."""
        row = self._db.execute(_SQL["seq_of"], {"id": memory_id}).fetchone()
        return row[0] if row else None

    def with_key(self, key: str, owner: Owner) -> Memory | None:
        """Return the active fact of that name."""
        values = {"key": key, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["with_key"], values).fetchone()
        return self.get(row[0]) if row else None

    def with_fingerprint(self, fingerprint: str, owner: Owner) -> list[int]:
        """Return the items of an owner whose words are the same, by their integers."""
        values = {"fingerprint": fingerprint, "scope": owner.scope.value, "owner_id": owner.id}
        return [seq for (seq,) in self._db.execute(_SQL["with_fingerprint"], values)]

    def set_standing(self, memory: Memory) -> None:
        """Keep a memory's new status, confidence and times. Its content never changes."""
        values = {
            "id": memory.id,
            "status": memory.status.value,
            "confidence": memory.confidence,
            "confirmed_at": to_micros(memory.confirmed_at),
            "updated_at": to_micros(memory.updated_at),
        }
        self._db.execute(_SQL["set_standing"], values)

    def add_change(self, change: Change) -> None:
        """Keep one move between states."""
        values = {
            "id": change.id,
            "memory_id": change.memory_id,
            "before": change.before.value if change.before else None,
            "after": change.after.value,
            "by": change.by,
            "reason": change.reason,
            "at": to_micros(change.at),
        }
        self._db.execute(_SQL["add_change"], values)

    def unname(self, memory_id: str, in_changes_of: Sequence[str]) -> None:
        """Take the id of a forgotten memory out of other memories' history."""
        values = {"id": memory_id, "ids": to_json(list(in_changes_of))}
        self._db.execute(_SQL["unname"], values)

    def changes(self, memory_id: str) -> list[Change]:
        """Return the moves of a memory, oldest first."""
        found = self._db.execute(_SQL["changes"], {"memory_id": memory_id})
        return [_change(row) for row in found]

    def delete(self, memory_id: str) -> Mapping[str, int]:
        """Remove a memory from every table and index; return how much went from where."""
        memory = self.get(memory_id)
        if memory is None:
            return {}
        cursor = self._db.execute(_SQL["count_traces"], {"id": memory_id})
        names = [column[0] for column in cursor.get_description()]
        removed = dict(zip(names, next(cursor), strict=True))
        cursor.close()
        self._db.execute(_SQL["delete_memory"], {"id": memory_id})
        removed["postings"] = self._words.remove(memory_id, indexed_text(memory))
        return {"memories": 1, **removed}

    def newest(self, owners: Sequence[Owner] | None, filters: Filters, limit: int) -> list[Memory]:
        """Return the latest memories of *owners*, of all where None, that pass *filters*."""
        latest = sorted(self._walk("newest", owners, filters, limit), reverse=True)[:limit]
        return self.get_many([memory_id for _, memory_id in latest])

    def timeline(
        self, owners: Sequence[Owner] | None, filters: Filters, *, most: int
    ) -> list[tuple[datetime, int]] | None:
        """Return when those that pass *filters* were observed, in order, with their integers.

        None if they are more than *most*.
        """
        found = sorted(self._walk("timeline", owners, filters, most + 1))
        return None if len(found) > most else [(from_micros(at), seq) for at, seq in found]

    def _walk(
        self, name: str, owners: Sequence[Owner] | None, filters: Filters, limit: int
    ) -> list[tuple[int, Any]]:
        """Walk down an index for each owner, type and status: none reads past *limit* rows."""
        values = filter_values(filters) | {"limit": limit}
        found: list[tuple[int, Any]] = []
        for status in filters.statuses:
            if owners is None:
                one = values | {"status": status.value}
                found += rows(self._db.execute(_SQL[f"{name}_anywhere"], one))
                continue
            for owner, kind in product(owners, filters.types):
                place = {"scope": owner.scope.value, "owner_id": owner.id, "type": kind.value}
                one = values | place | {"status": status.value}
                found += rows(self._db.execute(_SQL[name], one))
        return found

    def standings(self, seqs: Iterable[int], filters: Filters) -> list[Standing]:
        """Return what ranking needs of those items that are memories and pass *filters*."""
        values = filter_values(filters) | {"seqs": to_json(list(seqs))}
        owners: dict[tuple[str, str], Owner] = {}  # hundreds of rows have a few owners
        return [_standing(row, owners) for row in self._db.execute(_SQL["standings"], values)]

    def before(self, seqs: Iterable[int]) -> Mapping[int, int]:
        """Return, for memories of a session, the one written there just before them."""
        return dict(rows(self._db.execute(_SQL["before"], {"seqs": to_json(list(seqs))})))

    def ids_with_status(self, status: Status) -> list[str]:
        """Return every memory of that status, by id."""
        found = self._db.execute(_SQL["ids_with_status"], {"status": status.value})
        return [memory_id for (memory_id,) in found]

    def unconfirmed(self, since: Mapping[MemoryType, datetime], limit: int) -> list[Memory]:
        """Return active memories not confirmed since a moment of their type, the oldest first."""
        found: list[tuple[int, str]] = []
        for kind, moment in since.items():
            values = {"type": kind.value, "since": to_micros(moment), "limit": limit}
            found += rows(self._db.execute(_SQL["unconfirmed"], values))
        return self.get_many([memory_id for _, memory_id in sorted(found)[:limit]])

    def count_extracted(self) -> tuple[int, int]:
        """Return how many memories the engine found, and how many of them a person turned down."""
        extracted, rejected = rows(self._db.execute(_SQL["count_extracted"]))[0]
        return extracted, rejected

    def count_by_status(self) -> Mapping[str, int]:
        """Return how many memories stand where."""
        return dict(rows(self._db.execute(_SQL["count_by_status"])))


def indexed_text(memory: Memory) -> str:
    """Return the words under which a memory can be found."""
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


def _evidence_values(piece: Evidence) -> Mapping[str, Any]:
    return {
        "id": piece.id,
        "memory_id": piece.memory_id,
        "source_id": piece.source_id,
        "start": piece.start,
        "end": piece.end,
        "quote": piece.quote,
        "voice": piece.voice,
        "created_at": to_micros(piece.created_at),
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
        redactions=redactions_from(redactions),
    )


def _standing(row: Row, owners: dict[tuple[str, str], Owner]) -> Standing:
    seq, memory_id, scope, owner_id, kind, status, confidence, observed_at, session_id = row
    owner = owners.get((scope, owner_id))
    if owner is None:
        owner = owners[scope, owner_id] = Owner(_SCOPES[scope], owner_id)
    return Standing(
        seq=seq,
        id=memory_id,
        owner=owner,
        type=_TYPES[kind],
        status=_STATUSES[status],
        confidence=confidence,
        observed_at=from_micros(observed_at),
        session_id=session_id,
    )


def _change(row: Row) -> Change:
    change_id, memory_id, before, after, by, reason, at = row
    return Change(
        id=change_id,
        memory_id=memory_id,
        before=Status(before) if before else None,
        after=Status(after),
        by=by,
        reason=reason,
        at=from_micros(at),
    )
