"""
Read the answer of one turn, event by event, in the format of a vendor.

A reader gets the parsed events of a stream, or the one JSON value of a response without a stream,
yields the parts of the answer, and returns the whole at the end. The shape of what a server sends
is never trusted: what cannot be used raises `CallFailed`.
"""

import json
from collections.abc import Iterator
from typing import Any, Protocol

from recollect.lazy_dataclass import dataclass
from recollect.models.chat_response import (
    Dialect,
    json_at,
    repair_surrogates,
    token_count,
)
from recollect.models.chat_turn import Finish, Turn, TurnCall, TurnReasoning, TurnText
from recollect.models.http_post import CallFailed

_TRANSIENT = ("overloaded", "rate_limit", "api_error", "server_error", "timeout")
_FINISHES = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
}
Delta = TurnText | TurnReasoning


@dataclass
class _OpenCall:
    """A tool call whose arguments are still arriving."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class TurnReader(Protocol):
    """Reads the answer of one turn."""

    def read(self, event: Any) -> Iterator[Delta]:
        """Take one event; yield the parts of the answer that it has."""

    def turn(self) -> Turn:
        """Return the whole answer, or raise `CallFailed` if its end has not arrived."""


def turn_reader(dialect: Dialect) -> TurnReader:
    """Return a reader of one answer."""
    return _OpenAiReader() if dialect == "openai" else _AnthropicReader()


class _Reader:
    """What both readers collect."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusal = ""
        self._reason = ""
        self._calls: list[_OpenCall] = []
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None
        self._ended = False

    def turn(self) -> Turn:
        if not self._ended and not self._reason:
            raise CallFailed("ended its response too early", next_step="ask again", transient=True)
        text = repair_surrogates("".join(self._texts) or self._refusal)
        calls = tuple(self._call(place, call) for place, call in enumerate(self._calls))
        finish = _FINISHES.get(self._reason, Finish.CALLS if calls else Finish.STOP)
        if self._refusal:
            finish = Finish.REFUSED
        if not text.strip() and not calls and finish is Finish.STOP:
            raise CallFailed("answered without text and without a tool call", transient=True)
        return Turn(
            text=text,
            calls=calls,
            finish=finish,
            input_tokens=self._input_tokens,
            output_tokens=self._output_tokens,
        )

    def _call(self, place: int, call: _OpenCall) -> TurnCall:
        if not call.name:
            raise CallFailed("called a tool without a name")
        # Some servers give no ids. The history needs one that is unique in its message.
        return TurnCall(call.id or f"call_{place}", call.name, repair_surrogates(call.arguments))

    def _text(self, text: Any) -> Iterator[Delta]:
        if text is not None and not isinstance(text, str):
            raise CallFailed("answered with content that is not text")
        if text:
            self._texts.append(text)
            yield TurnText(text)


class _OpenAiReader(_Reader):
    """Reads chat completions."""

    def read(self, event: Any) -> Iterator[Delta]:
        if event is None:
            self._ended = True
            return
        _raise_error(event)
        prompt, answer = "prompt_tokens", "completion_tokens"
        self._input_tokens = token_count(json_at(event, "usage", prompt)) or self._input_tokens
        self._output_tokens = token_count(json_at(event, "usage", answer)) or self._output_tokens
        for choice in _objects(json_at(event, "choices"))[:1]:
            delta = _object(choice.get("delta") or choice.get("message"))
            yield from self._reasoning(delta)
            content = delta.get("content")
            for part in content if isinstance(content, list) else [content]:
                yield from self._text(part.get("text") if isinstance(part, dict) else part)
            self._refusal += str(delta.get("refusal") or "")
            for part in _objects(delta.get("tool_calls")):
                self._read_call(part)
            self._reason = str(choice.get("finish_reason") or self._reason)

    def _reasoning(self, delta: dict[str, Any]) -> Iterator[Delta]:
        # Ollama and vLLM; OpenAI itself sends none.
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            yield TurnReasoning(thought)

    def _read_call(self, part: dict[str, Any]) -> None:
        place, call_id = part.get("index"), str(part.get("id") or "")
        # Some servers send every call whole, without an index or all with the same one.
        call = None
        if isinstance(place, int) and 0 <= place < len(self._calls):
            call = self._calls[place]
        if call is None or (call_id and call.id not in ("", call_id)):
            call = _OpenCall()
            self._calls.append(call)
        function = _object(part.get("function"))
        call.id = call_id or call.id
        call.name = call.name or str(function.get("name") or "")
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # Ollama's own format
            arguments = to_json_text(arguments)
        call.arguments += str(arguments or "")


