"""The base class of the repositories: run the statements of one `.sql` file."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeVar

from recollect.store.database_connection import DatabaseConnection, RowShape, value_shape
from recollect.store.item_index import ItemIndex

T = TypeVar("T")

# Before and after every time that is stored, for statements with a time range.
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_PLAIN = value_shape()


class Repository:
    """The rows of a table, or of a few that belong together, inside one transaction."""

    _statements: ClassVar[str]  # the file of its statements, without its ending

    def __init__(self, connection: DatabaseConnection) -> None:
        self._connection = connection

    def _run(self, statement: str, /, **values: Any) -> None:
        """Run a statement that writes; its error may be raised by a later one, or at the end."""
        self._connection.execute(f"{self._statements}.{statement}", values)

    def _run_counted(self, statement: str, /, **values: Any) -> int:
        """Run a statement that writes; return how many rows it changed."""
        return self._connection.execute_counted(f"{self._statements}.{statement}", values)

    def _all(self, shape: RowShape[T], statement: str, /, **values: Any) -> list[T]:
        """Return all rows as records."""
        return self._connection.fetch_all(f"{self._statements}.{statement}", values, shape)

    def _first(self, shape: RowShape[T], statement: str, /, **values: Any) -> T | None:
        """Return the first row as a record, or None."""
        rows = self._all(shape, statement, **values)
        return rows[0] if rows else None

    def _stream(self, shape: RowShape[T], statement: str, /, **values: Any) -> Iterator[T]:
        """Yield the rows as records."""
        return self._connection.stream(f"{self._statements}.{statement}", values, shape)

    def _rows(self, statement: str, /, **values: Any) -> list[Any]:
        """Return all rows of texts and numbers; their types are known where they are used."""
        return self._all(_PLAIN, statement, **values)

    def _column(self, statement: str, /, **values: Any) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self._rows(statement, **values)]

    def _value(self, statement: str, /, **values: Any) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = self._first(_PLAIN, statement, **values)
        return row[0] if row else None


class IndexedRepository(Repository):
    """A repository whose records are in the search index."""

    def __init__(self, connection: DatabaseConnection, index: ItemIndex) -> None:
        super().__init__(connection)
        self._index = index


def field_values(record: Any, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as parameters of a statement."""
    names = record.__dataclass_fields__  # `fields()` builds a tuple on every call
    return {name: getattr(record, name) for name in names if name not in without}
