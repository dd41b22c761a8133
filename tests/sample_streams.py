"""Streams of language models: turn a complete response into the events that a vendor sends."""

import json
from collections.abc import Iterator
from typing import Any

from recollect.client.intercept.sse import SseEvent

Json = dict[str, Any]


def as_sse(events: list[SseEvent], *, end: bytes = b"\n") -> bytes:
    """Return *events* as the bytes of a stream."""
    lines: list[bytes] = []
    for event in events:
        lines += [b"event: " + event.name.encode()] if event.name else []
        lines += [b"data: " + json.dumps(event.data).encode(), b""]
    return end.join([*lines, b"data: [DONE]", b"", b""])


def chat_stream(answer: Json, *, size: int = 3) -> list[SseEvent]:
    """Return the chunks of a chat completion, texts cut into pieces of *size*."""
    top = {key: answer[key] for key in ("id", "created", "model")}
    top |= {"object": "chat.completion.chunk", "obfuscation": "xyz"}

    def chunk(index: int, delta: Json, ended: str | None = None) -> SseEvent:
        choice = {"index": index, "delta": delta, "finish_reason": ended}
        return SseEvent("", {**top, "choices": [choice]})

    events: list[SseEvent] = []
    for choice in answer["choices"]:
        message, index = choice["message"], choice["index"]
        events.append(chunk(index, {"role": "assistant", "content": ""}))
        for name in ("content", "refusal"):
            events += [chunk(index, {name: piece}) for piece in _split(message.get(name), size)]
        for at, call in enumerate(message.get("tool_calls") or []):
            function = call["function"]
            start = {**call, "index": at, "function": {**function, "arguments": ""}}
            events.append(chunk(index, {"tool_calls": [start]}))
            for piece in _split(function["arguments"], size):
                more = {"index": at, "function": {"arguments": piece}}
                events.append(chunk(index, {"tool_calls": [more]}))
        events.append(chunk(index, {}, choice["finish_reason"]))
    return [*events, SseEvent("", {**top, "choices": [], "usage": answer["usage"]})]


def responses_stream(answer: Json, *, size: int = 3) -> list[SseEvent]:
    """Return the events of a response, texts cut into pieces of *size*."""
    start = {**answer, "status": "in_progress", "output": []}
    events = [_event("response.created", {"response": start})]
    for at, item in enumerate(answer["output"]):
        events += _item_events(at, item, size)
    return [*events, _event(f"response.{answer['status']}", {"response": answer})]


def messages_stream(answer: Json, *, size: int = 3) -> list[SseEvent]:
    """Return the events of a message, texts cut into pieces of *size*."""
    start = {**answer, "content": [], "stop_reason": None}
    events = [_event("message_start", {"message": start}), _event("ping", {})]
    for at, block in enumerate(answer["content"]):
        empty, deltas = _block_deltas(block, size)
        events.append(_event("content_block_start", {"index": at, "content_block": empty}))
        events += [_event("content_block_delta", {"index": at, "delta": delta}) for delta in deltas]
        events.append(_event("content_block_stop", {"index": at}))
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events.append(_event("message_delta", {"delta": ended, "usage": {"output_tokens": 9}}))
    return [*events, _event("message_stop", {})]


def _item_events(at: int, item: Json, size: int) -> Iterator[SseEvent]:
    place = {"output_index": at, "item_id": item["id"]}
    field = {"function_call": "arguments", "custom_tool_call": "input"}.get(item["type"])
    empty = {**item, "content": []} if item["type"] == "message" else dict(item)
    if field:
        empty[field] = ""
    yield _event("response.output_item.added", {"output_index": at, "item": empty})
    if field:
        event = {"arguments": "function_call_arguments", "input": "custom_tool_call_input"}[field]
        for piece in _split(item[field], size):
            yield _event(f"response.{event}.delta", {**place, "delta": piece})
        yield _event(f"response.{event}.done", {**place, field: item[field]})
    for index, part in enumerate(item["content"] if item["type"] == "message" else []):
        name = "refusal" if part["type"] == "refusal" else "text"
        event = "refusal" if part["type"] == "refusal" else "output_text"
        here = {**place, "content_index": index}
        yield _event("response.content_part.added", {**here, "part": {**part, name: ""}})
        for piece in _split(part[name], size):
            more = {"delta": piece, "obfuscation": "xyz"}
            yield _event(f"response.{event}.delta", {**here, **more})
        yield _event(f"response.{event}.done", {**here, name: part[name]})
        yield _event("response.content_part.done", {**here, "part": part})
    yield _event("response.output_item.done", {"output_index": at, "item": item})


def _block_deltas(block: Json, size: int) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            texts = [{"type": "text_delta", "text": piece} for piece in _split(block["text"], size)]
            citations = [
                {"type": "citations_delta", "citation": citation}
                for citation in block.get("citations") or []
            ]
            return {"type": "text", "text": ""}, [*texts, *citations]
        case "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": piece}
                for piece in _split(block["thinking"], size)
            ]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
        case "tool_use" | "server_tool_use":
            written = json.dumps(block["input"]) if block["input"] else ""
            pieces = ["", *_split(written, size)]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
            return {**block, "input": {}}, deltas
        case _:
            return block, []


def _event(name: str, data: Json) -> SseEvent:
    return SseEvent(name, {"type": name, **data})


def _split(text: str | None, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)] if text else []


def ollama_stream(answer: Json, *, size: int = 3) -> list[SseEvent]:
    """Return the lines of a response of Ollama, its text cut into pieces of *size*."""
    message = answer["message"]
    texts: list[Json] = [{"content": piece} for piece in _split(message["content"], size)]
    calls: list[Json] = [{"tool_calls": [call]} for call in message.get("tool_calls", [])]
    start = {"model": answer["model"], "done": False}
    pieces = [{**start, "message": {"role": "assistant", **piece}} for piece in (*texts, *calls)]
    end = {**answer, "message": {"role": "assistant", "content": ""}}
    return [SseEvent("", chunk) for chunk in (*pieces, end)]


def gemini_stream(answer: Json, *, size: int = 3) -> list[SseEvent]:
    """Return the chunks of a response of Gemini, its text cut into pieces of *size*."""
    [candidate] = answer["candidates"]
    parts: list[Json] = []
    for part in candidate["content"]["parts"]:
        parts += (
            [{"text": piece} for piece in _split(part["text"], size)] if "text" in part else [part]
        )
    chunks: list[Json] = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
        for part in parts
    ]
    end = {**answer, "candidates": [{"finishReason": candidate["finishReason"], "index": 0}]}
    return [SseEvent("", chunk) for chunk in (*chunks, end)]


def as_json_lines(events: list[SseEvent]) -> bytes:
    """Return *events* as the bytes of a stream of JSON lines."""
    return b"".join(json.dumps(event.data).encode() + b"\n" for event in events)
