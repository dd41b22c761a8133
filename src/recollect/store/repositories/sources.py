"""Sources (captured raw material) and ingestion events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.store.database_connection import field_shape, record_shape
from recollect.store.repositories.repository import Repository, field_values

_SOURCE = "id kind content sha256 uri title session redactions metadata captured_at observed_at"
_EVENT = """
id trigger source_id scope owner_id state outcome retries error title uri created_at updated_at
"""
_EVIDENCE = "id memory_id source_id start end quote voice created_at"
_source = record_shape(Source, _SOURCE)
_event = field_shape(Event, _EVENT, scope=Scope, owner_id=str)
EVIDENCE_SHAPE = record_shape(Evidence, _EVIDENCE)


class SourceRepository(Repository):
    """Sources (captured raw material), and the ingestion events that captured them."""

    _statements = "sources"

    def add(self, source: Source) -> None:
        """Store a new source."""
        self._run("add_source", **field_values(source))

    def get(self, source_id: str) -> Source | None:
        """Return the source with that id, or None."""
        return self._first(_source, "source", id=source_id)

    def with_hash(self, sha256: str, kind: SourceKind) -> Source | None:
        """Return the source of that kind with that content hash, or None."""
        return self._first(_source, "source_with_hash", sha256=sha256, kind=kind)

    def of_memory(self, memory_id: str) -> list[Source]:
        """Return the sources of a memory's evidence."""
        return self._all(_source, "sources_of_memory", memory_id=memory_id)

    def session_of(self, source_id: str) -> str:
        """Return the session of a source, or the source's own id if it has none."""
        session: str | None = self._value("session_of", id=source_id)
        return source_id if session is None else session

    def around(self, spans: Sequence[tuple[str, int, int]], margin: int) -> list[tuple[str, str]]:
        """Return the *margin* characters before and after each span: source id, start and end."""
        rows = self._rows("around", rows=[list(span) for span in spans], margin=margin)
        return [(before, after) for before, after in rows]

    def said_at(self, source_id: str, position: int) -> int | None:
        """Return when the character at *position* was said, in microseconds; None if unknown."""
        micros: int | None = self._value("said_at", id=source_id, position=position)
        return micros

    def kind_of(self, source_id: str) -> SourceKind | None:
        """Return the kind of a source, or None if there is no such source."""
        kind = self._value("kind_of", id=source_id)
        return None if kind is None else SourceKind(kind)

    def ids_of_session(self, session: str) -> list[str]:
        """Return the ids of the sources of a session, oldest first."""
        return self._column("ids_of_session", session=session)

    def with_session_prefix(self, prefix: str) -> list[tuple[str, str]]:
        """Return session and content of the sources whose session begins with *prefix*."""
        return self._rows("with_session_prefix", **{"from": prefix, "to": f"{prefix}\uffff"})

    def overwrite(self, source_id: str, content: str, sha256: str) -> None:
        """Replace the content of a source by a redacted one of the same length."""
        self._run("overwrite_source", id=source_id, content=content, sha256=sha256)

    def delete(self, source_id: str) -> None:
        """Delete a source that no evidence refers to."""
        self._run("delete_source", id=source_id)

    def evidence_in(self, source_id: str) -> list[Evidence]:
        """Return every piece of evidence quoted from a source."""
        return self._all(EVIDENCE_SHAPE, "evidence_in_source", source_id=source_id)

    def add_event(self, event: Event) -> None:
        """Store a new ingestion event."""
        owner = {"scope": event.owner.scope, "owner_id": event.owner.id}
        self._run("add_event", **field_values(event, without=("owner",)), **owner)

    def update_event(
        self,
        event_id: str,
        *,
        state: EventState,
        outcome: str,
        error: str,
        retried: bool,
        at: datetime,
    ) -> None:
        """Store the current state of an event, and count a retry if it was *retried*."""
        values = {"state": state, "outcome": outcome, "error": error, "retried": retried, "at": at}
        self._run("update_event", id=event_id, **values)

    def start_event(self, event_id: str, at: datetime) -> None:
        """Store that an event is in work."""
        self._run("start_event", id=event_id, at=at)

    def set_outcome(self, event_id: str, outcome: str, at: datetime) -> None:
        """Store what an event in work has come to so far."""
        self._run("set_outcome", id=event_id, outcome=outcome, at=at)

    def event(self, event_id: str) -> Event | None:
        """Return the event with that id, or None."""
        fields = self._first(_event, "event", id=event_id)
        return None if fields is None else _build_event(fields)

    def event_owners(self, event_ids: Sequence[str]) -> dict[str, Owner]:
        """Return the owners of some events by the ids of the events; unknown ones are left out."""
        rows = self._rows("event_owners", ids=list(event_ids))
        return {event_id: Owner(Scope(scope), owner_id) for event_id, scope, owner_id in rows}

    def events_of(self, source_id: str) -> list[Event]:
        """Return the events that captured a source, oldest first."""
        return list(map(_build_event, self._all(_event, "events_of_source", source_id=source_id)))

    def events(self) -> list[Event]:
        """Return every event, oldest first."""
        return list(map(_build_event, self._all(_event, "events")))

    def uris_without_source(self, trigger: Trigger) -> set[str]:
        """Return the URIs of the events of *trigger* that have no source."""
        return set(self._column("uris_without_source", trigger=trigger))


def _build_event(fields: dict[str, Any]) -> Event:
    owner = Owner(fields.pop("scope"), fields.pop("owner_id"))
    return Event(**fields, owner=owner)
