"""
A streamed chat completion, put together: each chunk brings a little more of each choice.

What is no text and no call (log probabilities, padding, filters) is not kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from recollect.client.intercept.dialect import Json
from recollect.client.intercept.sse import Event
from recollect.text.transcripts.fields import Record, is_record, record_at, records_at, text_at

_TOP = ("id", "created", "model", "service_tier", "system_fingerprint", "usage")


def assembled(events: Iterable[Event]) -> Json:
    """Return the completion that *events* make up."""
    top: Json = {}
    choices: dict[int, _Choice] = {}
    for event in events:
        chunk = event.data if is_record(event.data) else {}
        top |= {key: chunk[key] for key in _TOP if chunk.get(key) is not None}
        for part in records_at(chunk, "choices"):
            choices.setdefault(_index(part) or 0, _Choice()).read(part)
    whole = [choices[at].whole(at) for at in sorted(choices)]
    return {"object": "chat.completion", **top, "choices": whole}


@dataclass
class _Call:
    """One call of a tool, while its arguments come in."""

    id: str = ""
    kind: str = "function"
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def read(self, delta: Record) -> None:
        kind = "custom" if is_record(delta.get("custom")) else self.kind
        told = record_at(delta, kind)
        self.kind = kind
        self.id = self.id or text_at(delta, "id")
        self.name = self.name or text_at(told, "name")
        self.arguments.append(text_at(told, "arguments", "input"))

    def whole(self) -> Json:
        asked = {"name": self.name, self._field(): "".join(self.arguments)}
        return {"id": self.id, "type": self.kind, self.kind: asked}

    def _field(self) -> str:
        return "input" if self.kind == "custom" else "arguments"


@dataclass
class _Choice:
    """One choice, while it is written."""

    texts: dict[str, list[str]] = field(default_factory=dict)  # by field of the message
    calls: list[_Call] = field(default_factory=list)
    at: dict[int, _Call] = field(default_factory=dict)  # the call an index means now
    old_call: _Call | None = None  # `function_call`, from before there were `tool_calls`
    ended: str | None = None

    def read(self, part: Record) -> None:
        delta = record_at(part, "delta")
        for name, said in (
            ("content", text_at(delta, "content")),
            ("refusal", text_at(delta, "refusal")),
            ("audio", text_at(record_at(delta, "audio"), "transcript")),
        ):
            if said:
                self.texts.setdefault(name, []).append(said)
        for call in records_at(delta, "tool_calls"):
            self._call(call).read(call)
        if old := record_at(delta, "function_call"):
            self.old_call = self.old_call or _Call()
            self.old_call.read({"function": old})
        self.ended = text_at(part, "finish_reason") or self.ended

    def whole(self, index: int) -> Json:
        texts = {name: "".join(said) for name, said in self.texts.items()}
        message: Json = {"role": "assistant", "content": None, "refusal": None, **texts}
        if "audio" in texts:
            message["audio"] = {"transcript": texts["audio"]}
        if self.calls:
            message["tool_calls"] = [call.whole() for call in self.calls]
        if self.old_call:
            message["function_call"] = self.old_call.whole()["function"]
        return {"index": index, "message": message, "finish_reason": self.ended}

    def _call(self, delta: Record) -> _Call:
        named, index = text_at(delta, "id"), _index(delta)
        # Some servers leave the index out, and send one call after the other.
        last = self.calls[-1] if self.calls else None
        known = last if index is None else self.at.get(index)
        # Others give every call the index 0; a new call has an id and a name of its own.
        anew = named and text_at(record_at(delta, "function"), "name")
        if known is None or (anew and known.id and known.id != named):
            known = _Call()
            self.calls.append(known)
        if index is not None:
            self.at[index] = known
        return known


def _index(record: Record) -> int | None:
    value = record.get("index")
    return value if isinstance(value, int) and not isinstance(value, bool) else None
