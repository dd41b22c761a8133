"""The rows of a PostgreSQL schema by column name. See `recollect.store.transfer.table_rows`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import psycopg

from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import Row
from recollect.store.postgres.postgres_connection import (
    PostgresConnection,
    driver_sql,
    stream_rows,
)
from recollect.store.transfer.table_rows import RowRefused, equality

# Long texts are indexed by their MD5 (see migrations/0025_schema.sql).
_HASHED: Mapping[str, frozenset[str]] = {
    "projects": frozenset({"identity"}),
    "repos": frozenset({"remote", "name"}),
    "conversations": frozenset({"key"}),
    "skills": frozenset({"path"}),
    "files": frozenset({"path"}),
    "documents": frozenset({"namespace", "key"}),
}

_COLUMNS = """
SELECT a.attname, a.attnotnull,
       coalesce((SELECT array_position(CAST(i.indkey AS int2[]), a.attnum) FROM pg_index i
                  WHERE i.indrelid = a.attrelid AND i.indisprimary), -1)
  FROM pg_attribute a
 WHERE a.attrelid = to_regclass(:table) AND a.attnum > 0 AND NOT a.attisdropped
   AND a.attgenerated = ''
 ORDER BY a.attnum
"""


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a table: all, those of the primary key, and those that need a value."""

    all: list[str]
    key: tuple[str, ...]
    required: frozenset[str]


class PostgresRows:
    """See `recollect.store.transfer.table_rows.TableRows`."""

    def __init__(self, connection: PostgresConnection, names: dict[str, ColumnNames]) -> None:
        """*names* has the columns of tables that were asked for before."""
        self._connection = connection
        self._names_by_table = names

    @property
    def connection(self) -> PostgresConnection:
        return self._connection

    def columns(self, table: str) -> list[str]:
        return self._names(table).all

    def primary_key(self, table: str) -> tuple[str, ...]:
        return self._names(table).key

    def required_columns(self, table: str) -> frozenset[str]:
        return self._names(table).required

    def find(
        self, table: str, columns: Sequence[str], row: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        names = self.columns(table)
        hashed = _HASHED.get(table, frozenset())
        conditions = [equality(columns, row)] + [
            f'md5("{name}") = md5(:{name})'
            for name in columns
            if name in hashed and row.get(name) is not None
        ]
        listed = ", ".join(f'"{name}"' for name in names)
        sql = f"SELECT {listed} FROM {table} WHERE {' AND '.join(conditions)}"
        stored = self._run(sql, {name: row.get(name) for name in columns}).fetchone()
        return dict(zip(names, stored, strict=True)) if stored else None

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        listed = ", ".join(f'"{column}"' for column in row)
        values = ", ".join(f":{column}" for column in row)
        try:
            self._run(f"INSERT INTO {table} ({listed}) VALUES ({values})", row)
        except (psycopg.IntegrityError, psycopg.DataError) as error:
            raise RowRefused(str(error).splitlines()[0]) from error

    def select(self, sql: str, values: Mapping[str, Any] | None = None) -> Iterator[Row]:
        self._connection.run_deferred()
        return stream_rows(self._connection.db, driver_sql(sql)[0], values or {})

    def execute(self, sql: str) -> None:
        self._run(sql, {})

    def _run(self, sql: str, values: Mapping[str, Any]) -> "psycopg.Cursor[Row]":
        return self._connection.run(driver_sql(sql)[0], values)

    def _names(self, table: str) -> ColumnNames:
        if table not in self._names_by_table:
            rows = self._run(_COLUMNS, {"table": table}).fetchall()
            key = sorted((place, name) for name, _, place in rows if place >= 0)
            self._names_by_table[table] = ColumnNames(
                all=[name for name, _, _ in rows],
                key=tuple(name for _, name in key),
                required=frozenset(name for name, is_required, _ in rows if is_required),
            )
        return self._names_by_table[table]
