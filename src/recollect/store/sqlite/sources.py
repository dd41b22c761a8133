"""Sources (captured raw material) and ingestion events, in SQLite."""

import json

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import (
    Row,
    fetch_all,
    parse_redactions,
    redactions_json,
    to_json,
)

_SQL = query_loader.load("sources")


class SqliteSourceTable:
    """See `recollect.store.protocol.SourceTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, source: Source) -> None:
        values = {
            "id": source.id,
            "kind": source.kind.value,
            "content": source.content,
            "sha256": source.sha256,
            "uri": source.uri,
            "title": source.title,
            "session": source.session,
            "redactions": redactions_json(source.redactions),
            "metadata": to_json(dict(source.metadata)),
            "captured_at": to_micros(source.captured_at),
            "observed_at": to_micros(source.observed_at),
        }
        self._db.execute(_SQL["add_source"], values)

    def get(self, source_id: str) -> Source | None:
        row = self._db.execute(_SQL["source"], {"id": source_id}).fetchone()
        return _source(row) if row else None

    def with_hash(self, sha256: str, kind: SourceKind) -> Source | None:
        values = {"sha256": sha256, "kind": kind.value}
        row = self._db.execute(_SQL["source_with_hash"], values).fetchone()
        return _source(row) if row else None

    def of_memory(self, memory_id: str) -> list[Source]:
        rows = self._db.execute(_SQL["sources_of_memory"], {"memory_id": memory_id})
        return [_source(row) for row in rows]

    def session_of(self, source_id: str) -> str:
        row = self._db.execute(_SQL["session_of"], {"id": source_id}).fetchone()
        return str(row[0]) if row else source_id

    def said_at(self, source_id: str, position: int) -> int | None:
        values = {"id": source_id, "position": position}
        row = self._db.execute(_SQL["said_at"], values).fetchone()
        return None if row is None or row[0] is None else int(row[0])

    def kind_of(self, source_id: str) -> SourceKind | None:
        row = self._db.execute(_SQL["kind_of"], {"id": source_id}).fetchone()
        return SourceKind(row[0]) if row else None

    def with_session_prefix(self, prefix: str) -> list[tuple[str, str]]:
        return fetch_all(
            self._db.execute(_SQL["with_session_prefix"], {"from": prefix, "to": f"{prefix}\uffff"})
        )

    def overwrite(self, source_id: str, content: str, sha256: str) -> None:
        values = {"id": source_id, "content": content, "sha256": sha256}
        self._db.execute(_SQL["overwrite_source"], values)

    def delete(self, source_id: str) -> None:
        self._db.execute(_SQL["delete_source"], {"id": source_id})

    def evidence_in(self, source_id: str) -> list[Evidence]:
        rows = self._db.execute(_SQL["evidence_in_source"], {"source_id": source_id})
        return [parse_evidence(row) for row in rows]

    def add_event(self, event: Event) -> None:
        values = {
            "id": event.id,
            "trigger": event.trigger.value,
            "source_id": event.source_id,
            "scope": event.owner.scope.value,
            "owner_id": event.owner.id,
            "state": event.state.value,
            "outcome": event.outcome,
            "retries": event.retries,
            "error": event.error,
            "title": event.title,
            "uri": event.uri,
            "created_at": to_micros(event.created_at),
            "updated_at": to_micros(event.updated_at),
        }
        self._db.execute(_SQL["add_event"], values)

    def set_event(self, event: Event) -> None:
        values = {
            "id": event.id,
            "state": event.state.value,
            "outcome": event.outcome,
            "retries": event.retries,
            "error": event.error,
            "updated_at": to_micros(event.updated_at),
        }
        self._db.execute(_SQL["set_event"], values)

    def event(self, event_id: str) -> Event | None:
        row = self._db.execute(_SQL["event"], {"id": event_id}).fetchone()
        return _event(row) if row else None

    def events_of(self, source_id: str) -> list[Event]:
        rows = self._db.execute(_SQL["events_of_source"], {"source_id": source_id})
        return [_event(row) for row in rows]

    def events(self) -> list[Event]:
        return [_event(row) for row in self._db.execute(_SQL["events"])]

    def uris_without_source(self, trigger: Trigger) -> set[str]:
        rows = self._db.execute(_SQL["uris_without_source"], {"trigger": trigger.value})
        return {uri for (uri,) in rows}


def _source(row: Row) -> Source:
    source_id, kind, content, sha256, uri, title, session = row[:7]
    redactions, metadata, captured, observed = row[7:]
    return Source(
        id=source_id,
        kind=SourceKind(kind),
        content=content,
        sha256=sha256,
        uri=uri,
        title=title,
        session=session,
        redactions=parse_redactions(redactions),
        metadata=json.loads(metadata),
        captured_at=from_micros(captured),
        observed_at=from_micros(observed),
    )


def parse_evidence(row: Row) -> Evidence:
    """Return the evidence of a row."""
    evidence_id, memory_id, source_id, start, end, quote, voice, created_at = row
    return Evidence(
        id=evidence_id,
        memory_id=memory_id,
        source_id=source_id,
        start=start,
        end=end,
        quote=quote,
        voice=voice,
        created_at=from_micros(created_at),
    )


def _event(row: Row) -> Event:
    event_id, trigger, source_id, scope, owner_id, state, outcome, retries, error = row[:9]
    title, uri, created, updated = row[9:]
    return Event(
        id=event_id,
        trigger=Trigger(trigger),
        source_id=source_id,
        owner=Owner(Scope(scope), owner_id),
        state=EventState(state),
        outcome=outcome,
        retries=retries,
        error=error,
        title=title,
        uri=uri,
        created_at=from_micros(created),
        updated_at=from_micros(updated),
    )
