"""
Letta's agent files (.af), read: what they say as the parts of our agents.

An .af holds agents with their messages, and blocks and tools they name by id; in the wild it is
often JSON inside a JSON string, and older ones hold a single agent with its blocks inside. What we
have no place for is carried along (letta_carry.py), so that an export says it again. The file has
no archive and no history of blocks. Nothing here touches a store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.context.history_window import message_size
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.domain.block import Block, BlockVersion, By
from recollect.domain.conversation import Conversation, Message, Role
from recollect.service import inputs
from recollect.service.agents import MAX_PROMPT
from recollect.service.block_target import MAX_LABEL
from recollect.service.moving.given_json import Given
from recollect.service.moving.letta_carry import (
    carried,
    without_keys,
    without_tokens,
    without_values,
)
from recollect.service.moving.letta_older import current_shape, is_older
from recollect.service.moving.parts import AgentParts, BlockParts, ConversationParts
from recollect.text.message_text import parts_text
from recollect.text.token_counter import counter_for

# Letta's roles in ours. An approval is the assistant's question or the user's answer to it.
_ROLES = {role.value: role for role in Role} | {"function": Role.TOOL, "summary": Role.SYSTEM}
_LISTS = ("groups", "files", "sources", "tools", "mcp_servers")
_UNCARRIABLE = "<>&\"'"


@dataclass
class _Reading:
    """One file on its way in: when it was written, its blocks, what to tell the importer."""

    written_at: datetime
    now: datetime
    blocks: dict[str, Given]
    notes: list[str] = field(default_factory=list)


def is_af(value: Any) -> bool:
    """Say whether what a file holds looks like an agent file of Letta."""
    return isinstance(value, dict) and ("agents" in value or is_older(value))


def parts_of(value: Any, file: str, now: datetime) -> tuple[list[AgentParts], tuple[str, ...]]:
    """Return the agents a file holds, and notes on what changed on the way; or refuse it."""
    given = Given(current_shape(Given(value, file)), file)
    for name in _LISTS:
        if given.has(name):
            given.objects(name)
    agents = [_without_values(one) for one in given.objects("agents")]
    if not agents:
        given.refuse("agents", "is empty; there is nobody to import")
    reading = _Reading(
        written_at=given.moment("created_at") if given.has("created_at") else now,
        now=now,
        blocks=_blocks_by_id(given),
    )
    for one, dropped in agents:
        if dropped:
            reading.notes.append(
                f"agent {one.fields.get('name')!r}: the values of {', '.join(dropped)} were not "
                "stored; only the names are kept"
            )
    users = [set(_ids(one, "block_ids")) for one, _ in agents]
    whole = _file_carry(given, set().union(*users))
    parts = [_agent(one, whole, reading) for one, _ in agents]
    _note_whole(whole, users, reading)
    return parts, tuple(reading.notes)


def _without_values(given: Given) -> tuple[Given, list[str]]:
    kept, dropped = without_values(given.fields)
    return Given(kept, given.file, given.where), dropped


def _blocks_by_id(given: Given) -> dict[str, Given]:
    found: dict[str, Given] = {}
    for one in given.objects("blocks") if given.has("blocks") else []:
        block = one.clean()
        if block.id() in found:
            block.refuse("id", f"{block.id()!r} is the id of another block already")
        found[block.id()] = block
    return found


def _file_carry(given: Given, in_use: set[str]) -> dict[str, Any]:
    """Return what the file says beside its agents, with the blocks none of them has."""
    rest = {name: value for name, value in given.fields.items() if name not in ("agents", "blocks")}
    if isinstance(rest.get("mcp_servers"), list):
        rest["mcp_servers"] = [without_tokens(one) for one in rest["mcp_servers"]]
    blocks = given.objects("blocks") if given.has("blocks") else []
    rest["blocks"] = [dict(one.fields) for one in blocks if one.fields.get("id") not in in_use]
    return dict(Given(without_keys(rest), given.file).clean().fields)


def _note_whole(whole: Mapping[str, Any], users: list[set[str]], reading: _Reading) -> None:
    if whole["blocks"]:
        reading.notes.append(
            f"{len(whole['blocks'])} blocks of the file belong to no agent; they are kept with the "
            "agent for the next .af export, not as blocks"
        )
    for name in ("tools", "mcp_servers", "sources", "files", "groups", "skills"):
        if whole.get(name):
            reading.notes.append(
                f"{len(whole[name])} {name.replace('_', ' ')} are kept with the agent for the next "
                ".af export; Recollect does not run them"
            )
    for block_id, block in reading.blocks.items():
        if sum(block_id in has for has in users) > 1:
            reading.notes.append(
                f"block {block.fields.get('label')!r} was shared by agents of the file; each has a "
                "copy of its own now"
            )


def _agent(given: Given, whole: Mapping[str, Any], reading: _Reading) -> AgentParts:
    given.raw("name")
    messages = given.objects("messages") if given.has("messages") else []
    lean = {name: value for name, value in given.fields.items() if name != "messages"}
    record = Given(lean, given.file, given.where).clean()
    metadata = record.mapping("metadata") if record.has("metadata") else {}
    metadata.pop(LETTA, None)
    ours: dict[str, Any] = {
        "name": record.name("name"),
        "description": _text(record, "description", inputs.MAX_SUMMARY),
        "system": _text(record, "system", MAX_PROMPT),
        "metadata": metadata,
    }
    carry: dict[str, Any] = {
        "agent": carried(
            record.fields, ours, besides=("block_ids", "in_context_message_ids", "messages")
        ),
        "file": whole,
        "model": _model(record),
    }
    agent = Agent(
        id="agent",
        name=ours["name"],
        description=ours["description"],
        model=carry["model"],
        system_prompt=ours["system"],
        metadata={**metadata, LETTA: carry},
        created_at=reading.written_at,
        updated_at=reading.written_at,
    )
    return AgentParts(
        agent=agent,
        blocks=_blocks(record, reading),
        conversations=_conversation(record, messages, agent, reading),
    )


def _model(agent: Given) -> str:
    if agent.has("llm_config"):
        config = agent.object("llm_config")
        if config.has("model"):
            return config.text("model", inputs.MAX_NAME)
    return _text(agent, "model", inputs.MAX_NAME)


def _blocks(agent: Given, reading: _Reading) -> tuple[BlockParts, ...]:
    found: list[BlockParts] = []
    labels: set[str] = set()
    for number, block_id in enumerate(_ids(agent, "block_ids")):
        if block_id not in reading.blocks:
            agent.refuse(f"block_ids[{number}]", f"names {block_id!r}, which blocks does not hold")
        kept = _block(reading.blocks[block_id], labels, reading)
        labels.add(kept.label)
        first = BlockVersion(
            block_id=kept.id,
            version=kept.version,
            value=kept.value,
            by=By.SYSTEM,
            reason="imported from an .af file",
            changed_at=reading.now,
        )
        found.append(BlockParts(kept, (first,)))
    return tuple(found)


def _block(given: Given, taken: set[str], reading: _Reading) -> Block:
    metadata = given.mapping("metadata") if given.has("metadata") else {}
    metadata.pop(LETTA, None)
    value = _text(given, "value", inputs.MAX_CONTENT)
    limit = given.count("limit", least=1, most=inputs.MAX_CONTENT) if given.has("limit") else None
    ours: dict[str, Any] = {
        "label": _label(given, taken, reading),
        "value": value,
        "limit": None if limit is None else max(limit, len(value)),
        "description": _text(given, "description", inputs.MAX_CONTENT),
        "read_only": _flag(given, "read_only"),
        "hidden": _flag(given, "hidden"),
        "metadata": metadata,
    }
    if ours["limit"] != limit:
        reading.notes.append(
            f"block {ours['label']!r} has {len(value):,} characters and a limit of {limit:,}; its "
            "limit was raised to what it holds"
        )
    return Block(
        id=given.id(),
        label=ours["label"],
        value=value,
        limit=ours["limit"],
        description=ours["description"],
        read_only=ours["read_only"],
        hidden=ours["hidden"],
        metadata={**metadata, LETTA: carried(given.fields, ours)},
        created_at=reading.now,
        updated_at=reading.now,
    )


def _label(given: Given, taken: set[str], reading: _Reading) -> str:
    """Return a label our tags can carry: Letta's may be paths."""
    theirs = given.text("label", MAX_LABEL).strip()
    ours = theirs.replace("/", ".")
    ours = "".join("_" if ch in _UNCARRIABLE or ord(ch) < 32 else ch for ch in ours)
    if not ours:
        given.refuse("label", "is empty; a block is known by its label")
    label, number = ours, 2
    while label in taken:
        label, number = f"{ours[: MAX_LABEL - 4]}_{number}", number + 1
    if label != theirs:
        reading.notes.append(f"block {theirs!r} is called {label!r} here")
    return label


