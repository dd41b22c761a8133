"""
Every way of asking a vendor through its own package, as a table: resources by ways.

    seen = see(server, "chat", "stream", question("chat", "Hello?"))

What is seen is all that the caller sees, as JSON: the events of a stream, then the final object if
the package gives one. So a bare call and one inside an interceptor can be compared as a whole. The
same ways stand in ASYNC_WAYS, as coroutines. This file knows nothing of answers.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel

from vendor_server import VendorServer

Seen = list[Any]


class Note(BaseModel):
    """What `parse` asks for."""

    title: str
    count: int


@dataclass(frozen=True)
class Resource:
    """One object of a package that asks models."""

    vendor: str
    of: Callable[[Any], Any]
    form: str  # the keyword of `parse` and `stream` for the class of the answer
    final: str


RESOURCES: Mapping[str, Resource] = {
    "chat": Resource(
        "openai", lambda c: c.chat.completions, "response_format", "get_final_completion"
    ),
    "responses": Resource("openai", lambda c: c.responses, "text_format", "get_final_response"),
    "messages": Resource("anthropic", lambda c: c.messages, "output_format", "get_final_message"),
    "beta": Resource("anthropic", lambda c: c.beta.messages, "output_format", "get_final_message"),
}


def question(resource: str, text: str, **more: Any) -> dict[str, Any]:
    """Return the arguments that ask *text*."""
    if resource == "responses":
        return {"model": "gpt-test", "input": text} | more
    turns = [{"role": "user", "content": text}]
    if resource == "chat":
        return {"model": "gpt-test", "messages": turns} | more
    return {"model": "claude-test", "max_tokens": 500, "messages": turns} | more


_ONCE: dict[str, Any] = {"max_retries": 0, "api_key": "test"}


@contextmanager
def openai_client(server: VendorServer, **how: Any) -> Iterator[openai.OpenAI]:
    """Give a client that asks *server* once and never again by itself."""
    how = _ONCE | how
    with openai.OpenAI(base_url=server.openai_url, **how) as client:
        yield client


@contextmanager
def anthropic_client(server: VendorServer, **how: Any) -> Iterator[anthropic.Anthropic]:
    """Give a client that asks *server* once and never again by itself."""
    how = _ONCE | how
    with anthropic.Anthropic(base_url=server.anthropic_url, **how) as client:
        yield client


def client_of(resource: str, server: VendorServer, **how: Any) -> Any:
    """Return the client, for a `with`, that has *resource*."""
    ours = openai_client if RESOURCES[resource].vendor == "openai" else anthropic_client
    return ours(server, **how)


def async_client_of(resource: str, server: VendorServer, **how: Any) -> Any:
    """Return the asynchronous client, for an `async with`, that has *resource*."""
    how = _ONCE | how
    if RESOURCES[resource].vendor == "openai":
        return openai.AsyncOpenAI(base_url=server.openai_url, **how)
    return anthropic.AsyncAnthropic(base_url=server.anthropic_url, **how)


def as_json(value: Any) -> Any:
    """Return what the caller sees as JSON; unset fields and nulls left out."""
    if not isinstance(value, BaseModel):
        return value
    # The packages put their own richer types into fields declared otherwise; pydantic would warn.
    return value.model_dump(mode="json", exclude_none=True, warnings=False)


def streamed_text(seen: Seen) -> str:
    """Return the text that the events, or lines, of any vendor's raw stream add up to."""
    parts: list[str | None] = []
    for event in _events(seen):
        if event.get("object") == "chat.completion.chunk":
            parts += [choice["delta"].get("content") for choice in event["choices"]]
        elif event.get("type") == "response.output_text.delta":
            parts.append(event["delta"])
        elif event.get("type") == "content_block_delta":
            parts.append(event["delta"].get("text"))
    return "".join(filter(None, parts))


def _events(seen: Seen) -> Iterator[dict[str, Any]]:
    for event in seen:
        if not isinstance(event, str):
            yield event
        elif event.startswith("data: {"):
            yield json.loads(event.removeprefix("data: "))


# The ways, one after the other


