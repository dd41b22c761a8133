"""
Every style to call a vendor through its package, as a table: resources by call styles.

    observed = observe(server, "chat", "stream", question("chat", "Hello?"))

The result is everything that the caller gets, as JSON: the events of a stream, then the final
object if the package has one. So a call with an interceptor can be compared with one without. The
same call styles are in ASYNC_CALL_STYLES, as coroutines.
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

Observed = list[Any]


class Note(BaseModel):
    """The structured output that `parse` requests."""

    title: str
    count: int


@dataclass(frozen=True)
class Resource:
    """One object of a package that calls models."""

    vendor: str
    select: Callable[[Any], Any]
    format_keyword: str  # the keyword of `parse` and `stream` for the output class
    final_method: str


RESOURCES: Mapping[str, Resource] = {
    "chat": Resource(
        "openai", lambda c: c.chat.completions, "response_format", "get_final_completion"
    ),
    "responses": Resource("openai", lambda c: c.responses, "text_format", "get_final_response"),
    "messages": Resource("anthropic", lambda c: c.messages, "output_format", "get_final_message"),
    "beta": Resource("anthropic", lambda c: c.beta.messages, "output_format", "get_final_message"),
}


def question(resource: str, text: str, **more: Any) -> dict[str, Any]:
    """Return the arguments of a call with the user message *text*."""
    if resource == "responses":
        return {"model": "gpt-test", "input": text} | more
    turns = [{"role": "user", "content": text}]
    if resource == "chat":
        return {"model": "gpt-test", "messages": turns} | more
    return {"model": "claude-test", "max_tokens": 500, "messages": turns} | more


def ask_chat(client: Any, text: str, **more: Any) -> Any:
    """Call a chat model through OpenAI's client."""
    return client.chat.completions.create(**question("chat", text, **more))


_ONCE: dict[str, Any] = {"max_retries": 0, "api_key": "test"}


@contextmanager
def openai_client(server: VendorServer, **options: Any) -> Iterator[openai.OpenAI]:
    """Give a client that asks *server* once and never again by itself."""
    options = _ONCE | options
    with openai.OpenAI(base_url=server.openai_url, **options) as client:
        yield client


@contextmanager
def anthropic_client(server: VendorServer, **options: Any) -> Iterator[anthropic.Anthropic]:
    """Give a client that asks *server* once and never again by itself."""
    options = _ONCE | options
    with anthropic.Anthropic(base_url=server.anthropic_url, **options) as client:
        yield client


def make_client(resource: str, server: VendorServer, **options: Any) -> Any:
    """Return the client that has *resource*, as a context manager."""
    make = openai_client if RESOURCES[resource].vendor == "openai" else anthropic_client
    return make(server, **options)


def make_async_client(resource: str, server: VendorServer, **options: Any) -> Any:
    """Return the asynchronous client that has *resource*, as a context manager."""
    options = _ONCE | options
    if RESOURCES[resource].vendor == "openai":
        return openai.AsyncOpenAI(base_url=server.openai_url, **options)
    return anthropic.AsyncAnthropic(base_url=server.anthropic_url, **options)


def as_json(value: Any) -> Any:
    """Return *value* as JSON, without unset fields and nulls."""
    if not isinstance(value, BaseModel):
        return value
    # The packages put their own richer types into fields declared otherwise; pydantic would warn.
    return value.model_dump(mode="json", exclude_none=True, warnings=False)


def streamed_text(seen: Observed) -> str:
    """Return the text that the events or lines of a vendor's raw stream add up resource."""
    parts: list[str | None] = []
    for event in _events(seen):
        if event.get("object") == "chat.completion.chunk":
            parts += [choice["delta"].get("content") for choice in event["choices"]]
        elif event.get("type") == "response.output_text.delta":
            parts.append(event["delta"])
        elif event.get("type") == "content_block_delta":
            parts.append(event["delta"].get("text"))
    return "".join(filter(None, parts))


def _events(seen: Observed) -> Iterator[dict[str, Any]]:
    for event in seen:
        if not isinstance(event, str):
            yield event
        elif event.startswith("data: {"):
            yield json.loads(event.removeprefix("data: "))


