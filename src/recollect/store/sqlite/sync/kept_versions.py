"""
Keep what loses when two devices changed the same thing, and put it back.

Memories and blocks have histories of their own. Of every other record the later revision counts,
and the values that lose are stored as a document of the namespace `NAMESPACE`. So they are synced,
exported, forgotten and deleted like any document, and every caller can read them. A version goes
when its record is deleted (change_triggers.py).
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import apsw

from recollect.clock import Clock, from_micros, to_micros, uuid7_text
from recollect.domain.document import namespace_json
from recollect.domain.sync_report import KeptVersion
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.errors import InvalidInput, NotFound
from recollect.store.open_tables import OpenTables
from recollect.store.row_conversion import fetch_all, to_json
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sync.record_index import RecordIndex
from recollect.store.sqlite.sync.record_rows import RecordRows, Row, Rows
from recollect.store.sqlite.sync.sync_state import SyncState
from recollect.store.transfer.record_kinds import KINDS

NAMESPACE = ("recollect", "sync_versions")
NAMESPACE_TEXT = namespace_json(NAMESPACE)

Tables = OpenTables[SqliteConnection]


def version_record(
    kind: str, record_id: str, row: Mapping[str, Any], values: Row, clock: int
) -> Rows:
    """Return the document that keeps *values* of a record, the same on every device."""
    body = {"kind": kind, "id": record_id, "name": display_name(row), "values": values}
    text = to_json(body)
    digest = hashlib.sha256(f"{clock} {text}".encode()).hexdigest()
    version_id = uuid7_text(clock * 4096 // 1000, int(digest[:16], 16))
    document = {
        "id": version_id,
        "namespace": NAMESPACE_TEXT,
        "key": version_id,
        "body": text,
        "text": "",  # searches do not find it
        "revision": 1,
        "created_at": clock,
        "updated_at": clock,
        "lifetime_s": None,
        "expires_at": None,
    }
    return {"documents": [document]}


def display_name(row: Mapping[str, Any]) -> str:
    """Return what a person calls a record."""
    names = ("name", "label", "title", "key", "id")
    return next((str(row[name]) for name in names if row.get(name)), "")


def is_kept_version(kind: str, row: Mapping[str, Any]) -> bool:
    """Return whether a record is a version of another one."""
    return kind == "documents" and row["namespace"] == NAMESPACE_TEXT


class KeptVersions:
    """The versions in a store, within one transaction."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._db = tables.connection.db
        self._clock = clock
        self._rows = RecordRows(self._db)
        self._aliases = SyncState(self._db).aliases()

    def count(self) -> int:
        """Return how many there are."""
        sql = "SELECT count(*) FROM documents WHERE namespace = ?"
        return int(self._db.execute(sql, (NAMESPACE_TEXT,)).get)

    def list(self) -> list[KeptVersion]:
        """Return all versions, the newest first."""
        sql = 'SELECT "key" FROM documents WHERE namespace = ? ORDER BY updated_at DESC, "key"'
        keys = self._db.execute(sql, (NAMESPACE_TEXT,)).fetchall()
        return [self._read(str(key)) for (key,) in keys]

    def restore(self, version_id: str) -> KeptVersion:
        """
        Restore the values of a version; return the version that keeps the current ones.

        Raises `NotFound` if there is no such version, or the record was deleted.
        """
        version = self._read(version_id)
        present = self._rows.read(version.kind, version.record_id)
        if present is None:
            raise NotFound(f"{version.kind} {version.name}: it was deleted, nothing to restore")
        now = to_micros(self._clock.now())
        row = present[version.kind][0]
        changed = {**row, **version.values}
        if "updated_at" in row:
            changed["updated_at"] = now
        if version.kind == "documents":
            changed["revision"] = row["revision"] + 1
        index = RecordIndex(self._tables)
        old = index.item(version.kind, version.record_id)
        try:
            self._rows.write(version.kind, {**present, version.kind: [changed]})
        except apsw.ConstraintError as error:
            raise InvalidInput(
                f"{version.kind} {version.name}: the version does not fit into the store any more "
                f"({error}); another one may have its name by now"
            ) from error
        index.update(version.kind, version.record_id, old)
        index.add_new()
        self.discard(version.id)
        replaced = {name: row[name] for name in version.values}
        record = version_record(version.kind, version.record_id, row, replaced, now)
        self._rows.write("documents", record)
        return self._read(record["documents"][0]["key"])

    def discard(self, version_id: str) -> KeptVersion:
        """Delete a version, on the other devices too; return it."""
        version = self._read(version_id)
        document = self._tables.documents.get(NAMESPACE, version.id)
        assert document is not None  # it was just read
        self._tables.documents.delete(document)
        self._tables.tombstones.add(
            Tombstone(kind=DeletedKind.DOCUMENT, id=document.id, deleted_at=self._clock.now())
        )
        return version

    def _read(self, key: str) -> KeptVersion:
        sql = 'SELECT body, created_at FROM documents WHERE namespace = ? AND "key" = ?'
        rows = fetch_all(self._db.execute(sql, (NAMESPACE_TEXT, key)))
        if not rows:
            raise NotFound(f"no kept version has the id {key}; see `recollect sync versions`")
        [(body, at)] = rows
        stored = json.loads(body)
        kind, record_id = str(stored["kind"]), str(stored["id"])
        record_id = self._aliases.get(record_id, record_id)
        allowed = KINDS[kind].values if kind in KINDS else frozenset()
        values = {name: value for name, value in stored["values"].items() if name in allowed}
        present = self._rows.read(kind, record_id) if allowed else None
        row = present[kind][0] if present else {}
        return KeptVersion(
            id=key,
            kind=kind,
            record_id=record_id,
            name=str(stored["name"]),
            values=values,
            current={name: row[name] for name in values if name in row},
            kept_at=from_micros(at),
        )
