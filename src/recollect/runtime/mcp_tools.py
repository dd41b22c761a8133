"""
Tools of an MCP server: listed once, and called over one connection.

The package `mcp` is asynchronous and optional: it is imported when a server is added, and its
client runs in a thread of its own. A tool that the server calls read-only may run at the same time
as others; one that it calls destructive needs an approval.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from recollect.errors import InvalidInput, RecollectError
from recollect.runtime.agent_tool import AgentTool
from recollect.runtime.mcp_package import require_mcp_package

TIMEOUT_S = 60.0
MAX_PAGES = 100  # of a server's list of tools


class McpToolFailed(RecollectError):
    """A tool of an MCP server reported an error, or the server did not answer."""


class McpConnection:
    """A connection to one MCP server, open until `close`."""

    def __init__(self, server: Any, *, name: str) -> None:
        require_mcp_package()
        # Optional, and slow to load.
        from anyio.from_thread import start_blocking_portal
        from mcp import Client

        self.name = name
        self._stack = ExitStack()
        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            client = Client(server, read_timeout_seconds=TIMEOUT_S)
            self._client = self._stack.enter_context(
                self._portal.wrap_async_context_manager(client)
            )
        except BaseException as error:
            self._stack.close()
            if not isinstance(error, Exception):
                raise
            # The client raises whatever its transport raises, in groups.
            raise McpToolFailed(
                f"the MCP server {name!r} cannot be reached: {_cause(error)}; "
                "check its URL or command"
            ) from error

    def tools(self) -> list[AgentTool]:
        """Return the tools of the server."""
        tools: list[AgentTool] = []
        cursor = None
        for _ in range(MAX_PAGES):
            try:
                page = self._portal.call(partial(self._client.list_tools, cursor=cursor))
            except Exception as error:  # the client raises whatever its transport raises
                raise McpToolFailed(
                    f"the MCP server {self.name!r} did not list its tools: {_cause(error)}; "
                    "check that it is running"
                ) from error
            tools += [self._tool(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        return tools

    def _tool(self, tool: Any) -> AgentTool:
        hints = tool.annotations

        def run(arguments: Mapping[str, Any]) -> Any:
            return self._call(tool.name, arguments)

        return AgentTool(
            name=tool.name,
            description=tool.description or "",
            parameters=tool.input_schema,
            run=run,
            enable_parallel_execution=bool(hints and hints.read_only_hint),
            requires_approval=bool(hints and hints.destructive_hint and not hints.read_only_hint),
        )

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        try:
            result = self._portal.call(lambda: self._client.call_tool(name, dict(arguments)))
        except Exception as error:  # the client raises whatever its transport raises
            problem = f"{name} of the MCP server {self.name!r}: {_cause(error)}"
            raise McpToolFailed(problem) from error
        text = _text(result.content)
        if result.is_error:
            raise McpToolFailed(text)
        return text

    def close(self) -> None:
        """End the connection and its thread."""
        self._stack.close()


def server_of(*, url: str = "", command: Sequence[str] = (), env: Mapping[str, str] | None) -> Any:
    """Return what the client connects to: a URL, or a command that speaks MCP over its pipes."""
    if bool(url) == bool(command):
        raise InvalidInput("name the MCP server by url=… or by command=[…], one of the two")
    if url:
        return url
    require_mcp_package()
    from mcp import StdioServerParameters

    return StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(env) if env else None
    )


def _text(blocks: Sequence[Any]) -> str:
    """Return the texts of a result; other parts are named by their type."""
    return "\n".join(getattr(block, "text", None) or f"[{block.type}]" for block in blocks)


def _cause(error: BaseException) -> str:
    """Return the first error in a group, as text."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
