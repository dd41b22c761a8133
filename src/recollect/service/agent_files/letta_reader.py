"""
Read Letta's agent files (.af) as the parts of our agents.

An .af holds agents with their messages, and blocks and tools they name by id; it is often JSON
inside a JSON string, and legacy files hold a single agent with its blocks inside. Fields that we do
not model are carried along (letta_roundtrip.py), so that an export writes them again. The file has
no archive and no history of blocks. Nothing here touches a store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from recollect.context.history_window import message_size
from recollect.domain import limits
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.domain.block import Block, BlockAuthor, BlockVersion
from recollect.domain.conversation import Conversation, Message, Role
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service import validate
from recollect.service.agent_files.file_fields import refuse, validate_model
from recollect.service.agent_files.letta_legacy import current_shape, is_legacy
from recollect.service.agent_files.letta_records import (
    APPROVAL,
    ROLES,
    JsonRecord,
    LettaAgent,
    LettaBlock,
    LettaFile,
    LettaMessage,
)
from recollect.service.agent_files.letta_roundtrip import (
    blank_keys,
    blank_server_secrets,
    blank_variables,
    carry_over,
)
from recollect.service.agent_files.model import AgentParts, BlockParts, ConversationParts
from recollect.service.block_lookup import MAX_LABEL
from recollect.text.message_text import parts_text
from recollect.text.token_counter import counter_for

_NOT_IN_TAGS = "<>&\"'"


@dataclass
class _Import:
    """A file that is being read: its records, and the notes for the importer."""

    file: str
    record: JsonRecord
    letta: LettaFile
    now: datetime
    notes: list[str] = field(default_factory=list)

    @property
    def written_at(self) -> datetime:
        return self.letta.created_at or self.now


def is_letta(value: Any) -> bool:
    """Return whether the JSON of a file looks like an agent file of Letta."""
    return isinstance(value, dict) and ("agents" in value or is_legacy(value))


def read_agents(value: Any, file: str, now: datetime) -> tuple[list[AgentParts], tuple[str, ...]]:
    """Return the agents of a file and notes on what changed; or raise `ImportRefused`."""
    record, notes = _clean_file(current_shape(value, file), file)
    source = _Import(file, record, validate_model(LettaFile, record, file), now, notes)
    _check_ids("$.blocks", source.letta.blocks, file)
    for number, tool in enumerate(source.letta.tools):
        if not isinstance(tool.get("id", ""), str | None):
            refuse(file, f"$.tools[{number}].id", "is not a text; agents name a tool by its id")
    file_carry = _file_carry(source)
    parts = [_agent(number, file_carry, source) for number in range(len(source.letta.agents))]
    _add_file_notes(file_carry, source)
    return parts, tuple(source.notes)


def _clean_file(value: JsonRecord, file: str) -> tuple[JsonRecord, list[str]]:
    """Return the file without secrets, and notes on those that were dropped."""
    notes: list[str] = []

    def clean(record: Any, path: str) -> Any:
        try:
            return validate.json_of(path, record)
        except InvalidInput as error:
            refuse(file, path, str(error))

    def clean_list(records: Any, path: str) -> Any:
        # Record by record: the size limit of JSON values is for one, not for all messages.
        if not isinstance(records, list):
            return records
        return [clean(record, f"{path}[{number}]") for number, record in enumerate(records)]

    def clean_agent(agent: Any, path: str) -> Any:
        if not isinstance(agent, dict):
            return agent
        agent, names = blank_variables(agent)
        if names:
            notes.append(
                f"agent {agent.get('name')!r}: the values of {', '.join(names)} were not stored; "
                "only the names are kept"
            )
        messages = clean_list(agent.pop("messages", None), f"{path}.messages")
        return {**clean(agent, path), "messages": messages}

    rest = {name: item for name, item in value.items() if name not in ("agents", "blocks")}
    if isinstance(rest.get("mcp_servers"), list):
        rest["mcp_servers"] = [blank_server_secrets(server) for server in rest["mcp_servers"]]
    agents = value.get("agents")
    if isinstance(agents, list):
        agents = [clean_agent(agent, f"$.agents[{n}]") for n, agent in enumerate(agents)]
    blocks = clean_list(value.get("blocks"), "$.blocks")
    return {**clean(blank_keys(rest), "$"), "agents": agents, "blocks": blocks}, notes


def _check_ids(path: str, records: Sequence[LettaBlock | LettaMessage], file: str) -> None:
    ids: set[str] = set()
    for number, record in enumerate(records):
        if record.id in ids:
            refuse(file, f"{path}[{number}].id", f"{record.id!r} is the id of another one already")
        ids.add(record.id)


def _file_carry(source: _Import) -> JsonRecord:
    """Return what the file holds beside its agents, with the blocks that no agent has."""
    rest = {name: item for name, item in source.record.items() if name != "agents"}
    in_use = {block_id for agent in source.letta.agents for block_id in agent.block_ids}
    rest["blocks"] = [
        blank_keys(block) for block in source.record["blocks"] or () if block["id"] not in in_use
    ]
    return rest


def _add_file_notes(file_carry: Mapping[str, Any], source: _Import) -> None:
    if file_carry["blocks"]:
        source.notes.append(
            f"{len(file_carry['blocks'])} blocks of the file belong to no agent; they are kept "
            "with the agent for the next .af export, not as blocks"
        )
    if file_carry.get("tools"):
        source.notes.append(
            f"{len(file_carry['tools'])} tools are kept with the agent; `agents.run` offers those "
            "that are memory tools or registered functions, and their source code after approval"
        )
    for name in ("mcp_servers", "sources", "files", "groups", "skills"):
        if file_carry.get(name):
            source.notes.append(
                f"{len(file_carry[name])} {name.replace('_', ' ')} are kept with the agent for the "
                "next .af export; Recollect does not run them"
            )
    for block in source.letta.blocks:
        if sum(block.id in agent.block_ids for agent in source.letta.agents) > 1:
            source.notes.append(
                f"block {block.label!r} was shared by agents of the file; each has a copy of its "
                "own now"
            )


def _agent(number: int, file_carry: Mapping[str, Any], source: _Import) -> AgentParts:
    letta, record = source.letta.agents[number], source.record["agents"][number]
    path = f"$.agents[{number}]"
    metadata = _without_carry(letta.metadata)
    ours = {
        "name": letta.name,
        "description": letta.description,
        "system": letta.system,
        "metadata": metadata,
    }
    model = letta.llm_config.model if letta.llm_config.model is not None else letta.model
    elsewhere = ("block_ids", "in_context_message_ids", "messages")
    carry = {
        "agent": carry_over(record, ours, elsewhere=elsewhere),
        "file": file_carry,
        "model": model,
    }
    agent = Agent(
        id="agent",
        name=letta.name,
        description=letta.description,
        model=model,
        system_prompt=letta.system,
        metadata={**metadata, LETTA: carry},
        created_at=source.written_at,
        updated_at=source.written_at,
    )
    return AgentParts(
        agent=agent,
        blocks=_blocks(letta, path, source),
        conversations=_conversations(letta, record, path, source),
    )


def _blocks(agent: LettaAgent, path: str, source: _Import) -> tuple[BlockParts, ...]:
    if len(set(agent.block_ids)) < len(agent.block_ids):
        refuse(source.file, f"{path}.block_ids", "names a block twice")
    records = {block.id: at for at, block in enumerate(source.letta.blocks)}
    parts: list[BlockParts] = []
    for number, block_id in enumerate(agent.block_ids):
        if block_id not in records:
            problem = f"names {block_id!r}, which blocks does not hold"
            refuse(source.file, f"{path}.block_ids[{number}]", problem)
        block = _block(records[block_id], {part.block.label for part in parts}, source)
        first = BlockVersion(
            block_id=block.id,
            version=block.version,
            value=block.value,
            by=BlockAuthor.SYSTEM,
            reason="imported from an .af file",
            changed_at=source.now,
        )
        parts.append(BlockParts(block, (first,)))
    return tuple(parts)


def _block(number: int, taken_labels: set[str], source: _Import) -> Block:
    letta = source.letta.blocks[number]
    label = _label(number, taken_labels, source)
    limit = None if letta.limit is None else max(letta.limit, len(letta.value))
    if limit != letta.limit:
        source.notes.append(
            f"block {label!r} has {len(letta.value):,} characters and a limit of {letta.limit:,}; "
            "its limit was raised to its length"
        )
    ours: dict[str, Any] = {
        "label": label,
        "value": letta.value,
        "limit": limit,
        "description": letta.description,
        "read_only": letta.read_only,
        "hidden": letta.hidden,
        "metadata": _without_carry(letta.metadata),
    }
    carry = carry_over(source.record["blocks"][number], ours)
    metadata = {**ours.pop("metadata"), LETTA: carry}
    return Block(
        id=letta.id, metadata=metadata, created_at=source.now, updated_at=source.now, **ours
    )


def _without_carry(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != LETTA}


def _label(number: int, taken_labels: set[str], source: _Import) -> str:
    """Return a label that the tags of a prompt can contain: Letta's may be paths."""
    theirs = source.letta.blocks[number].label.strip()
    base = theirs.replace("/", ".")
    base = "".join("_" if char in _NOT_IN_TAGS or ord(char) < 32 else char for char in base)
    if not base:
        refuse(source.file, f"$.blocks[{number}].label", "is empty; a block is known by its label")
    label, suffix = base, 2
    while label in taken_labels:
        label, suffix = f"{base[: MAX_LABEL - 4]}_{suffix}", suffix + 1
    if label != theirs:
        source.notes.append(f"block {theirs!r} is called {label!r} here")
    return label


