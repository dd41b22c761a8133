"""
A streamed answer of the Responses API, put together.

The last event brings the whole answer. The items are gathered on the way for a stream that is cut
before it, and for servers that leave them out of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import Event
from recollect.text.transcripts.fields import Record, is_record, record_at, records_at, text_at

_BEGINS = ("response.created", "response.queued", "response.in_progress")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
# The text that grows: event, and the type and field of the part of a message it belongs to.
_SPEECH = {
    "response.output_text": ("output_text", "text"),
    "response.refusal": ("refusal", "refusal"),
}
# The same for calls: event, and the type and field of the item.
_CALLS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}


def assembled(events: Iterable[Event]) -> Json:
    """Return the answer that *events* make up."""
    top: Json = {}
    items: dict[int, _Item] = {}
    for event in events:
        told = event.data if is_record(event.data) else {}
        kind = text_at(told, "type") or event.name
        if kind in _BEGINS or kind in _ENDS:
            top |= record_at(told, "response")
        elif "output_index" in told:
            items.setdefault(_index(told, "output_index"), _Item()).read(kind, told)
    if records_at(top, "output"):
        return top
    whole = [items[at].whole() for at in sorted(items)]
    return {**top, "output": [item for item in whole if item]}


@dataclass
class _Item:
    """One item of the output, while it is written."""

    begun: Record = field(default_factory=dict)
    done: Record = field(default_factory=dict)
    parts: dict[int, tuple[str, str, list[str]]] = field(default_factory=dict)
    call: tuple[str, str, list[str]] | None = None

    def read(self, kind: str, told: Record) -> None:
        event, _, step = kind.rpartition(".")
        if kind == "response.output_item.added":
            self.begun = record_at(told, "item")
        elif kind == "response.output_item.done":
            self.done = record_at(told, "item")
        elif event in _SPEECH:
            of, name = _SPEECH[event]
            part = self.parts.setdefault(_index(told, "content_index"), (of, name, []))
            _grow(part[2], step, told, part[1])
        elif event in _CALLS:
            of, name = _CALLS[event]
            self.call = self.call or (of, name, [])
            _grow(self.call[2], step, told, self.call[1])

    def whole(self) -> Json:
        if self.done:
            return dict(self.done)
        if self.call:
            of, name, pieces = self.call
            return {"type": of, **self.begun, name: "".join(pieces)}
        if self.parts:
            ordered = [self.parts[at] for at in sorted(self.parts)]
            content = [{"type": of, name: "".join(said)} for of, name, said in ordered]
            return {"type": "message", "role": "assistant", **self.begun, "content": content}
        return dict(self.begun)


def _grow(pieces: list[str], step: str, told: Record, name: str) -> None:
    if step == "delta":
        pieces.append(text_at(told, "delta"))
    elif step == "done" and (whole := text_at(told, name)):
        pieces[:] = [whole]


def _index(record: Record, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) else 0