# The call styles


def _create(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    return [as_json(resource.select(client).create(**arguments))]


def _create_stream(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    with resource.select(client).create(stream=True, **arguments) as stream:
        return [as_json(event) for event in stream]


def _raw(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    return [as_json(resource.select(client).with_raw_response.create(**arguments).parse())]


def _raw_stream(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    with (
        resource.select(client).with_raw_response.create(stream=True, **arguments).parse() as stream
    ):
        return [as_json(event) for event in stream]


def _streaming(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    with resource.select(client).with_streaming_response.create(**arguments) as response:
        return [as_json(response.parse())]


def _streaming_lines(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    with resource.select(client).with_streaming_response.create(
        stream=True, **arguments
    ) as response:
        return list(response.iter_lines())


def _parse(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    return [as_json(resource.select(client).parse(**arguments, **{resource.format_keyword: Note}))]


def _stream(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    with resource.select(client).stream(**arguments) as stream:
        seen = [as_json(event) for event in stream]
        return [*seen, as_json(getattr(stream, resource.final_method)())]


CALL_STYLES: Mapping[str, Callable[[Resource, Any, dict[str, Any]], Observed]] = {
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


async def _await_if_needed(value: Any) -> Any:
    """Return *value*, awaited if needed: the raw responses of the packages differ in that."""
    return await value if isawaitable(value) else value


async def _async_create(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    return [as_json(await resource.select(client).create(**arguments))]


async def _async_create_stream(
    resource: Resource, client: Any, arguments: dict[str, Any]
) -> Observed:
    async with await resource.select(client).create(stream=True, **arguments) as stream:
        return [as_json(event) async for event in stream]


async def _async_raw(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    response = await resource.select(client).with_raw_response.create(**arguments)
    return [as_json(await _await_if_needed(response.parse()))]


async def _async_raw_stream(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    response = await resource.select(client).with_raw_response.create(stream=True, **arguments)
    async with await _await_if_needed(response.parse()) as stream:
        return [as_json(event) async for event in stream]


async def _async_streaming(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    async with resource.select(client).with_streaming_response.create(**arguments) as response:
        return [as_json(await response.parse())]


async def _async_streaming_lines(
    resource: Resource, client: Any, arguments: dict[str, Any]
) -> Observed:
    async with resource.select(client).with_streaming_response.create(
        stream=True, **arguments
    ) as response:
        return [line async for line in response.iter_lines()]


async def _async_parse(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    return [
        as_json(await resource.select(client).parse(**arguments, **{resource.format_keyword: Note}))
    ]


async def _async_stream(resource: Resource, client: Any, arguments: dict[str, Any]) -> Observed:
    async with resource.select(client).stream(**arguments) as stream:
        seen = [as_json(event) async for event in stream]
        return [*seen, as_json(await getattr(stream, resource.final_method)())]


ASYNC_CALL_STYLES: Mapping[str, Callable[[Resource, Any, dict[str, Any]], Awaitable[Observed]]] = {
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


def observe(
    server: VendorServer, resource: str, style: str, arguments: dict[str, Any], **options: Any
) -> Observed:
    """Make a call in one style; skip the test if the package has no such method."""
    with make_client(resource, server, **options) as client:
        _skip_if_missing(RESOURCES[resource].select(client), style)
        return CALL_STYLES[style](RESOURCES[resource], client, arguments)


def observe_async(
    server: VendorServer, resource: str, style: str, arguments: dict[str, Any], **options: Any
) -> Observed:
    """Make a call in one asynchronous style, in a new event loop."""

    async def run() -> Observed:
        async with make_async_client(resource, server, **options) as client:
            _skip_if_missing(RESOURCES[resource].select(client), style)
            return await ASYNC_CALL_STYLES[style](RESOURCES[resource], client, arguments)

    return asyncio.run(run())


def vendor_package(resource: str) -> Any:
    """Return the package that has *resource*."""
    return {"openai": openai, "anthropic": anthropic}[RESOURCES[resource].vendor]


def _skip_if_missing(resource: Any, style: str) -> None:
    if style in ("parse", "stream") and not hasattr(resource, style):
        pytest.skip(f"this version has no {style}")
