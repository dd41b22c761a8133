"""
The rows of an import in a temporary database, validated, before any of them enters the store.

The temporary database has the schema of the store, so every rule is checked there: a file that
breaks one is refused as a whole, and nothing was written. Then the store can take the rows in short
transactions. The database is a file without a name, which is gone with the process. (SQLite's own
temporary databases may be in memory, depending on how it was built.)
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from recollect.domain.tombstone import Tombstone
from recollect.errors import ImportRefused
from recollect.store.repositories.tombstones import TombstoneRepository
from recollect.store.sqlite.empty_database import create_tables
from recollect.store.sqlite.encryption import apply_key
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.store_key import StoreKey
from recollect.store.transfer.export_import import (
    TABLES,
    ImportedRow,
    RowImporter,
    delete_tombstones_of_quoted_sources,
)
from recollect.store.transfer.table_rows import RowRefused

# Rows that enter the store in one transaction with their record: a column that names the record,
# and the tables in order. Evidence comes before its memory.
_RECORD_PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "blocks": ("block_id", ("blocks", "block_history")),
    "memories": (
        "memory_id",
        ("evidence", "memories", "unsettled", "memory_tags", "memory_changes"),
    ),
}
_PARTS = {part for _, parts in _RECORD_PARTS.values() for part in parts} - _RECORD_PARTS.keys()
# A worker may take a job at once, so jobs come when everything they work on is there.
# The store takes the tombstones first, and not those of sources that its own memories quote.
_LATER_OR_EARLIER = {*_PARTS, "tombstones", "jobs"}
_RECORD_TABLES = (*(name for name in TABLES if name not in _LATER_OR_EARLIER), "jobs")

_BLOCKS_WITHOUT_HISTORY = """SELECT b.id FROM blocks b LEFT JOIN block_history h
    ON h.block_id = b.id AND h.version = b.version AND h.value = b.value
 WHERE h.block_id IS NULL"""


class StagedRows:
    """The rows of one import. Use it as a context."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], *, is_encrypted: bool = False) -> None:
        self._db, self._path = _open_temporary(StoreKey.generate() if is_encrypted else None)
        self._rows = SqliteRows(self._db)
        try:
            self._create_tables()
            self._columns = {name: self._rows.columns(name) for name in TABLES}
            self._order = {name: _key_order(self._rows, name) for name in TABLES}
            self.conflicts = self._add(rows)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the database."""
        self._db.close()
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> "StagedRows":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def records(self) -> Iterator[list[ImportedRow]]:
        """Yield the rows in an order in which they can be added, those of one record together."""
        for table in _RECORD_TABLES:
            yield from self._records_of(table)

    def tombstones(self) -> list[Tombstone]:
        """Return what was deleted on the machine that wrote the rows."""
        return TombstoneRepository(self._rows.connection).all()

    def _records_of(self, table: str) -> Iterator[list[ImportedRow]]:
        origin, order = f"{table} t", self._order[table]
        if table == "memories":
            origin, order = "memories t JOIN staged_order o ON o.id = t.id", "o.number"
        parent, parts = _RECORD_PARTS.get(table, ("", (table,)))
        for row in self._select(table, origin, order):
            record: list[ImportedRow] = []
            for part in parts:
                if part == table:
                    record.append(row)
                else:
                    origin_of_part = f'{part} t WHERE t."{parent}" = ?'
                    record += self._select(part, origin_of_part, self._order[part], row["id"])
            yield record

    def _select(self, table: str, origin: str, order: str, *values: str) -> Iterator[ImportedRow]:
        columns = self._columns[table]
        listed = ", ".join(f't."{column}"' for column in columns)
        for row in self._db.execute(f"SELECT {listed} FROM {origin} ORDER BY {order}", values):
            yield {"table": table, **dict(zip(columns, row, strict=True))}

    def _create_tables(self) -> None:
        self._db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA cache_size = -8192; PRAGMA foreign_keys = ON")
        create_tables(self._db)
        self._db.execute("CREATE TABLE staged_order (number INTEGER PRIMARY KEY, id TEXT NOT NULL)")
        self._db.execute("CREATE INDEX staged_order_by_id ON staged_order(id)")

    def _add(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        importer = RowImporter(self._rows)
        self._db.execute("BEGIN")
        for number, row in enumerate(rows, start=1):
            try:
                if importer.add(dict(row)) and row["table"] == "memories":
                    self._db.execute("INSERT INTO staged_order (id) VALUES (?)", (row["id"],))
            except (apsw.ConstraintError, RowRefused) as error:
                raise ImportRefused(f"row {number} of the import breaks a rule: {error}") from error
            except (apsw.Error, TypeError, ValueError, KeyError, OverflowError) as error:
                message = f"row {number} of the import cannot be stored: {error!r}"
                raise ImportRefused(message) from error
        self._check_references()
        delete_tombstones_of_quoted_sources(self._rows)
        return importer.conflicts

    def _check_references(self) -> None:
        try:
            # Deferred foreign keys are checked at commit; check now, while the row can be named.
            broken = self._db.execute("PRAGMA foreign_key_check").fetchone()
            block = self._db.execute(_BLOCKS_WITHOUT_HISTORY).fetchone()
        except apsw.Error as error:
            raise ImportRefused(f"the import is incomplete: {error}") from error
        if broken:
            raise ImportRefused(
                f"the import is incomplete: a row of {broken[0]} refers to a row of {broken[2]} "
                "that is missing; export it again from the original store"
            )
        if block:
            raise ImportRefused(
                f"the import has a block {block[0]} without its value in the history; "
                "export it again from the original store"
            )


def _open_temporary(key: StoreKey | None) -> tuple[apsw.Connection, Path]:
    """Return an empty database that only this process can read, and its path until it is closed."""
    handle, name = tempfile.mkstemp(prefix="recollect-import-")  # with mode 0600
    os.close(handle)
    path = Path(name)
    db = apsw.Connection(name)
    apply_key(db, key)  # of an encrypted store; nobody else has this key
    if os.name == "posix":
        path.unlink()  # it stays open, and disappears with the process
    return db, path


def _key_order(rows: SqliteRows, table: str) -> str:
    return ", ".join(f't."{column}"' for column in rows.primary_key(table))
