"""
Put a streamed answer together: the answer it would have been in one piece.

We never ask for a stream, but some proxies send one regardless. Server-sent events are lines of
`field: value`, an empty line ends an event, a line that begins with a colon is a comment. Anything
else is garbage, and a stream that stops before its end is no answer: both are `CallFailed`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from recollect.models.chat_answer import Dialect, at
from recollect.models.post import CallFailed, read_json

DONE = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_LINE_END = re.compile(r"\r\n|\n|\r")  # not splitlines: JSON may hold U+2028 as it is


def whole_answer(dialect: Dialect, body: bytes) -> Any:
    """Return the answer that the stream *body* carries, in the shape of one sent whole."""
    events = _events(body)
    return _openai(events) if dialect == "openai" else _anthropic(events)


def _events(body: bytes) -> Iterator[dict[str, Any] | None]:
    """Yield each event's value, and None for the mark that says nothing more will come."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CallFailed(f"streamed something that is no text: {error}") from error
    for data in _data(_LINE_END.split(text)):
        if data.strip() == DONE:
            yield None
            return
        event = read_json(data, finite=True)
        if not isinstance(event, dict):
            raise CallFailed(f"streamed something that is no event: {data}")
        yield event


def _data(lines: Iterable[str]) -> Iterator[str]:
    """Yield the data of each event; an event without any, such as a ping, is left out."""
    data: list[str] = []
    for line in (*lines, ""):  # some servers leave out the empty line after the last event
        field, _, value = line.partition(":")
        if line and field and field not in _FIELDS:
            raise CallFailed(f"streamed something that is no event: {line}")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line:
            if any(data):
                yield "\n".join(data)
            data = []


def _openai(events: Iterable[dict[str, Any] | None]) -> Any:
    parts: list[Any] = []
    refusal = ""
    reason = usage = None
    ended = False
    for event in events:
        if event is None:
            ended = True
            continue
        if event.get("error"):
            return event
        usage = event.get("usage") or usage
        for choice in _objects(event.get("choices")):
            delta = _object(choice.get("delta") or choice.get("message"))
            content = delta.get("content")
            parts += content if isinstance(content, list) else [content]
            refusal += str(delta.get("refusal") or "")
            reason = choice.get("finish_reason") or reason
    _check_ended(ended or reason is not None)
    message = {"content": parts, "refusal": refusal}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _anthropic(events: Iterable[dict[str, Any] | None]) -> Any:
    parts: list[Any] = []
    usage: dict[str, Any] = {}
    reason = None
    ended = False
    for event in events:
        match "message_stop" if event is None else event.get("type"):
            case "error":
                return event
            case "message_start":
                usage |= _object(at(event, "message", "usage"))
            case "content_block_start":
                parts.append(_object(at(event, "content_block")))
            case "content_block_delta":
                delta = _object(at(event, "delta"))
                parts.append(delta.get("text") if delta.get("type") == "text_delta" else None)
            case "message_delta":
                usage |= _object(at(event, "usage"))
                reason = at(event, "delta", "stop_reason") or reason
            case "message_stop":
                ended = True
            case str():
                pass  # a ping, or what a later version of the API adds
            case _:
                raise CallFailed("streamed an event without a type")
    _check_ended(ended or reason is not None)
    return {"content": parts, "stop_reason": reason, "usage": usage}


def _objects(values: Any) -> list[dict[str, Any]]:
    if not isinstance(values, list | None):
        raise CallFailed("streamed an event of another shape")
    return [_object(value) for value in values or []]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        raise CallFailed("streamed an event of another shape")
    return value or {}


def _check_ended(ended: bool) -> None:
    if not ended:
        raise CallFailed("broke its answer off before the end", next_step="ask again")
