"""Run the named statements of queries/*.sql on a PostgreSQL connection."""

import re
import secrets
from collections.abc import Iterator, Mapping
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
MAX_DEFERRED = 100
FETCH_ROWS = 2_000  # of a stream, in one round trip
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
_cursor_names = count()


class PostgresConnection:
    """
    See `recollect.store.database_connection.DatabaseConnection`.

    Between `start_deferring` and `run_deferred` statements that only write are sent together with
    the next one that has a result: a write of fifteen statements takes seven round trips. They are
    not sent earlier, because between two round trips the server must know that the transaction is
    idle: it ends one whose process hangs.
    """

    def __init__(self, db: "psycopg.Connection[TupleRow]") -> None:
        self.db = db
        self._is_deferring = False
        self._deferred: list[tuple[str, Mapping[str, Any] | None]] = []

    def start_deferring(self) -> None:
        """Let statements that only write wait for the next one, if the driver can send several."""
        self._is_deferring = psycopg.Pipeline.is_supported()
        self._deferred.clear()

    def run_deferred(self) -> None:
        """Carry out the statements that wait; raises the error of the first that fails."""
        if self._deferred:
            self._run_together(None)

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self.defer(*_bind(statement, parameters))

    def defer(self, sql: str, values: Mapping[str, Any] | None = None) -> None:
        """Run a statement in driver form whose result nobody needs, later if that is allowed."""
        if not self._is_deferring:
            self.run(sql, values)
            return
        self._deferred.append((sql, values))
        if len(self._deferred) == MAX_DEFERRED:
            self.run_deferred()

    def execute_counted(self, statement: str, parameters: Mapping[str, Any]) -> int:
        return self.run(*_bind(statement, parameters)).rowcount

    def fetch_all(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> list[T]:
        rows = self.run(*_bind(statement, parameters)).fetchall()
        parse = row_parser(shape)
        return rows if parse is None else [parse(row) for row in rows]  # type: ignore[return-value]

    def stream(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> Iterator[T]:
        self.run_deferred()
        rows = stream_rows(self.db, *_bind(statement, parameters))
        parse = row_parser(shape)
        yield from rows if parse is None else map(parse, rows)  # type: ignore[misc]

    def run(self, sql: str, values: Mapping[str, Any] | None = None) -> "psycopg.Cursor[TupleRow]":
        """Run a statement in driver form after those that wait; return its cursor."""
        if not self._deferred:
            return self.db.execute(sql, values, binary=True)
        return self._run_together((sql, values))

    def _run_together(
        self, last: "tuple[str, Mapping[str, Any] | None] | None"
    ) -> "psycopg.Cursor[TupleRow]":
        """Carry out the statements that wait, and *last*, none after one that fails."""
        statements = [*self._deferred, *([] if last is None else [last])]
        self._deferred.clear()
        first_error: psycopg.Error | None = None
        try:
            with self.db.pipeline():
                try:
                    for sql, values in statements:
                        cursor = self.db.execute(sql, values, binary=True)
                except psycopg.Error as error:  # of an earlier one; the end would log the others
                    first_error = error
        except psycopg.Error as error:
            first_error = first_error or error
        if first_error is not None:
            # What should have been prepared after the error is not, but psycopg takes it for
            # prepared: forget all. The statement that rolls back tells the server, too.
            self.db._prepared.clear()
            raise first_error
        return cursor


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
    Fix the types of parameters, and the names of prepared statements.

    By default psycopg chooses the type of a number by its size, and leaves that of a text to the
    server, so that one statement would be several. It also counts prepared statements from 0 in
    each connection; behind a pooler that the address does not name, the number would then stand
    for a statement of another client, which would be run without an error.
    """
    db._prepared._prepared_idx = secrets.randbits(48)
    db.adapters.register_dumper(str, StrDumper)
    db.adapters.register_dumper(int, Int8Dumper)


def driver_sql(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return *sql* with its `:name` parameters as psycopg writes them, and their names."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")), names


def _bind(statement: str, parameters: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return a named statement in driver form, and its parameters as they are stored."""
    sql, names = _statement(statement)
    return sql, {name: to_column(parameters[name]) for name in names}


@cache
def _statement(statement: str) -> tuple[str, tuple[str, ...]]:
    file, _, name = statement.partition(".")
    return driver_sql(query_loader.load("postgres", file)[name])
