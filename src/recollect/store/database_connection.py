"""
The interface to a database: a connection that runs named statements.

Repositories (recollect.store.repositories) are written once, on this protocol. A database joins
with a folder of `.sql` files, whose file names, statement names and parameters are the same for
every database, and with a class that runs them. That class also converts values: a repository
passes and receives Python values (times, enums, lists, records), never those of a driver.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, get_type_hints

T = TypeVar("T")
Row = tuple[Any, ...]


class RowShape(Generic[T]):
    """
    What the rows of a statement become: the type of each column, and what is built from the values.

    `types` is a function because resolving the annotations of a class takes time, and most programs
    read few kinds of rows.
    """

    def __init__(
        self, build: Callable[[Sequence[Any]], T], types: Callable[[], Sequence[Any]]
    ) -> None:
        self.build = build
        self.types = types


def record_shape(record_type: Callable[..., T], columns: str) -> RowShape[T]:
    """Return the shape of rows that become records; *columns* names their fields in order."""
    names = columns.split()

    def build(values: Sequence[Any]) -> T:
        return record_type(**dict(zip(names, values, strict=True)))

    def build_by_position(values: Sequence[Any]) -> T:
        return record_type(*values)  # faster

    has_these_fields = getattr(record_type, "__match_args__", ()) == tuple(names)
    return RowShape(
        build_by_position if has_these_fields else build, lambda: _types_of(record_type, names)
    )


def field_shape(
    record_type: Callable[..., Any], columns: str, **other_types: Any
) -> RowShape[dict[str, Any]]:
    """
    Return the shape of rows that become values by name.

    *columns* names them in order; they are fields of a record, or have one of *other_types*.
    """
    names = columns.split()
    return RowShape(
        lambda values: dict(zip(names, values, strict=True)),
        lambda: _types_of(record_type, names, other_types),
    )


def pair_shape(record_type: Callable[..., T], columns: str, last: Any) -> RowShape[tuple[T, Any]]:
    """Return the shape of rows that become a record, and the value of one more column."""
    names = columns.split()
    return RowShape(
        lambda values: (record_type(**dict(zip(names, values[:-1], strict=True))), values[-1]),
        lambda: [*_types_of(record_type, names), last],
    )


def value_shape(*types: Any) -> RowShape[Row]:
    """Return the shape of rows that become tuples of values of these types."""
    return RowShape(tuple, lambda: types)


def _types_of(
    record_type: Callable[..., Any], names: Sequence[str], other_types: Mapping[str, Any] = {}
) -> list[Any]:
    hints = {**get_type_hints(record_type), **other_types}
    return [hints[name] for name in names]


def any_json(value: Any) -> str:
    """Return the text of a column of type `Any`, which is read back equal to *value*."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class RowList(list[Mapping[str, Any]]):
    """The rows of a statement that writes many: a JSON list of objects with column values."""


class DatabaseConnection(Protocol):
    """
    A database connection inside a transaction, which the caller begins and ends.

    A statement is named by its file and its own name: `agents.add_agent`. *parameters* has a value
    for each of its parameters; further ones are ignored. Not thread-safe.
    """

    def execute(self, statement: str, parameters: Mapping[str, Any]) -> None:
        """
        Run a statement that writes.

        Its result need not have arrived when this returns: an error may be raised by a later
        statement of the transaction, or at its end.
        """

    def execute_counted(self, statement: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement that writes; return how many rows it changed."""

    def fetch_all(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> list[T]:
        """Run a statement to its end; return its rows."""

    def stream(
        self, statement: str, parameters: Mapping[str, Any], shape: RowShape[T]
    ) -> Iterator[T]:
        """Run a statement; yield its rows as they are read, so that a large table fits."""
