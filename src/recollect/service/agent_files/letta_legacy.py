"""
Convert the legacy shape of Letta's agent files to the current one.

An .af once was one agent: its blocks under `core_memory`, its tools beside them, messages without
ids, and the numbers of those in context. This file moves fields and decides nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.service.agent_files.file_fields import JsonList, refuse, validate_model
from recollect.service.agent_files.letta_records import JsonRecord, LettaRecord

_MOVED = ("core_memory", "tools", "messages", "in_context_message_indices", "metadata_")


class LegacyFile(LettaRecord):
    """The fields of a legacy file that move."""

    core_memory: tuple[JsonRecord, ...] = ()
    tools: tuple[JsonRecord, ...] = ()
    messages: tuple[JsonRecord, ...] = ()
    tags: JsonList = ()
    in_context_message_indices: JsonList = ()


def is_legacy(value: Mapping[str, Any]) -> bool:
    """Return whether a file has the legacy shape."""
    return "core_memory" in value and "agents" not in value


def current_shape(value: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Return the file as it would be written today."""
    if not is_legacy(value):
        return dict(value)
    legacy = validate_model(LegacyFile, value, file)
    blocks = _number(legacy.core_memory, "block")
    for block in blocks:
        if "metadata_" in block:
            block["metadata"] = block.pop("metadata_")
    tools = _number(legacy.tools, "tool")
    messages = _number(legacy.messages, "message")
    agent = {name: field for name, field in value.items() if name not in _MOVED}
    agent |= {
        "id": "agent-0",
        "metadata": value.get("metadata_"),
        "block_ids": [block["id"] for block in blocks],
        "tool_ids": [tool["id"] for tool in tools],
        "tags": [tag.get("tag") if isinstance(tag, dict) else tag for tag in legacy.tags],
        "messages": messages,
        "in_context_message_ids": _in_context(legacy, file),
    }
    empty: dict[str, Any] = {name: [] for name in ("groups", "files", "sources", "mcp_servers")}
    return {
        **empty,
        "agents": [agent],
        "blocks": blocks,
        "tools": tools,
        "metadata": {},
        "created_at": agent.pop("created_at", None),
    }


def _number(records: Sequence[JsonRecord], kind: str) -> list[dict[str, Any]]:
    return [{**record, "id": f"{kind}-{number}"} for number, record in enumerate(records)]


def _in_context(legacy: LegacyFile, file: str) -> list[str]:
    numbers = legacy.in_context_message_indices
    for position, number in enumerate(numbers):
        if type(number) is not int or number not in range(len(legacy.messages)):
            path = f"$.in_context_message_indices[{position}]"
            refuse(file, path, f"{number!r} is not the number of a message")
    return [f"message-{number}" for number in numbers]
