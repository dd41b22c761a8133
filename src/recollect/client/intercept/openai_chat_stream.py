"""
Assemble a streamed chat completion: each chunk has a delta of each choice.

Log probabilities, padding and filter results are ignored.
"""

from collections.abc import Iterable
from dataclasses import field

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import SseEvent
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts import json_fields as fields

_TOP_FIELDS = ("id", "created", "model", "service_tier", "system_fingerprint", "usage")


def assemble_stream(events: Iterable[SseEvent]) -> Json:
    """Return the completion that *events* add up to."""
    top: Json = {}
    choices: dict[int, _StreamedChoice] = {}
    for event in events:
        chunk = event.data if fields.is_record(event.data) else {}
        top |= {key: chunk[key] for key in _TOP_FIELDS if chunk.get(key) is not None}
        for part in fields.records_at(chunk, "choices"):
            choices.setdefault(_index(part) or 0, _StreamedChoice()).add(part)
    assembled = [choices[index].assembled(index) for index in sorted(choices)]
    return {"object": "chat.completion", **top, "choices": assembled}


@dataclass
class _StreamedCall:
    """One tool call while its arguments arrive."""

    id: str = ""
    kind: str = "function"
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, delta: fields.JsonRecord) -> None:
        kind = "custom" if fields.is_record(delta.get("custom")) else self.kind
        function = fields.record_at(delta, kind)
        self.kind = kind
        self.id = self.id or fields.text_at(delta, "id")
        self.name = self.name or fields.text_at(function, "name")
        self.arguments.append(fields.text_at(function, "arguments", "input"))

    def assembled(self) -> Json:
        arguments = "input" if self.kind == "custom" else "arguments"
        function = {"name": self.name, arguments: "".join(self.arguments)}
        return {"id": self.id, "type": self.kind, self.kind: function}


@dataclass
class _StreamedChoice:
    """One choice while its deltas arrive."""

    texts: dict[str, list[str]] = field(default_factory=dict)  # by field of the message
    calls: list[_StreamedCall] = field(default_factory=list)
    call_by_index: dict[int, _StreamedCall] = field(default_factory=dict)  # the latest call
    function_call: _StreamedCall | None = None  # the format before `tool_calls`
    finish_reason: str | None = None

    def add(self, part: fields.JsonRecord) -> None:
        delta = fields.record_at(part, "delta")
        for name, text in (
            ("content", fields.text_at(delta, "content")),
            ("refusal", fields.text_at(delta, "refusal")),
            ("audio", fields.text_at(fields.record_at(delta, "audio"), "transcript")),
        ):
            if text:
                self.texts.setdefault(name, []).append(text)
        for call in fields.records_at(delta, "tool_calls"):
            self._find_call(call).add(call)
        if function := fields.record_at(delta, "function_call"):
            self.function_call = self.function_call or _StreamedCall()
            self.function_call.add({"function": function})
        self.finish_reason = fields.text_at(part, "finish_reason") or self.finish_reason

    def assembled(self, index: int) -> Json:
        texts = {name: "".join(pieces) for name, pieces in self.texts.items()}
        message: Json = {"role": "assistant", "content": None, "refusal": None, **texts}
        if "audio" in texts:
            message["audio"] = {"transcript": texts["audio"]}
        if self.calls:
            message["tool_calls"] = [call.assembled() for call in self.calls]
        if self.function_call:
            message["function_call"] = self.function_call.assembled()["function"]
        return {"index": index, "message": message, "finish_reason": self.finish_reason}

    def _find_call(self, delta: fields.JsonRecord) -> _StreamedCall:
        """Return the call that *delta* belongs to; add a new one if it starts one."""
        call_id, index = fields.text_at(delta, "id"), _index(delta)
        # Some servers omit the index and send one call after the other.
        last = self.calls[-1] if self.calls else None
        call = last if index is None else self.call_by_index.get(index)
        # Others use index 0 for every call; a new call has its own id and name.
        starts_call = call_id and fields.text_at(fields.record_at(delta, "function"), "name")
        if call is None or (starts_call and call.id and call.id != call_id):
            call = _StreamedCall()
            self.calls.append(call)
        if index is not None:
            self.call_by_index[index] = call
        return call


def _index(record: fields.JsonRecord) -> int | None:
    value = record.get("index")
    return value if isinstance(value, int) and not isinstance(value, bool) else None
