"""Real MCP clients, of the protocol's own package: over pipes, HTTP, and within this process."""

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters

from hosted import hosted
from recollect import Recollect
from recollect.mcp.caller import Caller
from recollect.mcp.server import mcp_server
from terminal import installed

ERAS = ("legacy", "2026-07-28")
SITE = Caller(project="site", agent="coder")

T = TypeVar("T")
Scene = Callable[[Client], Awaitable[T]]


@dataclass
class Person:
    """Who sits in front of the client: says the same to every question, and remembers them."""

    action: str = "accept"
    content: dict[str, Any] | None = field(default_factory=lambda: {"confirm": True})
    asked: list[str] = field(default_factory=list)

    async def __call__(self, context: object, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        content = self.content if self.action == "accept" else None
        return types.ElicitResult.model_validate({"action": self.action, "content": content})


def piped(db: Path, *options: str, cwd: Path | None = None, **env: str) -> StdioServerParameters:
    """Return how `recollect mcp` on *db* is started."""
    return StdioServerParameters(
        command=installed("recollect"),
        args=["mcp", "--db", str(db), *options],
        env={**os.environ, "RECOLLECT_EMBEDDING_BACKEND": "none", **env},
        cwd=cwd,
    )


def within(memory: Recollect, caller: Caller = SITE) -> Any:
    """Return a server of *memory* in this process."""

    async def asks(ctx: object) -> Caller:
        return caller

    return mcp_server(memory, asks)


@contextmanager
def over_http(memory: Recollect, query: str = "?project=site&agent=coder") -> Iterator[str]:
    """Serve *memory* inside the block; give the address of its MCP endpoint."""
    with hosted(memory, worker=True) as url:
        yield f"{url}/mcp{query}"


def talk(server: Any, scene: Scene[T], *, era: str = ERAS[0], **client: Any) -> T:
    """Return what *scene* makes of a client that speaks with *server* in one *era*."""

    told: list[T] = []
    failed: list[BaseException] = []

    async def main() -> None:
        async with Client(server, mode=era, **client) as connected:
            try:
                told.append(await scene(connected))
            except (Exception, pytest.fail.Exception) as error:  # out of its task groups, below
                failed.append(error)

    anyio.run(main)
    if failed:
        raise failed[0]
    return told[0]


def call(server: Any, tool: str, era: str = ERAS[0], person: Any = None, **given: Any) -> Any:
    """Return the whole result of one call."""
    return talk(
        server, lambda client: client.call_tool(tool, given), era=era, elicitation_callback=person
    )


def values(server: Any, tool: str, era: str = ERAS[0], person: Any = None, **given: Any) -> Any:
    """Return the values one call answers with; it must not fail."""
    result = call(server, tool, era, person, **given)
    assert not result.is_error, text_of(result)
    return result.structured_content


def refusal(server: Any, tool: str, era: str = ERAS[0], person: Any = None, **given: Any) -> str:
    """Return why one call is refused; it must be."""
    result = call(server, tool, era, person, **given)
    assert result.is_error, text_of(result)
    return text_of(result)


def text_of(result: Any) -> str:
    """Return the text of a result."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def matches(schema: Mapping[str, Any], answer: object) -> None:
    """Hold an answer to its schema."""
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(answer)
