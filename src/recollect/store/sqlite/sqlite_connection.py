"""Run the named statements of queries/*.sql on a SQLite connection."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

import apsw

from recollect.store import query_loader
from recollect.store.column_values import row_parser, to_columns
from recollect.store.database_connection import RowShape
from recollect.store.indexes.word_index import WordIndex
from recollect.store.indexes.word_tokenizer import WordTokenizer

T = TypeVar("T")


class SqliteConnection:
    """See `recollect.store.database_connection.DatabaseConnection`."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self._start(statement, parameters)

    def execute_counted(self, statement: str, parameters: Mapping[str, Any]) -> int:
        self._start(statement, parameters)
        return self.db.changes()

    def fetch_all(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> list[T]:
        rows = self._start(statement, parameters).fetchall()
        parse = row_parser(shape)
        return rows if parse is None else [parse(row) for row in rows]  # type: ignore[return-value]

    def stream(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> Iterator[T]:
        rows = self._start(statement, parameters)
        parse = row_parser(shape)
        yield from rows if parse is None else map(parse, rows)

    def _start(self, statement: str, parameters: Mapping[str, Any]) -> apsw.Cursor:
        return self.db.execute(_sql(statement), to_columns(parameters))


@cache
def _sql(statement: str) -> str:
    file, _, name = statement.partition(".")
    return query_loader.load("sqlite", file)[name]


def open_word_index(db: apsw.Connection) -> WordIndex:
    """Return the word index of a connection."""
    return WordIndex(SqliteConnection(db), WordTokenizer(db))
