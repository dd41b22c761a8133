"""
The older .af shape, made into the current one.

An .af once was one agent: its blocks under `core_memory`, its tools beside them, messages
without ids, and the numbers of those in context. This file moves things to where they stand now and
decides nothing.
"""

from collections.abc import Mapping
from typing import Any

from recollect.service.moving.given_json import Given


def is_older(value: Mapping[str, Any]) -> bool:
    """Say whether a file is of the older shape."""
    return "core_memory" in value and "agents" not in value


def current_shape(given: Given) -> dict[str, Any]:
    """Return the file as it would be written today."""
    if not is_older(given.fields):
        return dict(given.fields)
    moved = ("core_memory", "tools", "messages", "in_context_message_indices", "metadata_")
    blocks = _numbered(given, "core_memory", "block")
    tools = _numbered(given, "tools", "tool")
    messages = _numbered(given, "messages", "message")
    agent = {name: value for name, value in given.fields.items() if name not in moved}
    agent |= {
        "id": "agent-0",
        "metadata": given.fields.get("metadata_"),
        "block_ids": [one["id"] for one in blocks],
        "tool_ids": [one["id"] for one in tools],
        "tags": [one.get("tag") if isinstance(one, dict) else one for one in _tags(given)],
        "messages": messages,
        "in_context_message_ids": _in_context(given, messages),
    }
    created_at = agent.pop("created_at", None)
    return {
        "agents": [agent],
        "groups": [],
        "blocks": blocks,
        "files": [],
        "sources": [],
        "tools": tools,
        "mcp_servers": [],
        "metadata": {},
        "created_at": created_at,
    }


def _numbered(given: Given, name: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, one in enumerate(given.objects(name) if given.has(name) else []):
        record = {**one.fields, "id": f"{kind}-{number}"}
        if kind == "block" and "metadata_" in record:
            record["metadata"] = record.pop("metadata_")
        found.append(record)
    return found


def _tags(given: Given) -> tuple[Any, ...]:
    return given.values("tags") if given.has("tags") else ()


def _in_context(given: Given, messages: list[dict[str, Any]]) -> list[str]:
    name = "in_context_message_indices"
    found: list[str] = []
    for place, number in enumerate(given.values(name) if given.has(name) else ()):
        if (
            isinstance(number, bool)
            or not isinstance(number, int)
            or number not in range(len(messages))
        ):
            given.refuse(f"{name}[{place}]", f"{number!r} is the number of no message")
        found.append(messages[number]["id"])
    return found
