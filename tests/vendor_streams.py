"""
The events of a streamed response, made from its complete body, so that both add up to the same.

Texts and tool arguments are split into several pieces. This file turns bodies into events, and
events into the bytes of one chunk each.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from vendor_responses import Dialect, error_body

_PIECES = 4


class VendorEvent(NamedTuple):
    """One server-sent event. Events of OpenAI's chat have no name."""

    name: str | None
    data: Mapping[str, Any] | str


def stream_events(
    body: Mapping[str, Any], dialect: Dialect, request: Mapping[str, Any]
) -> list[VendorEvent]:
    """Return the events that add up to *body*."""
    if dialect == "chat":
        options = request.get("stream_options") or {}
        return list(_chat_events(body, with_usage=bool(options.get("include_usage"))))
    return list(_response_events(body) if dialect == "responses" else _message_events(body))


def error_event(dialect: Dialect, number: int) -> VendorEvent:
    """Return the error event with that *number* in a stream."""
    status = 529 if dialect == "messages" else 500
    data = error_body(dialect, status)
    if dialect == "chat":
        return VendorEvent(None, data)
    if dialect == "responses":  # nested, as the live service sends it and not as it is documented
        data = {"type": "error", "sequence_number": number} | data
    return VendorEvent("error", data)


def encode_event(event: VendorEvent) -> bytes:
    """Return the bytes of an event."""
    data = event.data if isinstance(event.data, str) else json.dumps(event.data, ensure_ascii=False)
    head = f"event: {event.name}\n" if event.name else ""
    return f"{head}data: {data}\n\n".encode()


def split_inside_character(event: bytes) -> list[bytes]:
    """Return *event* split inside its first multi-byte character, or whole if it has none."""
    for index, byte in enumerate(event):
        if byte >= 0xC0:
            return [event[: index + 1], event[index + 1 :]]
    return [event]