class _AnthropicReader(_Reader):
    """Reads messages."""

    def __init__(self) -> None:
        super().__init__()
        self._by_index: dict[Any, _OpenCall] = {}

    def read(self, event: Any) -> Iterator[Delta]:
        kind = "message_stop" if event is None else json_at(event, "type")
        if kind == "error" or json_at(event, "error"):
            _raise_error(event)
        if kind == "message":  # a response without a stream
            for index, block in enumerate(_objects(event.get("content"))):
                yield from self._start(index, block)
            self._read_end(event)
            self._ended = True
        elif kind == "message_start":
            self._read_usage(json_at(event, "message", "usage"))
        elif kind == "content_block_start":
            yield from self._start(event.get("index"), _object(event.get("content_block")))
        elif kind == "content_block_delta":
            yield from self._delta(event.get("index"), _object(event.get("delta")))
        elif kind == "message_delta":
            self._read_end({**_object(event.get("delta")), "usage": event.get("usage")})
        elif kind == "message_stop":
            self._ended = True
        elif not isinstance(kind, str):
            raise CallFailed("streamed an event without a type")

    def _start(self, index: Any, block: dict[str, Any]) -> Iterator[Delta]:
        if block.get("type") == "tool_use":
            call = _OpenCall(str(block.get("id") or ""), str(block.get("name") or ""))
            if block.get("input"):
                call.arguments = to_json_text(block["input"])
            self._calls.append(call)
            self._by_index[index] = call
        elif block.get("type", "text") == "text":
            yield from self._text(block.get("text"))

    def _delta(self, index: Any, delta: dict[str, Any]) -> Iterator[Delta]:
        match delta.get("type"):
            case "text_delta":
                yield from self._text(delta.get("text"))
            case "thinking_delta":
                yield TurnReasoning(str(delta.get("thinking") or ""))
            case "input_json_delta" if index in self._by_index:
                self._by_index[index].arguments += str(delta.get("partial_json") or "")

    def _read_end(self, end: dict[str, Any]) -> None:
        self._reason = str(end.get("stop_reason") or self._reason)
        self._read_usage(end.get("usage"))

    def _read_usage(self, usage: Any) -> None:
        read = [
            token_count(json_at(usage, name)) or 0
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        self._input_tokens = sum(read) or self._input_tokens
        self._output_tokens = token_count(json_at(usage, "output_tokens")) or self._output_tokens


def to_json_text(value: Any) -> str:
    """Return *value*, which was parsed from JSON, as JSON again."""
    return json.dumps(value, ensure_ascii=False)


def _raise_error(event: Any) -> None:
    error = json_at(event, "error")
    if not error:
        return
    kind = f"{json_at(error, 'type') or ''} {json_at(error, 'code') or ''}"
    transient = any(name in kind for name in _TRANSIENT)
    message = json_at(error, "message") or error
    raise CallFailed(f"answered with an error: {message}", transient=transient)


def _objects(values: Any) -> list[dict[str, Any]]:
    if not isinstance(values, list | None):
        raise CallFailed("answered with an event of an unknown shape")
    return [_object(value) for value in values or []]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        raise CallFailed("answered with an event of an unknown shape")
    return value or {}
