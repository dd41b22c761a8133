"""
Read how an agent runs from its metadata: its tools, their rules, and its limits.

`metadata["runtime"]` has `tools` (names), `tool_rules` (as in Letta's agent files),
`approved_tools`, `edits_shared_blocks`, `heartbeats`, `max_tokens` and `approval_s`. An agent that
was imported from a file of Letta has the tools and rules of that file, unless it has its own.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import (
    APPROVAL_S,
    APPROVED,
    EDITS_SHARED,
    LETTA,
    RUNTIME,
)
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.runtime.tool_rules import ToolRule, parse_rules
from recollect.wire.schema_validator import is_readable

MAX_TOKENS = 4_096  # of one answer
DEFAULT_APPROVAL_S = 24 * 3600
MAX_APPROVAL_S = 366 * 24 * 3600
MAX_NUMBER = 10**9


@dataclass(frozen=True, kw_only=True)
class FileTool:
    """A tool as an agent file of Letta describes it."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source_code: str = ""
    return_char_limit: int | None = None
    enable_parallel_execution: bool = False
    requires_approval: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """How an agent runs. `tools` is None if it may use every tool there is."""

    tools: tuple[str, ...] | None = None
    rules: tuple[ToolRule, ...] = ()
    approved_tools: frozenset[str] = frozenset()
    edits_shared_blocks: bool = False  # at once; otherwise they are proposed to the user
    heartbeats: bool = False
    max_tokens: int = MAX_TOKENS
    approval_s: float = DEFAULT_APPROVAL_S
    file_tools: Mapping[str, FileTool] = field(default_factory=dict)


def agent_settings(agent: Agent) -> AgentSettings:
    """Return how *agent* runs; raise `InvalidInput` if its settings cannot be read."""
    own = agent.metadata.get(RUNTIME) or {}
    if not isinstance(own, Mapping):
        raise InvalidInput(f'metadata["{RUNTIME}"] of agent {agent.name!r} must be an object')
    tools, rules, file_tools, heartbeats = _imported_tools(agent)
    if own.get("tools") is not None:
        tools = _texts(own, "tools")
    if own.get("tool_rules") is not None:
        rules = parse_rules(own["tool_rules"])
    return AgentSettings(
        tools=tools,
        rules=rules,
        approved_tools=frozenset(_texts(own, APPROVED)),
        edits_shared_blocks=own.get(EDITS_SHARED) is True,
        heartbeats=bool(own.get("heartbeats", heartbeats)),
        max_tokens=_number(own, "max_tokens", MAX_TOKENS),
        approval_s=_number(own, APPROVAL_S, DEFAULT_APPROVAL_S, maximum=MAX_APPROVAL_S),
        file_tools=file_tools,
    )


def with_approved_tool(agent: Agent, tool: str) -> Agent:
    """Return *agent* with every later call of *tool* approved."""
    own = agent.metadata.get(RUNTIME)
    own = dict(own) if isinstance(own, Mapping) else {}
    own[APPROVED] = sorted({*_texts(own, APPROVED), tool})
    return replace(agent, metadata={**agent.metadata, RUNTIME: own})


def _imported_tools(
    agent: Agent,
) -> tuple[tuple[str, ...] | None, tuple[ToolRule, ...], dict[str, FileTool], bool]:
    carry = agent.metadata.get(LETTA)
    record = _value_at(carry, "agent", "rest")
    tools = _value_at(carry, "file", "tools")
    if not isinstance(record, Mapping):
        return None, (), {}, False
    by_id = {
        tool["id"]: _file_tool(tool)
        for tool in (tools if isinstance(tools, list) else [])
        if isinstance(tool, Mapping)
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("id"), str)
    }
    ids = record.get("tool_ids")
    ids = [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []
    own = [by_id[tool_id] for tool_id in ids if tool_id in by_id]
    rules = parse_rules(record.get("tool_rules"))
    # Only Letta's oldest agents ask for their next step; the newer ones continue by themselves.
    heartbeats = record.get("agent_type") == "memgpt_agent"
    # A tool whose schema cannot be read is named without its code: a run says that it is missing.
    readable = {tool.name: tool for tool in own if is_readable(tool.parameters)}
    return tuple(tool.name for tool in own), rules, readable, heartbeats


def _file_tool(tool: Mapping[str, Any]) -> FileTool:
    schema = tool.get("json_schema")
    schema = schema if isinstance(schema, Mapping) else {}
    parameters = schema.get("parameters")
    limit = tool.get("return_char_limit")
    return FileTool(
        name=tool["name"],
        description=str(schema.get("description") or tool.get("description") or ""),
        parameters=parameters if isinstance(parameters, Mapping) else {},
        source_code=str(tool.get("source_code") or ""),
        return_char_limit=limit if type(limit) is int and limit > 0 else None,
        enable_parallel_execution=bool(tool.get("enable_parallel_execution")),
        requires_approval=bool(tool.get("default_requires_approval")),
    )


def _value_at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _texts(own: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = own.get(name) or []
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
        raise InvalidInput(f'metadata["{RUNTIME}"]["{name}"] must be a list of names of tools')
    return tuple(values)


def _number(own: Mapping[str, Any], name: str, default: int, *, maximum: int = MAX_NUMBER) -> int:
    value = own.get(name, default)
    if type(value) is not int or not 1 <= value <= maximum:
        raise InvalidInput(
            f'metadata["{RUNTIME}"]["{name}"] must be a whole number from 1 to {maximum:,}'
        )
    return value
