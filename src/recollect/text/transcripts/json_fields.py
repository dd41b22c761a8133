"""
Read fields of JSON objects from other programs, which may be missing or of any type.

A field of the wrong type counts as missing, so that one invalid value does not lose a transcript.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

JsonRecord = Mapping[str, object]

_EMPTY: JsonRecord = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138; as milliseconds, 1973


def text_at(record: JsonRecord, *names: str) -> str:
    """Return the first of the fields *names* that is a non-empty text, else ''."""
    for name in names:
        value = record.get(name)
        if value and isinstance(value, str):
            return value
    return ""


def record_at(record: JsonRecord, name: str) -> JsonRecord:
    """Return the object in field *name*, else an empty one."""
    value = record.get(name)
    return value if is_record(value) else _EMPTY


def list_at(record: JsonRecord, name: str) -> list[object]:
    """Return the list in field *name*, else an empty one."""
    value = record.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def records_at(record: JsonRecord, name: str) -> list[JsonRecord]:
    """Return the objects in the list in field *name*."""
    return [item for item in list_at(record, name) if is_record(item)]


def time_at(record: JsonRecord, *names: str) -> datetime | None:
    """Return the first of the fields *names* that is a valid time, else None."""
    for name in names:
        if time := parse_time(record.get(name)):
            return time
    return None


def is_record(value: object) -> TypeGuard[JsonRecord]:
    """Return whether *value* is a JSON object."""
    return isinstance(value, dict | Mapping)


def parse_time(value: object) -> datetime | None:
    """
    Return *value* as an aware UTC time: ISO text, a datetime, or Unix seconds or milliseconds.

    Returns None if it is not a time, or outside the years 1970 to 2100. Without a zone, it is UTC.
    """
    try:
        time = _to_datetime(value)
        if time is None:
            return None
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return time if 1970 <= time.year <= 2100 else None


def _to_datetime(value: object) -> datetime | None:
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
