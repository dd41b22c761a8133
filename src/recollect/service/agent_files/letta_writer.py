"""
Write the parts of one agent as an agent file of Letta (.af).

What was imported from an .af is written as it was, unless it was changed here. The format has no
place for the archive, the history of blocks, summaries, pins, or more than one conversation: the
notes of `write_agent` say what is missing. Nothing here touches a store.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.domain.agent_transfer import BRANCHED_FROM, LETTA, MERGED
from recollect.domain.block import Block
from recollect.domain.conversation import Message, Role
from recollect.service.agent_files.json_file import to_json_bytes
from recollect.service.agent_files.letta_roundtrip import carry_of, restore
from recollect.service.agent_files.model import AgentParts, ConversationParts

# What Letta's own exports hold for an agent that says nothing else.
_AGENT: Mapping[str, Any] = {
    "memory_blocks": [],
    "tools": [],
    "tool_ids": [],
    "source_ids": [],
    "tool_rules": [],
    "tags": [],
    "agent_type": "letta_v1_agent",
    "llm_config": None,
    "embedding_config": None,
    "model": None,
    "include_base_tools": False,
    "include_multi_agent_tools": False,
    "include_base_tool_rules": False,
    "include_default_source": False,
    "tool_exec_environment_variables": {},
    "timezone": "UTC",
    "files_agents": [],
    "group_ids": [],
}
_MESSAGE: Mapping[str, Any] = {"type": "message", "model": None, "tool_returns": []}
EMPTY_FILE: Mapping[str, Any] = {
    "groups": [],
    "files": [],
    "sources": [],
    "tools": [],
    "mcp_servers": [],
    "skills": [],
    "metadata": {},
}
_ROLES = {Role.DEVELOPER: "system"}


def write_agent(parts: AgentParts) -> tuple[bytes, tuple[str, ...]]:
    """Return an agent as the bytes of an .af, and what the format leaves behind."""
    carry = carry_of(parts.agent.metadata)
    whole = carry.get("file")
    whole = dict(whole) if isinstance(whole, Mapping) else dict(EMPTY_FILE)
    spare = whole.pop("blocks", [])
    spare = list(spare) if isinstance(spare, list) else []
    ids = _LettaIds(block.get("id") for block in spare if isinstance(block, dict))
    blocks = [_block(part.block, ids) for part in parts.blocks]
    agent = _agent(parts, carry, ids)
    agent["block_ids"] = [block["id"] for block in blocks]
    messages = list(_messages(parts, agent["id"], ids))
    agent["messages"] = [record for record, _ in messages]
    agent["in_context_message_ids"] = [
        record["id"] for record, in_context in messages if in_context
    ]
    file = {"created_at": parts.agent.updated_at.isoformat(), **whole}
    return to_json_bytes({**file, "agents": [agent], "blocks": [*blocks, *spare]}), _notes(parts)


Record = dict[str, Any]


class _LettaIds:
    """Ids in Letta's style: the one a record came with, or the next free number of its kind."""

    def __init__(self, records: Iterator[Any]) -> None:
        self._taken = {record_id for record_id in records if isinstance(record_id, str)}
        self._next: dict[str, int] = {}

    def of(self, kind: str, record: Mapping[str, Any]) -> str:
        """Return an id for a record that no other has."""
        record_id = record.get("id")
        while not isinstance(record_id, str) or record_id in self._taken:
            number = self._next.get(kind, 0)
            self._next[kind] = number + 1
            record_id = f"{kind}-{number}"
        self._taken.add(record_id)
        return record_id


def _agent(parts: AgentParts, carry: Mapping[str, Any], ids: _LettaIds) -> dict[str, Any]:
    agent = parts.agent
    ours = {
        "name": agent.name,
        "description": agent.description,
        "system": agent.system_prompt,
        "metadata": {
            name: value
            for name, value in agent.metadata.items()
            if name not in (LETTA, BRANCHED_FROM, MERGED)
        },
    }
    record = restore(carry.get("agent"), ours)
    if "agent" not in carry:
        record = {**_AGENT, **record}
    if agent.model != carry.get("model", ""):
        config = record.get("llm_config")
        if isinstance(config, Mapping):
            record["llm_config"] = {**config, "model": agent.model, "handle": None}
        else:
            record["model"] = agent.model
    record["id"] = ids.of("agent", record)
    return record


