"""The rows of an SQLite database by column name. See `recollect.store.transfer.table_rows`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from recollect.store.database_connection import Row
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.transfer.table_rows import RowRefused, equality


class SqliteRows:
    """See `recollect.store.transfer.table_rows.TableRows`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._table_infos: dict[str, list[Any]] = {}

    @property
    def connection(self) -> SqliteConnection:
        return SqliteConnection(self._db)

    def columns(self, table: str) -> list[str]:
        return [row[1] for row in self._table_info(table)]

    def primary_key(self, table: str) -> tuple[str, ...]:
        rows = [row for row in self._table_info(table) if row[5]]
        return tuple(row[1] for row in sorted(rows, key=lambda row: row[5]))

    def required_columns(self, table: str) -> frozenset[str]:
        return frozenset(row[1] for row in self._table_info(table) if row[3])

    def find(
        self, table: str, columns: Sequence[str], row: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        names = self.columns(table)
        listed = ", ".join(f'"{name}"' for name in names)
        sql = f"SELECT {listed} FROM {table} WHERE {equality(columns, row)}"
        stored = self._db.execute(sql, {name: row.get(name) for name in columns}).fetchone()
        return dict(zip(names, stored, strict=True)) if stored else None

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        listed = ", ".join(f'"{column}"' for column in row)
        values = ", ".join(f":{column}" for column in row)
        try:
            self._db.execute(f"INSERT INTO {table} ({listed}) VALUES ({values})", row)
        except apsw.ConstraintError as error:
            raise RowRefused(str(error)) from error

    def select(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterator[Row]:
        return self._db.execute(sql, values)

    def execute(self, sql: str) -> None:
        self._db.execute(sql)

    def _table_info(self, table: str) -> list[Any]:
        if table not in self._table_infos:
            rows = self._db.execute(f"PRAGMA table_info({table})").fetchall()
            self._table_infos[table] = rows
        return self._table_infos[table]
