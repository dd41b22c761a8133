"""
A streamed message of Anthropic's, put together: blocks that begin, grow by deltas, and stop.

The input of a tool arrives as pieces of JSON; it is read at the end, and kept as text if cut.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import Event
from recollect.text.transcripts.decode import from_json
from recollect.text.transcripts.fields import Record, is_record, list_at, record_at, text_at

# Which field of its block a delta makes longer, by the delta's own field.
_GROWS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "compaction_delta": ("content", "content"),
    "input_json_delta": ("partial_json", "input"),
}


def assembled(events: Iterable[Event]) -> Json:
    """Return the message that *events* make up, or the error that came in its place."""
    message: Json = {}
    usage: Json = {}
    blocks: dict[int, _Block] = {}
    error: Record = {}
    for event in events:
        told = event.data if is_record(event.data) else {}
        match text_at(told, "type") or event.name:
            case "message_start":
                message |= record_at(told, "message")
                usage |= record_at(message, "usage")
            case "content_block_start":
                blocks[_index(told)] = _Block(record_at(told, "content_block"))
            case "content_block_delta":
                blocks.setdefault(_index(told), _Block({})).read(record_at(told, "delta"))
            case "message_delta":
                message |= record_at(told, "delta")
                usage |= record_at(told, "usage")
            case "error":
                error = told
            case _:
                pass  # pings, and the end of blocks, which brings nothing
    if error and not blocks:
        return dict(error)
    if usage:
        message["usage"] = usage
    if blocks or "content" not in message:
        message["content"] = [blocks[at].whole() for at in sorted(blocks)]
    return message


@dataclass
class _Block:
    """One block, while it is written."""

    begun: Record
    pieces: dict[str, list[str]] = field(default_factory=dict)  # by field
    citations: list[Any] = field(default_factory=list)

    def read(self, delta: Record) -> None:
        kind = text_at(delta, "type")
        if kind == "citations_delta":
            self.citations.append(delta.get("citation"))
        elif kind in _GROWS:
            told, name = _GROWS[kind]
            self.pieces.setdefault(name, []).append(text_at(delta, told))

    def whole(self) -> Json:
        block = dict(self.begun)
        for name, pieces in self.pieces.items():
            text = "".join(pieces)
            if name != "input":
                block[name] = text_at(self.begun, name) + text
            elif text:
                block[name] = _parsed(text)
        if self.citations:
            block["citations"] = [*list_at(self.begun, "citations"), *self.citations]
        if "text" in self.pieces:
            block.setdefault("type", "text")  # its start was missed
        return block


def _parsed(text: str) -> Any:
    found = from_json(text)
    return text if found is None else found


def _index(record: Record) -> int:
    value = record.get("index")
    return value if isinstance(value, int) else 0