def block_fields(block: Block) -> dict[str, Any]:
    """Return the fields of a block that have Letta's names."""
    return {
        "label": block.label,
        "value": block.value,
        "limit": block.limit,
        "description": block.description,
        "read_only": block.read_only,
        "hidden": block.hidden,
        "metadata": {name: value for name, value in block.metadata.items() if name != LETTA},
    }


def _block(block: Block, ids: _LettaIds) -> dict[str, Any]:
    record = restore(carry_of(block.metadata), block_fields(block))
    if record.get("limit") is None and LETTA not in block.metadata:
        record["limit"] = max(100_000, len(block.value))  # Letta knows no block without a limit
    record["id"] = ids.of("block", record)
    return record


def _messages(
    parts: AgentParts, agent_id: str, ids: _LettaIds
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every message, with whether it is in the context of the last conversation."""
    for part in parts.conversations:
        is_last = part is parts.conversations[-1]
        for message in part.messages:
            carry = carry_of(message.metadata)
            in_context = is_last and message.summary_id is None and carry.get("in_context", True)
            record = _message(message, carry)
            record["id"] = ids.of("message", record)
            record["agent_id"] = agent_id
            yield record, bool(in_context)


def _message(message: Message, carry: Mapping[str, Any]) -> dict[str, Any]:
    ours = {
        "role": _ROLES.get(message.role, message.role.value),
        "name": message.name,
        "tool_calls": list(message.tool_calls),
        "tool_call_id": message.tool_call_id,
        "created_at": message.created_at.isoformat(),
    }
    if carry:
        record = restore(carry, ours)
        form = carry.get("content")
    else:
        calls = [_call(call) for call in message.tool_calls]
        record = {
            **_MESSAGE,
            **ours,
            "name": message.name or None,
            "tool_calls": calls or None,
            "tool_call_id": message.tool_call_id or None,
        }
        form = ""
    words = [{"type": "text", "text": message.content}] if message.content else []
    record["content"] = {
        "parts": list(message.parts or ()),
        "text": message.content,
        "null": None,
    }.get(str(form), words)
    return record


def _call(call: Any) -> Any:
    """Return a tool call as OpenAI writes it, which is how Letta does."""
    if not isinstance(call, Mapping) or "function" in call:
        return call
    arguments = call.get("input", call.get("arguments", {}))
    return {
        "id": call.get("id", call.get("call_id", "")),
        "type": "function",
        "function": {
            "name": call.get("name", ""),
            "arguments": arguments
            if isinstance(arguments, str)
            else json.dumps(arguments, ensure_ascii=False, sort_keys=True),
        },
    }


def _notes(parts: AgentParts) -> tuple[str, ...]:
    conversations = parts.conversations
    changed = sum(len(part.versions) > 1 for part in parts.blocks)
    left = (
        (len(parts.memories), "passages of the archive"),
        (len(parts.skills), "loaded skills"),
        (changed, "histories of blocks"),
        (sum(len(part.summaries) for part in conversations), "summaries"),
        (sum(len(part.pins) for part in conversations), "pins"),
        (sum(len(part.blocks) for part in conversations), "blocks of conversations"),
    )
    notes = [
        f"the .af format has no place for {what}: {count} stayed behind; export in our own format "
        "to keep everything"
        for count, what in left
        if count
    ]
    if len(conversations) > 1:
        notes.append(
            f"{len(conversations)} conversations were joined into one, in the order they began"
        )
    if any(_has_more_than_text(part) for part in conversations):
        notes.append("images and other parts of messages were left out; their text is there")
    return tuple(notes)


def _has_more_than_text(conversation: ConversationParts) -> bool:
    return any(
        isinstance(part, Mapping) and part.get("type") not in ("text", "input_text", "output_text")
        for message in conversation.messages
        if not carry_of(message.metadata)
        for part in message.parts or ()
    )
