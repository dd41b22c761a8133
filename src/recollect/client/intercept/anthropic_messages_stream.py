"""
Assemble a streamed message of Anthropic: blocks that start, grow by deltas, and stop.

The input of a tool arrives as pieces of JSON. It is parsed at the end, or left as text if cut.
"""

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import SseEvent
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts import json_fields as fields
from recollect.text.transcripts.json_records import parse_json

# type of the delta: its own field, and the field of the block that it extends
_DELTA_FIELDS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "compaction_delta": ("content", "content"),
    "input_json_delta": ("partial_json", "input"),
}


def assemble_stream(events: Iterable[SseEvent]) -> Json:
    """Return the message that *events* add up to, or the error that was sent instead."""
    message: Json = {}
    usage: Json = {}
    blocks: dict[int, _MessageBlock] = {}
    error: fields.JsonRecord = {}
    for event in events:
        data = event.data if fields.is_record(event.data) else {}
        match fields.text_at(data, "type") or event.name:
            case "message_start":
                message |= fields.record_at(data, "message")
                usage |= fields.record_at(message, "usage")
            case "content_block_start":
                blocks[_index(data)] = _MessageBlock(fields.record_at(data, "content_block"))
            case "content_block_delta":
                block = blocks.setdefault(_index(data), _MessageBlock({}))
                block.add(fields.record_at(data, "delta"))
            case "message_delta":
                message |= fields.record_at(data, "delta")
                usage |= fields.record_at(data, "usage")
            case "error":
                error = data
            case _:
                pass  # pings and ends of blocks have no content
    if error and not blocks:
        return dict(error)
    if usage:
        message["usage"] = usage
    if blocks or "content" not in message:
        message["content"] = [blocks[index].assembled() for index in sorted(blocks)]
    return message


@dataclass
class _MessageBlock:
    """One content block while its deltas arrive."""

    start: fields.JsonRecord
    pieces: dict[str, list[str]] = field(default_factory=dict)  # by field
    citations: list[Any] = field(default_factory=list)

    def add(self, delta: fields.JsonRecord) -> None:
        kind = fields.text_at(delta, "type")
        if kind == "citations_delta":
            self.citations.append(delta.get("citation"))
        elif kind in _DELTA_FIELDS:
            delta_field, block_field = _DELTA_FIELDS[kind]
            self.pieces.setdefault(block_field, []).append(fields.text_at(delta, delta_field))

    def assembled(self) -> Json:
        block = dict(self.start)
        for name, pieces in self.pieces.items():
            text = "".join(pieces)
            if name != "input":
                block[name] = fields.text_at(self.start, name) + text
            elif text:
                value = parse_json(text)
                block[name] = text if value is None else value
        if self.citations:
            block["citations"] = [*fields.list_at(self.start, "citations"), *self.citations]
        if "text" in self.pieces:
            block.setdefault("type", "text")  # the start event is missing
        return block


def _index(record: fields.JsonRecord) -> int:
    value = record.get("index")
    return value if isinstance(value, int) else 0
