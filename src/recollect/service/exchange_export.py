"""
Write the store as a memory exchange (wire/memory_exchange.py).

Exported are memories that are or were active, the sources they quote, what replaced or ended a
memory, and deletions. Candidates and statements that nobody reviewed stay here; the manifest says
how many.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.clock import from_micros
from recollect.domain.memory import Status
from recollect.domain.source import SourceKind
from recollect.service.exchange_mapping import EXTENSION, METADATA, STATE_NAMES
from recollect.service.services import Services
from recollect.wire.memory_exchange import (
    ExchangeDerivation,
    ExchangeEvent,
    ExchangeManifest,
    ExchangeObject,
    ExchangePolicy,
    ExchangeRole,
    ExchangeScope,
    LifecycleKind,
    MemoryExchange,
    ObjectReference,
)

AUTHORITY = "recollect"
_ROLES = {
    SourceKind.CONVERSATION.value: ExchangeRole.TRANSCRIPT,
    SourceKind.RUN.value: ExchangeRole.TRANSCRIPT,
    SourceKind.DOCUMENT.value: ExchangeRole.SOURCE_ARTIFACT,
}
_KINDS_OF_STATE = {name: kind for kind, name in STATE_NAMES.items()}
_TABLES = (
    *("projects", "agents", "sources", "evidence", "memories", "memory_tags"),
    *("memory_changes", "memory_links", "tombstones"),
)

Row = Mapping[str, Any]


def export_exchange(services: Services) -> MemoryExchange:
    """Return the store as an exchange."""
    rows: dict[str, list[Row]] = {table: [] for table in _TABLES}
    for row in services.store.export_rows():
        if row["table"] in rows:
            rows[row["table"]].append(row)
    return _ExchangeWriter(rows).exchange(services)


class _ExchangeWriter:
    """The rows of a store, as objects and events."""

    def __init__(self, rows: Mapping[str, list[Row]]) -> None:
        self._rows = rows
        self._projects = {row["id"]: row["identity"] for row in rows["projects"]}
        self._agents = {row["id"]: row["name"] for row in rows["agents"]}
        self._sources = {row["id"]: row for row in rows["sources"]}
        self._evidence = _by_memory(rows["evidence"])
        self._tags = _by_memory(rows["memory_tags"])
        self._changes = _by_memory(rows["memory_changes"])
        self._memories = {row["id"]: row for row in rows["memories"] if self._is_exported(row)}

    def exchange(self, services: Services) -> MemoryExchange:
        """Return everything as one exchange."""
        objects = [*self._source_objects(), *map(self._memory_object, self._memories.values())]
        left_out = len(self._rows["memories"]) - len(self._memories)
        notes = [f"{left_out} candidates and statements were not exported"] if left_out else []
        manifest = ExchangeManifest(
            source_system=AUTHORITY,
            exported_at=services.clock.now().isoformat(timespec="seconds"),
            exchange_id=services.clock.new_id(),
            object_kinds=sorted({item.role.value for item in objects}),
            scope_coverage=sorted(
                {f"{key}={value}" for item in objects for key, value in item.scope.context.items()}
            ),
            complete_snapshot=not left_out,
            notes=notes,
        )
        return MemoryExchange(manifest=manifest, objects=objects, events=list(self._events()))

    def _is_exported(self, row: Row) -> bool:
        """Return whether a memory is or was active, or came from an exchange as ended."""
        if row["status"] in (Status.INBOX, Status.STATED):
            return False
        if row["status"] != Status.ARCHIVED:
            return True
        was_active = any(change["after"] == "active" for change in self._changes.get(row["id"], ()))
        return was_active or METADATA in _metadata(row)

    def _source_objects(self) -> Iterator[ExchangeObject]:
        """Yield the sources that memories quote, except those that are only their own text."""
        quoted = {
            quote["source_id"]
            for memory_id in self._memories
            for quote in self._evidence.get(memory_id, ())
        }
        for row in self._sources.values():
            origin = _metadata(row).get(METADATA, {})
            if row["kind"] in _ROLES and (row["id"] in quoted or origin):
                yield self._object(row, _ROLES[row["kind"]], row["content"], row["captured_at"])

    def _memory_object(self, row: Row) -> ExchangeObject:
        quotes = [
            (self._sources[quote["source_id"]], quote)
            for quote in self._evidence.get(row["id"], ())
            if self._sources[quote["source_id"]]["kind"] in _ROLES
        ]
        role = ExchangeRole.MACHINE_DERIVED if quotes else ExchangeRole.HUMAN_ASSERTION
        derivation = None
        if quotes:
            used = list(dict.fromkeys(self._revision(source) for source, _ in quotes))
            spans = [
                f"{self._revision(source)}#chars:{quote['start_char']}-{quote['end_char']}"
                for source, quote in quotes
            ]
            derivation = ExchangeDerivation(
                activity="extraction", used=used, spans=spans, agent=AUTHORITY
            )
        return self._object(row, role, row["content"], row["created_at"], derivation)

    def _object(
        self,
        row: Row,
        role: ExchangeRole,
        text: str,
        recorded_at: int,
        derivation: ExchangeDerivation | None = None,
    ) -> ExchangeObject:
        """Return a record; what came from an exchange says the same as there."""
        context = {
            "project": self._projects.get(row.get("project_id")),
            "agent": self._agents.get(row.get("agent_id")),
        }
        fields: dict[str, Any] = {
            "ref": ObjectReference(authority=AUTHORITY, local_id=row["id"]),
            "role": role,
            "scope": ExchangeScope(
                origin_system=AUTHORITY, context={k: v for k, v in context.items() if v}
            ),
            "policy": ExchangePolicy(required=False),
            "recorded_at": _iso(recorded_at),
            "extensions": {},
        }
        if derivation is not None:
            fields["derivation"] = derivation
        origin = _metadata(row).get(METADATA, {})
        fields |= {name: value for name, value in origin.items() if name != "state"}
        if "content" in row and "type" in row:
            fields["extensions"] = {**fields["extensions"], EXTENSION: self._own_fields(row)}
        return ExchangeObject.model_validate(
            {**fields, "revision_id": self._revision(row), "text": text}
        )

    def _own_fields(self, row: Row) -> dict[str, Any]:
        tags = [tag["tag"] for tag in self._tags.get(row["id"], ())]
        fields = {"type": row["type"], "title": row["title"], "rationale": row["rationale"]}
        return {name: value for name, value in {**fields, "tags": tags}.items() if value}

    def _revision(self, row: Row) -> str:
        return str(_metadata(row).get(METADATA, {}).get("revision_id") or row["id"])

    def _events(self) -> Iterator[ExchangeEvent]:
        for link in self._rows["memory_links"]:
            target = self._memories.get(link["to_id"])
            replacement = self._memories.get(link["from_id"])
            if link["relation"] == "supersedes" and target and replacement:
                yield ExchangeEvent(
                    event_id=link["id"],
                    kind=LifecycleKind.SUPERSEDE,
                    target=self._revision(target),
                    actor=AUTHORITY,
                    effective_at=_iso(link["created_at"]),
                    replacement=self._revision(replacement),
                )
        for row in self._memories.values():
            if row["status"] == Status.ARCHIVED:
                state = _metadata(row).get(METADATA, {}).get("state")
                yield ExchangeEvent(
                    event_id=f"{row['id']}-ended",
                    kind=_KINDS_OF_STATE.get(state, LifecycleKind.RETRACT),
                    target=self._revision(row),
                    actor=AUTHORITY,
                    effective_at=_iso(row["updated_at"]),
                )
        for row in self._rows["tombstones"]:
            if row["kind"] in ("memory", "source"):
                yield ExchangeEvent(
                    event_id=f"{row['kind']}-{row['id']}",
                    kind=LifecycleKind.TOMBSTONE,
                    target=row["id"],
                    actor="user",
                    effective_at=_iso(row["deleted_at"]),
                    coverage=["derivations", "indexes"],
                )


def _by_memory(rows: list[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["memory_id"], []).append(row)
    return grouped


def _metadata(row: Row) -> dict[str, Any]:
    metadata = json.loads(row["metadata"])
    return metadata if isinstance(metadata, dict) else {}


def _iso(micros: int) -> str:
    return from_micros(micros).isoformat(timespec="seconds")
