"""
The base class of the tables: run the named statements of a `.sql` file, and convert values.

Values are converted by type, in both directions: an enum is stored as its value, a time as
microseconds, a bool as 0 or 1, a mapping or a tuple as JSON.
"""

import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from enum import Enum
from types import NoneType
from typing import Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.memory import ChangeEffects
from recollect.domain.source import Redaction
from recollect.store.sqlite.row_conversion import (
    Row,
    effects_json,
    parse_effects,
    parse_redactions,
    redactions_json,
    to_json,
)
from recollect.store.sqlite.word_index import SqliteWordIndex

T = TypeVar("T")
Record = TypeVar("Record", covariant=True)
_UNCONVERTED = frozenset({str, int, float, bytes, NoneType})
_CONVERTERS: dict[type, Callable[[Any], Any]] = {
    datetime: to_micros,
    bool: int,
    ChangeEffects: effects_json,
}  # filled by `to_column` with the types that it meets
_PARSERS: Mapping[Any, Callable[[Any], Any]] = {
    datetime: from_micros,
    ChangeEffects: parse_effects,
}


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

    def _all(self, parse: Callable[[Row], T], statement: str, /, **values: Any) -> list[T]:
        """Return all rows as records."""
        return [parse(row) for row in self._run(statement, **values)]

    def _count_then_delete(self, steps: tuple[str, ...], record_id: str) -> dict[str, int]:
        """Run the statements that delete a record; return how many rows each table had of it."""
        cursor = self._run("count_related_rows", id=record_id)
        names = [column[0] for column in cursor.get_description()]
        counts = dict(zip(names, next(cursor), strict=True))
        cursor.close()
        for step in steps:
            self._run(step, id=record_id)
        return counts


class SqliteIndexedTable(SqliteTable):
    """A table whose records are in the word index."""

    def __init__(self, db: apsw.Connection, word_index: SqliteWordIndex) -> None:
        super().__init__(db)
        self._word_index = word_index


def to_column(value: Any) -> Any:
    """Return *value* as it is stored."""
    value_type = type(value)
    if value_type in _UNCONVERTED:
        return value
    convert = _CONVERTERS.get(value_type)
    if convert is None:
        convert = _CONVERTERS[value_type] = _converter(value_type)
    return convert(value)


def _converter(value_type: type) -> Callable[[Any], Any]:
    """Return the function that converts values of that type to column values."""
    if issubclass(value_type, Enum):
        return {member: member.value for member in value_type}.__getitem__
    if issubclass(value_type, (list, tuple)):
        return _list_json
    if issubclass(value_type, Mapping):
        return lambda mapping: to_json(dict(mapping)) if mapping else "{}"
    return lambda value: value


def _list_json(values: Collection[Any]) -> str:
    if not values:
        return "[]"
    is_redactions = isinstance(next(iter(values)), Redaction)
    return redactions_json(values) if is_redactions else to_json(values)


def field_values(record: Any, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as parameters of a statement."""
    names = record.__dataclass_fields__  # `fields()` builds a tuple on every call
    return {name: getattr(record, name) for name in names if name not in without}


class RowParser(Protocol[Record]):
    """Build a record from a row, and from fields that stand elsewhere."""

    def __call__(self, row: Row, /, **other_fields: Any) -> Record: ...


def row_parser(record_type: Callable[..., Record], columns: str) -> RowParser[Record]:
    """Return a function that builds a record from a row; *columns* names its fields in order."""
    hints, names = get_type_hints(record_type), columns.split()
    parsers = [(at, _field_parser(hints[name])) for at, name in enumerate(names)]
    used = [(at, parse) for at, parse in parsers if parse]

    def parse_row(row: Row, /, **other_fields: Any) -> Record:
        values = list(row)
        for at, parse in used:
            values[at] = parse(values[at])
        return record_type(**dict(zip(names, values, strict=True)), **other_fields)

    return parse_row


def _field_parser(hint: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a column to a field of that type, or None."""
    if NoneType in get_args(hint):
        [inner] = [option for option in get_args(hint) if option is not NoneType]
        parse = _field_parser(inner)
        return (lambda value: None if value is None else parse(value)) if parse else None
    if get_origin(hint) is tuple:
        if get_args(hint)[0] is Redaction:
            return parse_redactions
        return lambda text: () if not text or text == "[]" else tuple(json.loads(text))
    if get_origin(hint) is Mapping:
        return json.loads
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {member.value: member for member in hint}.__getitem__
    return bool if hint is bool else _PARSERS.get(hint)