def _pieces(text: str) -> Iterator[str]:
    size = max(1, -(-len(text) // _PIECES))
    return (text[start : start + size] for start in range(0, len(text), size))


# chat.completions


def _chat_events(body: Mapping[str, Any], *, with_usage: bool) -> Iterator[VendorEvent]:
    kept = ("id", "created", "model", "service_tier", "system_fingerprint")
    head = {key: body[key] for key in kept} | {"object": "chat.completion.chunk"}
    head |= {"usage": None} if with_usage else {}
    # Several choices come in turns, as they do from the vendor.
    turns = zip_longest(*(_choice_chunks(choice) for choice in body["choices"]))
    for choice in filter(None, chain.from_iterable(turns)):
        yield VendorEvent(None, head | {"choices": [choice]})
    if with_usage:
        yield VendorEvent(None, head | {"choices": [], "usage": body["usage"]})
    yield VendorEvent(None, "[DONE]")


def _choice_chunks(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    chunk = {"index": choice["index"], "logprobs": None, "finish_reason": None}
    for delta in _message_deltas(choice["message"]):
        yield chunk | {"delta": delta}
    yield chunk | {"delta": {}, "finish_reason": choice["finish_reason"]}


def _message_deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    opening = None if message["content"] is None else ""
    yield {"role": "assistant", "content": opening, "refusal": None}
    yield from ({"content": piece} for piece in _pieces(message["content"] or ""))
    yield from ({"refusal": piece} for piece in _pieces(message["refusal"] or ""))
    for index, call in enumerate(message.get("tool_calls", [])):
        named = call["function"] | {"arguments": ""}
        yield {"tool_calls": [{"index": index} | call | {"function": named}]}
        for piece in _pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


# responses


def _response_events(body: Mapping[str, Any]) -> Iterator[VendorEvent]:
    opening: dict[str, Any] = {
        "status": "in_progress",
        "output": [],
        "usage": None,
        "incomplete_details": None,
    }
    started = {"response": dict(body) | opening}
    steps: Iterable[tuple[str, dict[str, Any]]] = chain(
        [("response.created", started), ("response.in_progress", started)],
        chain.from_iterable(_item_steps(index, item) for index, item in enumerate(body["output"])),
        [(f"response.{body['status']}", {"response": body})],
    )
    for number, (name, data) in enumerate(steps):
        yield VendorEvent(name, {"type": name, "sequence_number": number} | data)


def _item_steps(index: int, item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    hollow: dict[str, dict[str, Any]] = {"message": {"content": []}, "reasoning": {"summary": []}}
    empty = hollow.get(item["type"], {"arguments": ""})
    status = {"status": "in_progress"} if "status" in item else {}
    at = {"output_index": index, "item_id": item["id"]}
    started = dict(item) | empty | status
    yield "response.output_item.added", {"output_index": index, "item": started}
    if item["type"] == "function_call":
        name = "response.function_call_arguments"
        for piece in _pieces(item["arguments"]):
            yield f"{name}.delta", at | {"delta": piece}
        yield f"{name}.done", at | {"name": item["name"], "arguments": item["arguments"]}
    for place, part in enumerate(item.get("content", [])):
        yield from _part_steps(part, at | {"content_index": place})
    for place, part in enumerate(item.get("summary", [])):
        yield from _summary_steps(part, at | {"summary_index": place})
    yield "response.output_item.done", {"output_index": index, "item": item}


def _part_steps(
    part: Mapping[str, Any], at: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = part["type"]
    field = "refusal" if kind == "refusal" else "text"
    extra: dict[str, Any] = {} if kind == "refusal" else {"logprobs": []}
    yield "response.content_part.added", at | {"part": dict(part) | {field: ""}}
    for piece in _pieces(part[field]):
        yield f"response.{kind}.delta", at | {"delta": piece} | extra
    yield f"response.{kind}.done", at | {field: part[field]} | extra
    yield "response.content_part.done", at | {"part": part}


def _summary_steps(
    part: Mapping[str, Any], at: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    name = "response.reasoning_summary"
    yield f"{name}_part.added", at | {"part": dict(part) | {"text": ""}}
    for piece in _pieces(part["text"]):
        yield f"{name}_text.delta", at | {"delta": piece}
    yield f"{name}_text.done", at | {"text": part["text"]}
    yield f"{name}_part.done", at | {"part": part}


# messages


def _message_events(body: Mapping[str, Any]) -> Iterator[VendorEvent]:
    stops = {key: body[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    opening: dict[str, Any] = {"content": []} | dict.fromkeys(stops)
    opening["usage"] = body["usage"] | {"output_tokens": 1}
    yield _named("message_start", message=dict(body) | opening)
    for index, block in enumerate(body["content"]):
        yield from _block_events(index, block)
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    yield _named("message_delta", delta=stops, usage=usage)
    yield _named("message_stop")


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[VendorEvent]:
    empty: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
    }
    kind = block["type"]
    opened = dict(block) | empty[kind]
    yield _named("content_block_start", index=index, content_block=opened)
    yield _named("ping")
    for delta in _block_deltas(kind, block):
        yield _named("content_block_delta", index=index, delta=delta)
    yield _named("content_block_stop", index=index)


def _block_deltas(kind: str, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if kind == "tool_use":
        yield {"type": "input_json_delta", "partial_json": ""}
        written = block["input"]
        if not isinstance(written, str):  # a text is what a model got wrong
            written = json.dumps(written, ensure_ascii=False)
        for piece in _pieces(written):
            yield {"type": "input_json_delta", "partial_json": piece}
        return
    for piece in _pieces(block[kind]):
        yield {"type": f"{kind}_delta", kind: piece}
    if kind == "thinking":
        yield {"type": "signature_delta", "signature": block["signature"]}


def _named(name: str, **data: Any) -> VendorEvent:
    return VendorEvent(name, {"type": name} | data)
