"""Run the named statements of queries/*.sql on a PostgreSQL connection."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from itertools import count
from typing import Any, TypeVar

import psycopg
from psycopg.rows import TupleRow
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from recollect.store import query_loader
from recollect.store.column_values import row_parser, to_column
from recollect.store.database_connection import Row, RowShape

T = TypeVar("T")
FETCH_ROWS = 2_000  # of a stream, in one round trip
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
_cursor_names = count()


class PostgresConnection:
    """
    See `recollect.store.database_connection.DatabaseConnection`.

    Between `start_pipeline` and `end_pipeline` the server is not waited for until a result is
    needed: a write of fifteen statements takes six round trips.
    """

    def __init__(self, db: "psycopg.Connection[TupleRow]") -> None:
        self.db = db
        self._pipeline: psycopg.Pipeline | None = None
        self._pipeline_context = ExitStack()

    def start_pipeline(self) -> None:
        """Send the statements that follow without waiting for each, if the driver can do that."""
        if self._pipeline is None and psycopg.Pipeline.is_supported():
            self._pipeline = self._pipeline_context.enter_context(self.db.pipeline())

    def finish_statements(self) -> None:
        """Wait until what was sent is carried out; raises the first error."""
        if self._pipeline is not None:
            self._pipeline.sync()

    def end_pipeline(self) -> None:
        """Do the same, and wait for each statement from now on."""
        self._pipeline = None
        self._pipeline_context.close()

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self._start(statement, parameters)

    def execute_counted(self, statement: str, parameters: Mapping[str, Any]) -> int:
        cursor = self._start(statement, parameters)
        self.finish_statements()
        return cursor.rowcount

    def fetch_all(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> list[T]:
        rows = self._start(statement, parameters).fetchall()
        parse = row_parser(shape)
        return rows if parse is None else [parse(row) for row in rows]  # type: ignore[return-value]

    def fetch_one(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> T | None:
        rows = self.fetch_all(statement, parameters, shape)
        return rows[0] if rows else None

    def stream(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> Iterator[T]:
        sql, names = _statement(statement)
        self.end_pipeline()  # in which there are no server-side cursors
        rows = stream_rows(self.db, sql, {name: to_column(parameters[name]) for name in names})
        parse = row_parser(shape)
        yield from rows if parse is None else map(parse, rows)  # type: ignore[misc]

    def _start(self, statement: str, parameters: Mapping[str, Any]) -> "psycopg.Cursor[TupleRow]":
        sql, names = _statement(statement)
        values = {name: to_column(parameters[name]) for name in names}
        return self.db.execute(sql, values, binary=True)


def stream_rows(
    db: "psycopg.Connection[TupleRow]", sql: str, values: Mapping[str, Any]
) -> Iterator[Row]:
    """Run a query in driver form; yield its rows as they are read."""
    # The cursor is the server's: a client-side one would hold the whole result.
    with db.cursor(name=f"recollect_{next(_cursor_names)}") as cursor:
        cursor.itersize = FETCH_ROWS
        cursor.execute(sql, values, binary=True)
        yield from cursor


def configure(db: "psycopg.Connection[TupleRow]") -> None:
    """
    Fix the types of parameters.

    By default psycopg chooses the type of a number by its size, and leaves that of a text to the
    server, so that one statement would be several.
    """
    db.adapters.register_dumper(str, StrDumper)
    db.adapters.register_dumper(int, Int8Dumper)


def driver_sql(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return *sql* with its `:name` parameters as psycopg writes them, and their names."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")), names


@cache
def _statement(statement: str) -> tuple[str, tuple[str, ...]]:
    file, _, name = statement.partition(".")
    return driver_sql(query_loader.load("postgres", file)[name])
