"""
The tools that an agent may use here: registered functions and MCP tools, memory tools, and tools
that came as source code with an agent file, by that precedence.
"""

import threading
from collections.abc import Mapping

from recollect.api.agent_tools import AgentTools
from recollect.errors import AlreadyExists
from recollect.lazy_dataclass import dataclass
from recollect.runtime.agent_settings import AgentSettings, FileTool
from recollect.runtime.agent_tool import AgentTool, tool_from_function
from recollect.runtime.source_tool import source_tool
from recollect.text.message_text import SEND_MESSAGE

# What an agent has if nobody says which tools it has, besides those that were registered.
DEFAULT_TOOLS = (
    "memory_insert",
    "memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
    "conversation_search",
)
_READ_ONLY = frozenset(
    {
        "archival_memory_search",
        "conversation_search",
        "conversation_search_date",
        "grep_files",
        "semantic_search_files",
    }
)


class ToolRegistry:
    """The tools that a program registered for its agents. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tools: dict[str, AgentTool] = {}

    def add(self, tool: AgentTool, *, replace: bool = False) -> None:
        """Register a tool; a second one of the same name is refused unless it replaces it."""
        with self._lock:
            if tool.name in self._tools and not replace:
                raise AlreadyExists(
                    f"a tool named {tool.name!r} is registered already; pass replace=True"
                )
            self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        """Remove a tool, if it is registered."""
        with self._lock:
            self._tools.pop(name, None)

    def all(self) -> Mapping[str, AgentTool]:
        """Return the registered tools by name."""
        with self._lock:
            return dict(self._tools)


@dataclass(frozen=True)
class Toolset:
    """The tools of an agent by name, and the names of those that cannot run here."""

    tools: Mapping[str, AgentTool]
    missing: tuple[str, ...] = ()


def toolset_of(
    settings: AgentSettings,
    registry: ToolRegistry,
    memory: AgentTools,
    *,
    runs_agent_file_code: bool = True,
) -> Toolset:
    """Return the tools of *settings*; none that are code if not *runs_agent_file_code*."""
    registered = registry.all()
    names = settings.tools
    if names is None:
        names = (*DEFAULT_TOOLS, *(name for name in registered if name not in DEFAULT_TOOLS))
    tools: dict[str, AgentTool] = {}
    missing = []
    for name in names:
        file_tool = settings.file_tools.get(name)
        if name in registered:
            tools[name] = registered[name]
        elif name in AgentTools.NAMES:
            tools[name] = _memory_tool(memory, name, file_tool)
        elif name == SEND_MESSAGE:
            tools[name] = tool_from_function(send_message)
        elif runs_agent_file_code and file_tool and f"def {name}(" in file_tool.source_code:
            tools[name] = source_tool(file_tool)
        else:
            missing.append(name)
    return Toolset(tools, tuple(missing))


def _memory_tool(memory: AgentTools, name: str, file_tool: FileTool | None) -> AgentTool:
    return tool_from_function(
        getattr(memory, name),
        enable_parallel_execution=name in _READ_ONLY,
        requires_approval=bool(file_tool and file_tool.requires_approval),
    )


def send_message(message: str) -> str:
    """
    Send a message to the user.

    Args:
        message: The text of the message.
    """
    return "Sent."
