"""Sources (captured raw material) and ingestion events, in SQLite."""

from recollect.domain.capture_event import Event, Trigger
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence, Source, SourceKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_SOURCE = "id kind content sha256 uri title session redactions metadata captured_at observed_at"
_EVENT = "id trigger source_id owner state outcome retries error title uri created_at updated_at"
_EVIDENCE = "id memory_id source_id start end quote voice created_at"
_source = row_parser(Source, _SOURCE)
_event_with_owner = row_parser(Event, _EVENT)
parse_evidence = row_parser(Evidence, _EVIDENCE)


class SqliteSourceTable(SqliteTable):
    """See `recollect.store.protocol.SourceTable`."""

    _sql = query_loader.load("sources")

    def add(self, source: Source) -> None:
        self._run("add_source", **field_values(source))

    def get(self, source_id: str) -> Source | None:
        return self._first(_source, "source", id=source_id)

    def with_hash(self, sha256: str, kind: SourceKind) -> Source | None:
        return self._first(_source, "source_with_hash", sha256=sha256, kind=kind)

    def of_memory(self, memory_id: str) -> list[Source]:
        return self._all(_source, "sources_of_memory", memory_id=memory_id)

    def session_of(self, source_id: str) -> str:
        row = self._run("session_of", id=source_id).fetchone()
        return str(row[0]) if row else source_id

    def said_at(self, source_id: str, position: int) -> int | None:
        row = self._run("said_at", id=source_id, position=position).fetchone()
        return None if row is None or row[0] is None else int(row[0])

    def kind_of(self, source_id: str) -> SourceKind | None:
        return self._first(lambda row: SourceKind(row[0]), "kind_of", id=source_id)

    def ids_of_session(self, session: str) -> list[str]:
        return self._column("ids_of_session", session=session)

    def with_session_prefix(self, prefix: str) -> list[tuple[str, str]]:
        return self._rows("with_session_prefix", **{"from": prefix, "to": f"{prefix}\uffff"})

    def overwrite(self, source_id: str, content: str, sha256: str) -> None:
        self._run("overwrite_source", id=source_id, content=content, sha256=sha256)

    def delete(self, source_id: str) -> None:
        self._run("delete_source", id=source_id)

    def evidence_in(self, source_id: str) -> list[Evidence]:
        return self._all(parse_evidence, "evidence_in_source", source_id=source_id)

    def add_event(self, event: Event) -> None:
        owner = {"scope": event.owner.scope, "owner_id": event.owner.id}
        self._run("add_event", **field_values(event, without=("owner",)), **owner)

    def set_event(self, event: Event) -> None:
        self._run("set_event", **field_values(event, without=("owner",)))

    def event(self, event_id: str) -> Event | None:
        return self._first(_event, "event", id=event_id)

    def events_of(self, source_id: str) -> list[Event]:
        return self._all(_event, "events_of_source", source_id=source_id)

    def events(self) -> list[Event]:
        return self._all(_event, "events")

    def uris_without_source(self, trigger: Trigger) -> set[str]:
        return set(self._column("uris_without_source", trigger=trigger))


def _event(row: Row) -> Event:
    owner = Owner(Scope(row[3]), row[4])
    return _event_with_owner((*row[:3], owner, *row[5:]))
