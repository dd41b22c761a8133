"""
Read and write the rows of one record, by kind and id. Knows nothing of devices and revisions.

Writing compares with the rows that are there, and changes only what differs: the database refuses
to rewrite a quote, and an active memory must never be without one.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.transfer.record_kinds import KINDS, OMITTED

_FIXED_COLUMNS = ("captured_at", "observed_at")  # of a source; the database refuses to change them

Row = dict[str, Any]
Rows = dict[str, list[Row]]  # by table; the row of the record itself is the only one of its kind


class RecordRows:
    """The rows of records, within the transaction of a connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        tables = {
            table
            for kind, layout in KINDS.items()
            for table in (kind, *layout.parts, *layout.shared_parts)
        }
        self._columns = {
            table: [
                column
                for column in SqliteRows(db).columns(table)
                if column not in OMITTED.get(table, ())
            ]
            for table in tables
        }
        self._keys = {table: SqliteRows(db).primary_key(table) for table in tables}

    def read(self, kind: str, record_id: str) -> Rows | None:
        """Return the rows of a record, None if there is none."""
        keys = KINDS[kind].keys
        where = " AND ".join(f'"{column}" = ?' for column in keys)
        main = self._select(kind, where, key_values(kind, record_id))
        if not main:
            return None
        rows = {kind: main}
        for table, column in KINDS[kind].parts.items():
            rows[table] = self._select(table, f'"{column}" = ?', (record_id,))
        for table, column in KINDS[kind].shared_parts.items():
            rows[table] = self._select(table, "id = ?", (main[0][column],))
        return rows

    def exists(self, kind: str, record_id: str) -> bool:
        """Return whether there is such a record."""
        where = " AND ".join(f'"{column}" = ?' for column in KINDS[kind].keys)
        sql = f"SELECT 1 FROM {kind} WHERE {where}"
        return self._db.execute(sql, key_values(kind, record_id)).get is not None

    def ids(self, kind: str) -> Iterator[str]:
        """Yield the ids of all records of a kind."""
        listed = " || ' ' || ".join(f'"{column}"' for column in KINDS[kind].keys)
        for (record_id,) in self._db.execute(f"SELECT {listed} FROM {kind} ORDER BY 1"):
            yield record_id

    def with_natural_key(self, kind: str, row: Row) -> str | None:
        """Return the id of another record that is the same by one of its natural keys."""
        if kind == "blocks":
            return self._block_of_agent(row)
        for columns in KINDS[kind].natural_keys:
            if not row.get(columns[-1]):
                continue
            where = " AND ".join(f'"{column}" IS :{column}' for column in columns)
            sql = f"SELECT id FROM {kind} WHERE {where} AND id <> :id LIMIT 1"
            values = {column: row[column] for column in (*columns, "id")}
            if (other := self._db.execute(sql, values).get) is not None:
                return str(other)
        return None

    def _block_of_agent(self, row: Row) -> str | None:
        """Return another block of the same label that belongs to the same agent alone."""
        sql = """SELECT id FROM blocks WHERE scope = 'agent' AND scope = :scope
                    AND owner_id = :owner_id AND label = :label AND id <> :id LIMIT 1"""
        names = ("scope", "owner_id", "label", "id")
        other = self._db.execute(sql, {name: row[name] for name in names}).get
        return None if other is None else str(other)

    def write(self, kind: str, rows: Rows) -> None:
        """Store the rows of a record, new or instead of the current ones."""
        main = rows[kind][0]
        parts = KINDS[kind].parts
        if "evidence" in parts:
            self._add_missing("evidence", rows["evidence"])  # before an active memory needs it
        for table in KINDS[kind].shared_parts:
            self._add_missing(table, rows[table])
        self._write_row(kind, main)
        for table, column in parts.items():
            self._replace(table, column, main["id"], rows[table])

    def delete(self, kind: str, record_id: str) -> None:
        """Delete the row of a record; the database deletes what belongs to it."""
        where = " AND ".join(f'"{column}" = ?' for column in KINDS[kind].keys)
        self._db.execute(f"DELETE FROM {kind} WHERE {where}", key_values(kind, record_id))
        for table, column in KINDS[kind].shared_parts.items():
            self._db.execute(f'DELETE FROM {table} WHERE id NOT IN (SELECT "{column}" FROM {kind})')

    def _select(self, table: str, where: str, values: Sequence[Any]) -> list[Row]:
        columns = self._columns[table]
        listed = ", ".join(f'"{column}"' for column in columns)
        order = ", ".join(f'"{column}"' for column in self._keys[table])
        sql = f"SELECT {listed} FROM {table} WHERE {where} ORDER BY {order}"
        return [dict(zip(columns, row, strict=True)) for row in self._db.execute(sql, values)]

    def _present(self, table: str, row: Mapping[str, Any]) -> Row | None:
        keys = self._keys[table]
        where = " AND ".join(f'"{column}" = ?' for column in keys)
        rows = self._select(table, where, [row[column] for column in keys])
        return rows[0] if rows else None

    def _write_row(self, table: str, row: Row) -> None:
        present = self._present(table, row)
        if present is None:
            self._insert(table, row)
            return
        changed = {
            name: row[name] for name in present if name in row and row[name] != present[name]
        }
        if not changed:
            return
        if table == "sources" and not changed.keys().isdisjoint(_FIXED_COLUMNS):
            # Two devices captured the same material: it has one time, that of the later revision.
            with without_triggers(self._db):
                self._update(table, row, {name: row[name] for name in _FIXED_COLUMNS})
        self._update(table, row, changed)

    def _update(self, table: str, row: Row, changed: Mapping[str, Any]) -> None:
        values = {f"new_{name}": value for name, value in changed.items()}
        listed = ", ".join(f'"{name}" = :new_{name}' for name in changed)
        where = " AND ".join(f'"{column}" = :{column}' for column in self._keys[table])
        keys = {column: row[column] for column in self._keys[table]}
        self._db.execute(f"UPDATE {table} SET {listed} WHERE {where}", {**values, **keys})

    def _replace(self, table: str, column: str, record_id: str, rows: Sequence[Row]) -> None:
        keys = self._keys[table]
        key_rows = {tuple(row[key] for key in keys) for row in rows}
        for present in self._select(table, f'"{column}" = ?', (record_id,)):
            if tuple(present[key] for key in keys) not in key_rows:
                where = " AND ".join(f'"{key}" = :{key}' for key in keys)
                values = {key: present[key] for key in keys}
                self._db.execute(f"DELETE FROM {table} WHERE {where}", values)
        for row in rows:
            self._write_row(table, row)

    def _add_missing(self, table: str, rows: Sequence[Row]) -> None:
        for row in rows:
            if self._present(table, row) is None:
                self._insert(table, row)

    def _insert(self, table: str, row: Row) -> None:
        columns = [name for name in row if name in self._columns[table]]
        listed = ", ".join(f'"{name}"' for name in columns)
        values = ", ".join(f":{name}" for name in columns)
        row = {name: row[name] for name in columns}
        self._db.execute(f"INSERT INTO {table} ({listed}) VALUES ({values})", row)


def key_values(kind: str, record_id: str) -> tuple[str, ...]:
    """Return the values of the key columns that a record id stands for."""
    count = len(KINDS[kind].keys)
    return (record_id,) if count == 1 else tuple(record_id.split(" ", count - 1))


@contextlib.contextmanager
def without_triggers(db: apsw.Connection) -> Iterator[None]:
    """Let statements in the block change what the rules of the schema keep from changing."""
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    db.execute("PRAGMA defer_foreign_keys = ON")
    try:
        yield
    finally:
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
