"""
Convert values between Python and the columns of a table, by type, in both directions.

An enum is stored as its value, a time as microseconds, a bool as 0 or 1, a mapping or a list as
JSON. Every database stores them alike, so that an export of one is an export of every other.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from recollect.clock import from_micros, to_micros
from recollect.domain.change import ChangeEffects
from recollect.domain.provenance import MentionedDate, StatementFlag
from recollect.domain.source import Evidence, Redaction
from recollect.store.database_connection import Row, RowList, RowShape
from recollect.store.row_conversion import (
    dates_json,
    effects_json,
    parse_dates,
    parse_effects,
    parse_evidence,
    parse_flags,
    parse_redactions,
    redactions_json,
    to_json,
)

T = TypeVar("T")
_UNCONVERTED = frozenset({str, int, float, bytes, NoneType})
_CONVERTERS: dict[type, Callable[[Any], Any]] = {
    datetime: to_micros,
    bool: int,
    ChangeEffects: effects_json,
}  # filled by `to_column` with the types that it meets
_PARSERS: Mapping[Any, Callable[[Any], Any]] = {
    datetime: from_micros,
    ChangeEffects: parse_effects,
    bool: bool,
}
_ROWS = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_LIST_PARSERS: Mapping[Any, Callable[[str], tuple[Any, ...]]] = {
    Evidence: parse_evidence,
    Redaction: parse_redactions,
    MentionedDate: parse_dates,
    StatementFlag: parse_flags,
}


def to_columns(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a statement as they are stored."""
    return {name: to_column(value) for name, value in parameters.items()}


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
    if issubclass(value_type, RowList):
        return _rows_json
    if issubclass(value_type, (list, tuple)):
        return _list_json
    if issubclass(value_type, Mapping):
        return lambda mapping: to_json(dict(mapping)) if mapping else "{}"
    return lambda value: value


def _rows_json(rows: RowList) -> str:
    # Not sorted: this text is not stored, and sorting takes time.
    return _ROWS.encode([{name: to_column(value) for name, value in row.items()} for row in rows])


def _list_json(values: Collection[Any]) -> str:
    if not values:
        return "[]"
    match next(iter(values)):
        case Redaction():
            return redactions_json(values)
        case MentionedDate():
            return dates_json(values)
    return to_json(values)


@cache
def row_parser(shape: RowShape[T]) -> Callable[[Row], T] | None:
    """Return the function that converts a row to that shape; None if rows stay as they are."""
    parsers = [(at, _column_parser(hint)) for at, hint in enumerate(shape.types())]
    used = [(at, parse) for at, parse in parsers if parse]
    if not used and shape.build is tuple:
        return None

    def parse_row(row: Sequence[Any]) -> T:
        values = list(row)
        for at, parse in used:
            values[at] = parse(values[at])
        return shape.build(values)

    return parse_row


def _column_parser(hint: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts a column to a value of that type, or None."""
    if hint is Any:
        return lambda text: None if text is None else json.loads(text)
    if NoneType in get_args(hint):
        [inner] = [option for option in get_args(hint) if option is not NoneType]
        parse = _column_parser(inner)
        return (lambda value: None if value is None else parse(value)) if parse else None
    if get_origin(hint) is tuple:
        if (parse_list := _LIST_PARSERS.get(get_args(hint)[0])) is not None:
            return parse_list
        return lambda text: () if not text or text == "[]" else tuple(json.loads(text))
    if get_origin(hint) is Mapping:
        return json.loads
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {member.value: member for member in hint}.__getitem__
    return _PARSERS.get(hint)
