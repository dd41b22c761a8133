"""
Join a streamed chat response into the JSON value it would be without streaming.

Requests never ask for a stream, but some proxies send one regardless. Server-sent events are lines
of `field: value`, an empty line ends an event, a line that begins with a colon is a comment.
Anything else, and a stream that stops before its end, raises `CallFailed`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from recollect.models.chat_response import Dialect, json_at
from recollect.models.http_post import CallFailed, read_json

DONE = "[DONE]"
_FIELDS = ("data", "event", "id", "retry")
_LINE_END = re.compile(r"\r\n|\n|\r")  # not splitlines: JSON may hold U+2028 as it is


def join_stream(dialect: Dialect, body: bytes) -> Any:
    """Return the response that the stream *body* carries, in the shape of one sent whole."""
    events = _parse_events(body)
    return _join_openai(events) if dialect == "openai" else _join_anthropic(events)


def _parse_events(body: bytes) -> Iterator[dict[str, Any] | None]:
    """Yield the value of each event, and None for the end mark."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CallFailed(f"streamed something that is not text: {error}") from error
    for data in _event_data(_LINE_END.split(text)):
        if data.strip() == DONE:
            yield None
            return
        event = read_json(data, finite=True)
        if not isinstance(event, dict):
            raise CallFailed(f"streamed something that is not an event: {data}")
        yield event


def _event_data(lines: Iterable[str]) -> Iterator[str]:
    """Yield the data of each event; events without data, such as pings, are skipped."""
    data: list[str] = []
    for line in (*lines, ""):  # some servers leave out the empty line after the last event
        field, _, value = line.partition(":")
        if line and field and field not in _FIELDS:
            raise CallFailed(f"streamed something that is not an event: {line}")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line:
            if any(data):
                yield "\n".join(data)
            data = []


def _join_openai(events: Iterable[dict[str, Any] | None]) -> Any:
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
    _require_end(ended or reason is not None)
    message = {"content": parts, "refusal": refusal}
    return {"choices": [{"message": message, "finish_reason": reason}], "usage": usage}


def _join_anthropic(events: Iterable[dict[str, Any] | None]) -> Any:
    parts: list[Any] = []
    usage: dict[str, Any] = {}
    reason = None
    ended = False
    for event in events:
        match "message_stop" if event is None else event.get("type"):
            case "error":
                return event
            case "message_start":
                usage |= _object(json_at(event, "message", "usage"))
            case "content_block_start":
                parts.append(_object(json_at(event, "content_block")))
            case "content_block_delta":
                delta = _object(json_at(event, "delta"))
                parts.append(delta.get("text") if delta.get("type") == "text_delta" else None)
            case "message_delta":
                usage |= _object(json_at(event, "usage"))
                reason = json_at(event, "delta", "stop_reason") or reason
            case "message_stop":
                ended = True
            case str():
                pass  # a ping, or an event of a later API version
            case _:
                raise CallFailed("streamed an event without a type")
    _require_end(ended or reason is not None)
    return {"content": parts, "stop_reason": reason, "usage": usage}


def _objects(values: Any) -> list[dict[str, Any]]:
    if not isinstance(values, list | None):
        raise CallFailed("streamed an event of an unknown shape")
    return [_object(value) for value in values or []]


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        raise CallFailed("streamed an event of an unknown shape")
    return value or {}


def _require_end(ended: bool) -> None:
    if not ended:
        raise CallFailed("ended its response too early", next_step="ask again")
