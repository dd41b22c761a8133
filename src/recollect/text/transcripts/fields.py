"""
Fields of JSON that somebody else wrote: each may be missing, or of any type.

A field of the wrong type counts as missing, so that one odd value never costs a whole transcript.
This file knows nothing of any format.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

Record = Mapping[str, object]

_EMPTY: Record = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138; as milliseconds, 1973


def text_at(record: Record, *names: str) -> str:
    """Return the first of the fields *names* that holds a text that is not empty, else ''."""
    for name in names:
        value = record.get(name)
        if value and isinstance(value, str):
            return value
    return ""


def record_at(record: Record, name: str) -> Record:
    """Return the object in field *name*, else an empty one."""
    value = record.get(name)
    return value if is_record(value) else _EMPTY


def list_at(record: Record, name: str) -> list[object]:
    """Return the list in field *name*, else an empty one."""
    value = record.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def records_at(record: Record, name: str) -> list[Record]:
    """Return the objects in the list in field *name*."""
    return [item for item in list_at(record, name) if is_record(item)]


def moment_at(record: Record, *names: str) -> datetime | None:
    """Return the first of the fields *names* that holds a usable time."""
    for name in names:
        if found := moment(record.get(name)):
            return found
    return None


def is_record(value: object) -> TypeGuard[Record]:
    """Tell whether *value* is an object with fields."""
    return isinstance(value, dict | Mapping)


def moment(value: object) -> datetime | None:
    """
    Return *value* as an aware UTC time: ISO text, a datetime, or Unix seconds or milliseconds.

    None where it is no time, or one outside the years 1970 to 2100. Where no zone is told, UTC.
    """
    try:
        told = _datetime(value)
        if told is None:
            return None
        told = told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return told if 1970 <= told.year <= 2100 else None


def _datetime(value: object) -> datetime | None:
    match value:
        case str():
            return datetime.fromisoformat(value.strip())
        case datetime():
            return value
        case bool():
            return None
        case int() | float():
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return _EPOCH + timedelta(seconds=seconds)
        case _:
            return None
