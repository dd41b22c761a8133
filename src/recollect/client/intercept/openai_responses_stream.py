"""
Assemble a streamed response of the Responses API.

The last event contains the complete response. The items are assembled as well, for streams that
are cut before it and for servers that omit them from it.
"""

from collections.abc import Iterable
from dataclasses import field

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import SseEvent
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts import json_fields as fields

_START_EVENTS = ("response.created", "response.queued", "response.in_progress")
_END_EVENTS = ("response.completed", "response.incomplete", "response.failed")
# event: the type and the field of the message part that it extends
_TEXT_EVENTS = {
    "response.output_text": ("output_text", "text"),
    "response.refusal": ("refusal", "refusal"),
}
# event: the type and the field of the call item that it extends
_CALL_EVENTS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}


def assemble_stream(events: Iterable[SseEvent]) -> Json:
    """Return the response that *events* add up to."""
    top: Json = {}
    items: dict[int, _OutputItem] = {}
    for event in events:
        data = event.data if fields.is_record(event.data) else {}
        kind = fields.text_at(data, "type") or event.name
        if kind in _START_EVENTS or kind in _END_EVENTS:
            top |= fields.record_at(data, "response")
        elif "output_index" in data:
            items.setdefault(_index(data, "output_index"), _OutputItem()).add(kind, data)
    if fields.records_at(top, "output"):
        return top
    assembled = [items[index].assembled() for index in sorted(items)]
    return {**top, "output": [item for item in assembled if item]}


@dataclass
class _OutputItem:
    """One output item while its events arrive."""

    start: fields.JsonRecord = field(default_factory=dict)
    done: fields.JsonRecord = field(default_factory=dict)
    parts: dict[int, tuple[str, str, list[str]]] = field(default_factory=dict)
    call: tuple[str, str, list[str]] | None = None

    def add(self, kind: str, data: fields.JsonRecord) -> None:
        event, _, step = kind.rpartition(".")
        if kind == "response.output_item.added":
            self.start = fields.record_at(data, "item")
        elif kind == "response.output_item.done":
            self.done = fields.record_at(data, "item")
        elif event in _TEXT_EVENTS:
            part = self.parts.setdefault(_index(data, "content_index"), (*_TEXT_EVENTS[event], []))
            _add_text(part[2], step, data, part[1])
        elif event in _CALL_EVENTS:
            self.call = self.call or (*_CALL_EVENTS[event], [])
            _add_text(self.call[2], step, data, self.call[1])

    def assembled(self) -> Json:
        if self.done:
            return dict(self.done)
        if self.call:
            kind, name, pieces = self.call
            return {"type": kind, **self.start, name: "".join(pieces)}
        if self.parts:
            parts = [self.parts[index] for index in sorted(self.parts)]
            content = [{"type": kind, name: "".join(pieces)} for kind, name, pieces in parts]
            return {"type": "message", "role": "assistant", **self.start, "content": content}
        return dict(self.start)


def _add_text(pieces: list[str], step: str, data: fields.JsonRecord, name: str) -> None:
    if step == "delta":
        pieces.append(fields.text_at(data, "delta"))
    elif step == "done" and (text := fields.text_at(data, name)):
        pieces[:] = [text]


def _index(record: fields.JsonRecord, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) else 0