def _conversation(
    agent: Given, messages: Sequence[Given], owner: Agent, reading: _Reading
) -> tuple[ConversationParts, ...]:
    if not messages:
        return ()
    in_context = set(_ids(agent, "in_context_message_ids"))
    found: list[Message] = []
    seen: set[str] = set()
    for position, given in enumerate(messages):
        one = given.clean()
        message_id = one.id()
        if message_id in seen:
            one.refuse("id", f"{message_id!r} is the id of another message already")
        seen.add(message_id)
        found.append(_message(one, position, message_id in in_context, reading))
    if in_context - seen:
        reading.notes.append(
            f"agent {owner.name!r}: {len(in_context - seen)} messages that were in context are not "
            "in the file"
        )
    begun = Conversation(
        id="conversation",
        title=f"{owner.name} (.af)"[: inputs.MAX_TITLE],
        metadata={LETTA: True},
        started_at=min(message.created_at for message in found),
    )
    return (ConversationParts(conversation=begun, messages=tuple(found)),)


def _message(given: Given, position: int, in_context: bool, reading: _Reading) -> Message:
    role = _role(given)
    content = given.fields.get("content")
    if content is not None and not isinstance(content, str | list):
        given.refuse("content", "must be text or a list of parts")
    parts = tuple(content) if isinstance(content, list) else None
    text = (
        given.text("content", inputs.MAX_CONTENT)
        if isinstance(content, str)
        else parts_text(parts or (), tool=role is Role.TOOL)
    )
    calls = given.values("tool_calls") if given.has("tool_calls") else ()
    said_at = given.moment("created_at") if given.has("created_at") else reading.written_at
    ours: dict[str, Any] = {
        "role": role.value,
        "name": _text(given, "name", inputs.MAX_NAME),
        "tool_calls": list(calls),
        "tool_call_id": _text(given, "tool_call_id", inputs.MAX_NAME),
        "created_at": said_at.isoformat(),
    }
    carry = carried(given.fields, ours, besides=("content",))
    form = "parts" if parts is not None else "null" if content is None else "text"
    said = (text or _returned(given))[: inputs.MAX_CONTENT]
    message = Message(
        id=given.id(),
        conversation_id="conversation",
        position=position,
        role=role,
        content=said,
        parts=parts,
        tool_calls=calls,
        tool_call_id=ours["tool_call_id"],
        name=ours["name"],
        metadata={LETTA: {**carry, "content": form, "in_context": in_context}},
        created_at=said_at,
    )
    return replace(message, tokens=message_size(message, counter_for().count))


def _role(given: Given) -> Role:
    role = given.raw("role")
    if role == "approval":
        return Role.ASSISTANT if given.has("tool_calls") else Role.USER
    if not isinstance(role, str) or role not in _ROLES:
        known = ", ".join(sorted({*_ROLES, "approval"}))
        given.refuse("role", f"{role!r} is not known; use one of {known}")
    return _ROLES[role]


def _returned(given: Given) -> str:
    """Return what tools answered, where the message has no words of its own."""
    returns = given.objects("tool_returns") if given.has("tool_returns") else []
    answers = (one.fields.get("func_response", one.fields.get("tool_return")) for one in returns)
    return "\n".join(answer for answer in answers if isinstance(answer, str))


def _ids(given: Given, name: str) -> tuple[str, ...]:
    if not given.has(name):
        return ()
    found = given.texts(name, inputs.MAX_NAME, at_most=1_000_000)
    if len(set(found)) != len(found):
        given.refuse(name, "names something twice")
    return found


def _text(given: Given, name: str, most: int) -> str:
    return given.text(name, most) if given.has(name) else ""


def _flag(given: Given, name: str) -> bool:
    return given.flag(name) if given.has(name) else False