def _conversations(
    agent: LettaAgent, record: JsonRecord, path: str, source: _Import
) -> tuple[ConversationParts, ...]:
    if not agent.messages:
        return ()
    _check_ids(f"{path}.messages", agent.messages, source.file)
    in_context = set(agent.in_context_message_ids)
    missing = in_context - {message.id for message in agent.messages}
    if missing:
        source.notes.append(
            f"agent {agent.name!r}: {len(missing)} messages that were in context are not in the "
            "file"
        )
    messages = tuple(
        _message(position, letta, record["messages"][position], letta.id in in_context, source)
        for position, letta in enumerate(agent.messages)
    )
    conversation = Conversation(
        id="conversation",
        title=f"{agent.name} (.af)"[: limits.MAX_TITLE],
        metadata={LETTA: True},
        started_at=min(message.created_at for message in messages),
    )
    return (ConversationParts(conversation=conversation, messages=messages),)


def _message(
    position: int, letta: LettaMessage, record: JsonRecord, in_context: bool, source: _Import
) -> Message:
    role = _role(letta)
    parts = letta.content if isinstance(letta.content, tuple) else None
    form = "parts" if parts is not None else "null" if letta.content is None else "text"
    content = letta.content if isinstance(letta.content, str) else None
    if content is None:
        content = parts_text(parts or (), tool=role is Role.TOOL)
    created_at = letta.created_at or source.written_at
    ours = {
        "role": role.value,
        "name": letta.name,
        "tool_calls": list(letta.tool_calls),
        "tool_call_id": letta.tool_call_id,
        "created_at": created_at.isoformat(),
    }
    carry = carry_over(record, ours, elsewhere=("content",))
    message = Message(
        id=letta.id,
        conversation_id="conversation",
        position=position,
        role=role,
        content=(content or _tool_results(letta))[: limits.MAX_CONTENT],
        parts=parts,
        tool_calls=letta.tool_calls,
        tool_call_id=letta.tool_call_id,
        name=letta.name,
        metadata={LETTA: {**carry, "content": form, "in_context": in_context}},
        created_at=created_at,
    )
    return replace(message, tokens=message_size(message, counter_for().count))


def _role(message: LettaMessage) -> Role:
    if message.role == APPROVAL:
        return Role.ASSISTANT if "tool_calls" in message.model_fields_set else Role.USER
    return ROLES[message.role]


def _tool_results(message: LettaMessage) -> str:
    """Return what tools answered, if the message has no text of its own."""
    results = (item.get("func_response", item.get("tool_return")) for item in message.tool_returns)
    return "\n".join(result for result in results if isinstance(result, str))
