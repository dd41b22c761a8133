"""
Server-sent events, out of the bytes of a stream.

Everything that is not an event with JSON in it is passed over: comments, `[DONE]`, broken UTF-8 or
JSON. The last event counts even if the stream was cut before the blank line that ends it, as long
as its JSON is whole. This file does not know what any event means.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recollect.text.transcripts.decode import from_json

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Event:
    """One event: its name, '' where it has none, and the JSON it carries."""

    name: str
    data: Any


def events_of(raw: bytes) -> Iterator[Event]:
    """Yield the events of *raw* in order."""
    name, lines = b"", list[bytes]()
    for line in (*_LINE_END.split(raw.removeprefix(_BOM)), b""):
        if not line:
            if event := _event(name, lines):
                yield event
            name, lines = b"", []
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            name = value


def _event(name: bytes, lines: list[bytes]) -> Event | None:
    try:
        found = from_json(b"\n".join(lines).decode())
    except UnicodeDecodeError:
        return None
    return None if found is None else Event(name.decode(errors="replace"), found)
