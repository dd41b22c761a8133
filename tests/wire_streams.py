"""Answers of language models as their vendors stream them: a whole answer in, its events out."""

import json
from collections.abc import Iterator
from typing import Any

from recollect.client.intercept.sse import Event

Json = dict[str, Any]


def as_sse(events: list[Event], *, end: bytes = b"\n") -> bytes:
    """Return *events* as the bytes of a stream."""
    lines: list[bytes] = []
    for event in events:
        lines += [b"event: " + event.name.encode()] if event.name else []
        lines += [b"data: " + json.dumps(event.data).encode(), b""]
    return end.join([*lines, b"data: [DONE]", b"", b""])


def chat_stream(answer: Json, *, size: int = 3) -> list[Event]:
    """Return the chunks of a chat completion, texts cut into pieces of *size*."""
    top = {key: answer[key] for key in ("id", "created", "model")}
    top |= {"object": "chat.completion.chunk", "obfuscation": "xyz"}

    def chunk(index: int, delta: Json, ended: str | None = None) -> Event:
        choice = {"index": index, "delta": delta, "finish_reason": ended}
        return Event("", {**top, "choices": [choice]})

    events: list[Event] = []
    for choice in answer["choices"]:
        message, index = choice["message"], choice["index"]
        events.append(chunk(index, {"role": "assistant", "content": ""}))
        for name in ("content", "refusal"):
            events += [chunk(index, {name: piece}) for piece in _cut(message.get(name), size)]
        for at, call in enumerate(message.get("tool_calls") or []):
            function = call["function"]
            start = {**call, "index": at, "function": {**function, "arguments": ""}}
            events.append(chunk(index, {"tool_calls": [start]}))
            for piece in _cut(function["arguments"], size):
                more = {"index": at, "function": {"arguments": piece}}
                events.append(chunk(index, {"tool_calls": [more]}))
        events.append(chunk(index, {}, choice["finish_reason"]))
    return [*events, Event("", {**top, "choices": [], "usage": answer["usage"]})]


def responses_stream(answer: Json, *, size: int = 3) -> list[Event]:
    """Return the events of a response, texts cut into pieces of *size*."""
    begun = {**answer, "status": "in_progress", "output": []}
    events = [_named("response.created", {"response": begun})]
    for at, item in enumerate(answer["output"]):
        events += _item_events(at, item, size)
    return [*events, _named(f"response.{answer['status']}", {"response": answer})]


def messages_stream(answer: Json, *, size: int = 3) -> list[Event]:
    """Return the events of a message, texts cut into pieces of *size*."""
    begun = {**answer, "content": [], "stop_reason": None}
    events = [_named("message_start", {"message": begun}), _named("ping", {})]
    for at, block in enumerate(answer["content"]):
        empty, deltas = _block_deltas(block, size)
        events.append(_named("content_block_start", {"index": at, "content_block": empty}))
        events += [_named("content_block_delta", {"index": at, "delta": one}) for one in deltas]
        events.append(_named("content_block_stop", {"index": at}))
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events.append(_named("message_delta", {"delta": ended, "usage": {"output_tokens": 9}}))
    return [*events, _named("message_stop", {})]


def _item_events(at: int, item: Json, size: int) -> Iterator[Event]:
    place = {"output_index": at, "item_id": item["id"]}
    grows = {"function_call": "arguments", "custom_tool_call": "input"}.get(item["type"])
    empty = {**item, "content": []} if item["type"] == "message" else dict(item)
    if grows:
        empty[grows] = ""
    yield _named("response.output_item.added", {"output_index": at, "item": empty})
    if grows:
        event = {"arguments": "function_call_arguments", "input": "custom_tool_call_input"}[grows]
        for piece in _cut(item[grows], size):
            yield _named(f"response.{event}.delta", {**place, "delta": piece})
        yield _named(f"response.{event}.done", {**place, grows: item[grows]})
    for index, part in enumerate(item["content"] if item["type"] == "message" else []):
        name = "refusal" if part["type"] == "refusal" else "text"
        event = "refusal" if part["type"] == "refusal" else "output_text"
        here = {**place, "content_index": index}
        yield _named("response.content_part.added", {**here, "part": {**part, name: ""}})
        for piece in _cut(part[name], size):
            more = {"delta": piece, "obfuscation": "xyz"}
            yield _named(f"response.{event}.delta", {**here, **more})
        yield _named(f"response.{event}.done", {**here, name: part[name]})
        yield _named("response.content_part.done", {**here, "part": part})
    yield _named("response.output_item.done", {"output_index": at, "item": item})


def _block_deltas(block: Json, size: int) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            texts = [{"type": "text_delta", "text": one} for one in _cut(block["text"], size)]
            cited = [
                {"type": "citations_delta", "citation": one} for one in block.get("citations") or []
            ]
            return {"type": "text", "text": ""}, [*texts, *cited]
        case "thinking":
            thought = [
                {"type": "thinking_delta", "thinking": one} for one in _cut(block["thinking"], size)
            ]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thought, signed]
        case "tool_use" | "server_tool_use":
            written = json.dumps(block["input"]) if block["input"] else ""
            pieces = ["", *_cut(written, size)]
            deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces]
            return {**block, "input": {}}, deltas
        case _:
            return block, []


def _named(name: str, told: Json) -> Event:
    return Event(name, {"type": name, **told})


def _cut(text: str | None, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] if text else []
