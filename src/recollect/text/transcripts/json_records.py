"""
Decode a text that may be JSON or JSON Lines into a list of objects.

A line that is truncated or not an object is skipped and counted. Hostile JSON (very deep nesting,
very long numbers) counts as broken too.
"""

import json

from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts.json_fields import JsonRecord, is_record

_SURROUNDING = "\ufeff \t\r\n"


@dataclass(frozen=True)
class DecodedRecords:
    """The objects found, and how many lines (or list items) were not objects."""

    records: list[JsonRecord]
    skipped: int = 0


def decode_records(text: str) -> DecodedRecords:
    """Return the objects of *text*: of a JSON list, one JSON object, or JSON Lines."""
    text = text.lstrip(_SURROUNDING)
    whole = parse_json(text) if text.startswith(("{", "[")) else None
    if whole is not None:
        return _keep_objects(whole if isinstance(whole, list) else [whole])
    decoded = _keep_objects(_lines(text))
    if text.startswith("{") or len(decoded.records) > decoded.skipped:
        return decoded
    return DecodedRecords([])  # prose that quotes a line or two of JSON


def parse_json(text: str) -> object:
    """Return the value of the JSON *text*, or None if it is not valid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Besides JSONDecodeError, a number of more than 4,300 digits is a ValueError.
        return None


def _lines(text: str) -> list[object]:
    # Not splitlines: it also splits at characters that JSON allows inside a string (U+2028).
    lines = (line.strip(_SURROUNDING) for line in text.split("\n"))
    return [parse_json(line) if line.startswith("{") else None for line in lines if line]


def _keep_objects(values: list[object]) -> DecodedRecords:
    records = [value for value in values if is_record(value)]
    return DecodedRecords(records, skipped=len(values) - len(records))
