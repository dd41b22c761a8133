"""Agents of a local store: the verbs of `Agents`, and those that register tools in this process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.api.agents import Agents
from recollect.api.transport import Transport
from recollect.runtime.agent_tool import RETURN_CHARS, AgentTool, tool_from_function
from recollect.runtime.toolset import ToolRegistry


class LocalTools:
    """The tools that a program registered, and the connections to MCP servers behind them."""

    def __init__(self) -> None:
        self.registry = ToolRegistry()
        self._connections: list[Any] = []

    def connect(self, server: Any, *, name: str) -> Any:
        """Connect to an MCP server."""
        # Loads the package mcp.
        from recollect.runtime.mcp_tools import McpConnection

        connection = McpConnection(server, name=name)
        self._connections.append(connection)
        return connection

    def close(self) -> None:
        """Close every connection."""
        while self._connections:
            self._connections.pop().close()


class LocalAgents(Agents):
    """Create, copy, run, export and delete agents, and register their tools."""

    def __init__(self, transport: Transport, tools: LocalTools, *, can_run: bool) -> None:
        super().__init__(transport)
        self._tools = tools
        self._can_run = can_run

    @property
    def can_run(self) -> bool:
        """Whether agents can answer: a chat model is configured, or the program passed one."""
        return self._can_run

    def add_tool(
        self,
        function: Callable[..., Any] | AgentTool,
        *,
        name: str = "",
        return_char_limit: int = RETURN_CHARS,
        enable_parallel_execution: bool = False,
        requires_approval: bool = False,
        replace: bool = False,
    ) -> AgentTool:
        """
        Register a Python function as a tool of the agents that run in this process.

        Its signature and docstring are its schema. Its result, or the text of what it raises, is
        returned to the model, cut to *return_char_limit* characters. It runs in the order of the
        calls, unless *enable_parallel_execution*.
        """
        tool = function
        if not isinstance(tool, AgentTool):
            tool = tool_from_function(
                tool,
                name=name,
                return_char_limit=return_char_limit,
                enable_parallel_execution=enable_parallel_execution,
                requires_approval=requires_approval,
            )
        self._tools.registry.add(tool, replace=replace)
        return tool

    def remove_tool(self, name: str) -> None:
        """Remove a registered tool, if there is one of that name."""
        self._tools.registry.remove(name)

    def add_mcp_server(
        self,
        name: str,
        *,
        url: str = "",
        command: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> list[AgentTool]:
        """
        Register the tools of an MCP server, given by its URL or by the command that starts it.

        The connection is closed with the store. Needs the package `mcp`.
        """
        # Loads the package mcp.
        from recollect.runtime.mcp_tools import server_of

        connection = self._tools.connect(server_of(url=url, command=command, env=env), name=name)
        tools: list[AgentTool] = connection.tools()
        for tool in tools:
            self._tools.registry.add(tool, replace=True)
        return tools
