"""The base class of an index that runs the named statements of a `.sql` file."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import apsw

from recollect.store.sqlite.row_conversion import Row
from recollect.store.sqlite.sqlite_connection import to_column

T = TypeVar("T")


class SqliteTable:
    """A table, or a few that belong together, on one connection."""

    _sql: ClassVar[Mapping[str, str]]  # the statements, by name

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def _run(self, statement: str, /, **values: Any) -> apsw.Cursor:
        """Execute a statement with these parameters, each converted to a column value."""
        converted = {name: to_column(value) for name, value in values.items()}
        return self._db.execute(self._sql[statement], converted)

    def _rows(self, statement: str, /, **values: Any) -> list[Any]:
        """Return all rows; their types are known where the query is written."""
        return list(self._run(statement, **values))

    def _column(self, statement: str, /, **values: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self._run(statement, **values)]

    def _first(self, parse: Callable[[Row], T], statement: str, /, **values: Any) -> T | None:
        """Return the first row as a record, or None."""
        row = self._run(statement, **values).fetchone()
        return parse(row) if row else None
