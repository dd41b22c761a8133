"""Real MCP clients from the package `mcp`: over pipes, over HTTP and in this process."""

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

from in_process_server import serve_in_thread
from recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from recollect.mcp.mcp_server import create_mcp_server
from terminal import installed

PROTOCOL_VERSIONS = ("legacy", "2026-07-28")
SITE_CALLER = Caller(project="site", agent="coder")

T = TypeVar("T")
Scene = Callable[[Client], Awaitable[T]]


@dataclass
class ScriptedUser:
    """The user of a client: gives the same answer to every question, and records the questions."""

    action: str = "accept"
    content: dict[str, Any] | None = field(default_factory=lambda: {"confirm": True})
    questions: list[str] = field(default_factory=list)

    async def __call__(self, context: object, params: Any) -> types.ElicitResult:
        self.questions.append(params.message)
        content = self.content if self.action == "accept" else None
        return types.ElicitResult.model_validate({"action": self.action, "content": content})


def stdio_server(
    db: Path | str, *options: str, cwd: Path | None = None, **env: str
) -> StdioServerParameters:
    """Return the parameters that start `recollect mcp` for *db*."""
    return StdioServerParameters(
        command=installed("recollect"),
        args=["mcp", "--db", str(db), *options],
        env={**os.environ, "RECOLLECT_EMBEDDING_BACKEND": "none", **env},
        cwd=cwd,
    )


def in_process_server(rec: LocalRecollect, caller: Caller = SITE_CALLER) -> Any:
    """Return an MCP server of *memory* in this process."""

    async def resolve_caller(ctx: object) -> Caller:
        return caller

    return create_mcp_server(rec, resolve_caller)


@contextmanager
def http_server(rec: LocalRecollect, query: str = "?project=site&agent=coder") -> Iterator[str]:
    """Serve *memory* inside the block; yield the URL of its MCP endpoint."""
    with serve_in_thread(rec, worker=True) as url:
        yield f"{url}/mcp{query}"


def run_client(
    server: Any, scene: Scene[T], *, era: str = PROTOCOL_VERSIONS[0], **client: Any
) -> T:
    """Connect a client to *server* with the protocol version *era*, and return *scene*'s result."""

    results: list[T] = []
    errors: list[BaseException] = []

    async def main() -> None:
        async with Client(server, mode=era, **client) as connected:
            try:
                results.append(await scene(connected))
            except (Exception, pytest.fail.Exception) as error:  # out of its task groups, below
                errors.append(error)

    anyio.run(main)
    if errors:
        raise errors[0]
    return results[0]


def call_tool(
    server: Any, tool: str, era: str = PROTOCOL_VERSIONS[0], user: Any = None, **arguments: Any
) -> Any:
    """Call a tool and return the whole result."""
    return run_client(
        server, lambda client: client.call_tool(tool, arguments), era=era, elicitation_callback=user
    )


def call_values(
    server: Any, tool: str, era: str = PROTOCOL_VERSIONS[0], user: Any = None, **arguments: Any
) -> Any:
    """Call a tool, assert that it succeeds, and return the structured values."""
    result = call_tool(server, tool, era, user, **arguments)
    assert not result.is_error, result_text(result)
    return result.structured_content


def call_error(
    server: Any, tool: str, era: str = PROTOCOL_VERSIONS[0], user: Any = None, **arguments: Any
) -> str:
    """Call a tool, assert that it fails, and return the error message."""
    result = call_tool(server, tool, era, user, **arguments)
    assert result.is_error, result_text(result)
    return result_text(result)


def result_text(result: Any) -> str:
    """Return the text of a result."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def assert_matches_schema(schema: Mapping[str, Any], answer: object) -> None:
    """Assert that an answer matches its schema."""
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(answer)