def _create(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    return [as_json(to.of(client).create(**ask))]


def _create_stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    with to.of(client).create(stream=True, **ask) as stream:
        return [as_json(event) for event in stream]


def _raw(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    return [as_json(to.of(client).with_raw_response.create(**ask).parse())]


def _raw_stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    with to.of(client).with_raw_response.create(stream=True, **ask).parse() as stream:
        return [as_json(event) for event in stream]


def _streaming(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    with to.of(client).with_streaming_response.create(**ask) as response:
        return [as_json(response.parse())]


def _streaming_lines(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    with to.of(client).with_streaming_response.create(stream=True, **ask) as response:
        return list(response.iter_lines())


def _parse(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    return [as_json(to.of(client).parse(**ask, **{to.form: Note}))]


def _stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    with to.of(client).stream(**ask) as stream:
        seen = [as_json(event) for event in stream]
        return [*seen, as_json(getattr(stream, to.final)())]


WAYS: Mapping[str, Callable[[Resource, Any, dict[str, Any]], Seen]] = {
    "create": _create,
    "create_stream": _create_stream,
    "raw": _raw,
    "raw_stream": _raw_stream,
    "streaming": _streaming,
    "streaming_lines": _streaming_lines,
    "parse": _parse,
    "stream": _stream,
}


# The same, awaited


async def _settled(value: Any) -> Any:
    """Return *value*, awaited where a package makes it so: their raw responses differ in that."""
    return await value if isawaitable(value) else value


async def _async_create(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    return [as_json(await to.of(client).create(**ask))]


async def _async_create_stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    async with await to.of(client).create(stream=True, **ask) as stream:
        return [as_json(event) async for event in stream]


async def _async_raw(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    response = await to.of(client).with_raw_response.create(**ask)
    return [as_json(await _settled(response.parse()))]


async def _async_raw_stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    response = await to.of(client).with_raw_response.create(stream=True, **ask)
    async with await _settled(response.parse()) as stream:
        return [as_json(event) async for event in stream]


async def _async_streaming(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    async with to.of(client).with_streaming_response.create(**ask) as response:
        return [as_json(await response.parse())]


async def _async_streaming_lines(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    async with to.of(client).with_streaming_response.create(stream=True, **ask) as response:
        return [line async for line in response.iter_lines()]


async def _async_parse(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    return [as_json(await to.of(client).parse(**ask, **{to.form: Note}))]


async def _async_stream(to: Resource, client: Any, ask: dict[str, Any]) -> Seen:
    async with to.of(client).stream(**ask) as stream:
        seen = [as_json(event) async for event in stream]
        return [*seen, as_json(await getattr(stream, to.final)())]


ASYNC_WAYS: Mapping[str, Callable[[Resource, Any, dict[str, Any]], Awaitable[Seen]]] = {
    "create": _async_create,
    "create_stream": _async_create_stream,
    "raw": _async_raw,
    "raw_stream": _async_raw_stream,
    "streaming": _async_streaming,
    "streaming_lines": _async_streaming_lines,
    "parse": _async_parse,
    "stream": _async_stream,
}


# One cell of the table


def see(server: VendorServer, resource: str, way: str, ask: dict[str, Any], **how: Any) -> Seen:
    """Ask in one way; skips the test where the package has no such method."""
    with client_of(resource, server, **how) as client:
        _need(RESOURCES[resource].of(client), way)
        return WAYS[way](RESOURCES[resource], client, ask)


def see_async(
    server: VendorServer, resource: str, way: str, ask: dict[str, Any], **how: Any
) -> Seen:
    """Ask in one way, awaited in a loop of its own."""

    async def asking() -> Seen:
        async with async_client_of(resource, server, **how) as client:
            _need(RESOURCES[resource].of(client), way)
            return await ASYNC_WAYS[way](RESOURCES[resource], client, ask)

    return asyncio.run(asking())


def package_of(resource: str) -> Any:
    """Return the package that has *resource*, and its errors."""
    return {"openai": openai, "anthropic": anthropic}[RESOURCES[resource].vendor]


def _need(asking: Any, way: str) -> None:
    if way in ("parse", "stream") and not hasattr(asking, way):
        pytest.skip(f"this version has no {way}")
