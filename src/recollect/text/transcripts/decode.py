"""
Text that may be JSON or JSON Lines, as a list of objects, whatever its state.

A line that is cut off or no object is skipped and counted. JSON built to do harm (nested without
end, numbers without end) counts as broken too. This file does not know what the objects mean.
"""

import json
from dataclasses import dataclass

from recollect.text.transcripts.fields import Record, is_record

_AROUND = "\ufeff \t\r\n"


@dataclass(frozen=True)
class Decoded:
    """The objects found, and how many lines (or items of a list) were none."""

    records: list[Record]
    skipped: int = 0


def decode(text: str) -> Decoded:
    """Return the objects of *text*: of a JSON list, one JSON object, or JSON Lines."""
    text = text.lstrip(_AROUND)
    whole = from_json(text) if text.startswith(("{", "[")) else None
    if whole is not None:
        return _objects(whole if isinstance(whole, list) else [whole])
    found = _objects(_lines(text))
    if text.startswith("{") or len(found.records) > found.skipped:
        return found
    return Decoded([])  # prose that quotes a line or two of JSON


def from_json(text: str) -> object:
    """Return the value *text* is JSON for, or None where it is not."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Besides JSONDecodeError, a number of more than 4,300 digits is a ValueError.
        return None


def _lines(text: str) -> list[object]:
    # Not splitlines: it also cuts at characters that JSON allows inside a string (U+2028).
    lines = (line.strip(_AROUND) for line in text.split("\n"))
    return [from_json(line) if line.startswith("{") else None for line in lines if line]


def _objects(values: list[object]) -> Decoded:
    records = [value for value in values if is_record(value)]
    return Decoded(records, skipped=len(values) - len(records))
