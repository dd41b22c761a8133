"""
Parse the bytes of a stream: server-sent events, or one JSON value per line.

Everything except events with JSON is ignored: comments, `[DONE]`, invalid UTF-8 or JSON. The last
event counts even if the stream was cut before the blank line that ends it, if its JSON is complete.
"""

import re
from collections.abc import Iterator
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts.json_records import parse_json

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class SseEvent:
    """One event: its name, or '', and its JSON data."""

    name: str
    data: Any


def parse_events(raw: bytes) -> Iterator[SseEvent]:
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


def parse_json_lines(raw: bytes) -> Iterator[SseEvent]:
    """Yield the JSON value of each line of *raw* as an event without a name."""
    for line in _LINE_END.split(raw.removeprefix(_BOM)):
        if event := _event(b"", [line]):
            yield event


def _event(name: bytes, lines: list[bytes]) -> SseEvent | None:
    try:
        data = parse_json(b"\n".join(lines).decode())
    except UnicodeDecodeError:
        return None
    return None if data is None else SseEvent(name.decode(errors="replace"), data)
