"""
Copy an agent: clones, which are independent, and branches, which can be merged back (merge.py).

A copy has blocks of its own with the current values and a history that begins with the copy; shared
blocks stay shared. Its archive rests on the same sources, and each passage is linked to the one it
was copied from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import BRANCHED_FROM, MERGED
from recollect.domain.block import BlockAuthor
from recollect.domain.change import Change, ChangeKind
from recollect.domain.conversation import Message
from recollect.domain.link import Relation
from recollect.domain.scope import Scope
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import InvalidInput, NotFound
from recollect.service import validate
from recollect.service.agent_files.insert import InsertedAgent, insert_agent
from recollect.service.agent_files.model import (
    AgentParts,
    BlockParts,
    ConversationParts,
    MemoryParts,
    gather,
)
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.agents import BranchAgentRequest, CloneAgentRequest


def clone_agent(services: Services, request: CloneAgentRequest) -> Agent:
    """Make an independent copy of an agent, with its conversations only if the request says so."""
    name = validate.new_name_of("agent", request.name)

    def write(tables: Tables) -> Agent:
        agent = require_agent(tables, request.agent)
        parts = gather(tables, agent, conversations=request.conversations)
        reason = f"cloned from {agent.name}"
        return _insert_copy(tables, services, _with_origin(parts, None), name, reason)

    return services.store.write(write)


def branch_agent(services: Services, request: BranchAgentRequest) -> Agent:
    """Make a copy that ends with the message *at*, and can be merged back later."""
    name = validate.new_name_of("agent", request.name)

    def write(tables: Tables) -> Agent:
        agent = require_agent(tables, request.agent)
        parts = gather(tables, agent)
        if request.at is not None:
            parts = _without_later_messages(parts, _last_message(tables, agent, request.at))
        now = services.clock.now()
        origin = {
            "agent_id": agent.id,
            "name": agent.name,
            "blocks": {
                part.block.label: common_version(part.block.id, part.block.version, now)
                for part in parts.blocks
                if part.block.scope is Scope.AGENT
            },
        }
        parts = _with_origin(parts, origin)
        return _insert_copy(tables, services, parts, name, f"branched from {agent.name}")

    return services.store.write(write)


def common_version(block_id: str, version: int, at: datetime) -> dict[str, Any]:
    """Return the metadata that records a version two agents have in common."""
    return {"block_id": block_id, "version": version, "at": at.isoformat()}


def _insert_copy(
    tables: Tables, services: Services, parts: AgentParts, name: str, reason: str
) -> Agent:
    now = services.clock.now()
    copy = replace(
        parts,
        agent=replace(parts.agent, name=name, created_at=now, updated_at=now),
        blocks=_without_history(parts.blocks, reason, now),
        conversations=tuple(
            replace(part, blocks=_without_history(part.blocks, reason, now))
            for part in parts.conversations
        ),
        memories=tuple(memory_without_history(part, reason, now) for part in parts.memories),
        skills=tuple(replace(part, loaded_at=now) for part in parts.skills),
    )
    inserted = insert_agent(tables, services.clock, copy, reason=reason)
    link_to_originals(tables, services, parts.memories, inserted)
    return inserted.agent


def link_to_originals(
    tables: Tables, services: Services, memories: Sequence[MemoryParts], inserted: InsertedAgent
) -> None:
    """Link each copied memory to the one it was copied from."""
    writer = AuditedWriter(tables, services.clock, "user")
    for part in memories:
        writer.link(inserted.ids[part.memory.id], Relation.DERIVED_FROM, part.memory.id)


def _with_origin(parts: AgentParts, origin: Mapping[str, Any] | None) -> AgentParts:
    """Return the agent with its own origin instead of those of earlier branches and merges."""
    metadata = {
        name: value
        for name, value in parts.agent.metadata.items()
        if name not in (BRANCHED_FROM, MERGED)
    }
    if origin is not None:
        metadata[BRANCHED_FROM] = origin
    return replace(parts, agent=replace(parts.agent, metadata=metadata))


def _without_history(
    parts: Sequence[BlockParts], reason: str, now: datetime
) -> tuple[BlockParts, ...]:
    """Return blocks whose history begins with the copy; a shared one is not copied."""

    def first_version(part: BlockParts) -> BlockParts:
        if part.block.scope is Scope.GLOBAL:
            return part
        block = replace(part.block, version=1, created_at=now, updated_at=now)
        first = replace(
            part.versions[-1],
            version=1,
            value=block.value,
            by=BlockAuthor.SYSTEM,
            reason=reason,
            changed_at=now,
        )
        return BlockParts(block, (first,))

    return tuple(first_version(part) for part in parts)


def memory_without_history(part: MemoryParts, reason: str, now: datetime) -> MemoryParts:
    """Return a memory whose history begins with the copy."""
    created = Change(
        id="",
        memory_id=part.memory.id,
        kind=ChangeKind.CREATED,
        before=None,
        after=part.memory.status,
        by="user",
        reason=reason,
        at=now,
    )
    return MemoryParts(replace(part.memory, created_at=now, updated_at=now), (created,))


def _without_later_messages(parts: AgentParts, last: Message) -> AgentParts:
    """Return the agent without what was said after *last*."""
    conversations = tuple(
        _cut_conversation(part, last)
        for part in parts.conversations
        if part.conversation.id == last.conversation_id
        or part.conversation.started_at <= last.created_at
    )
    conversation_ids = {part.conversation.id for part in conversations}
    memories = [
        part
        for part in parts.memories
        if part.memory.scope is not Scope.SESSION or part.memory.session_id in conversation_ids
    ]
    return with_memories(replace(parts, conversations=conversations), memories)


def _cut_conversation(part: ConversationParts, last: Message) -> ConversationParts:
    def is_before_end(message: Message) -> bool:
        if part.conversation.id == last.conversation_id:
            return message.position <= last.position
        return message.created_at <= last.created_at

    messages = tuple(message for message in part.messages if is_before_end(message))
    if len(messages) == len(part.messages):
        return part
    # A summary of messages that were cut off would tell the future.
    end = messages[-1].position if messages else -1
    summaries = tuple(summary for summary in part.summaries if summary.last_position <= end)
    summary_ids = {summary.id for summary in summaries}
    return replace(
        part,
        conversation=replace(part.conversation, ended_at=None),
        summaries=summaries,
        messages=tuple(
            message if message.summary_id in summary_ids else replace(message, summary_id=None)
            for message in messages
        ),
    )


def with_memories(parts: AgentParts, memories: Sequence[MemoryParts]) -> AgentParts:
    """Return the parts with these memories only, and their links and sources."""
    memory_ids = {part.memory.id for part in memories}
    source_ids = {quote.source_id for part in memories for quote in part.memory.evidence}
    return replace(
        parts,
        memories=tuple(memories),
        links=tuple(link for link in parts.links if {link.from_id, link.to_id} <= memory_ids),
        sources=tuple(source for source in parts.sources if source.id in source_ids),
    )


def _last_message(tables: Tables, agent: Agent, at: str | tuple[str, int]) -> Message:
    """Return the message *at* names: by id, or the last of a conversation, or by position."""
    message = tables.messages.get(at) if isinstance(at, str) else None
    if isinstance(at, tuple):
        conversation = require_conversation(tables, at[0])
        page = tables.messages.page(conversation.id, start=at[1], limit=1)
        message = page[0] if page and page[0].position == at[1] else None
    elif message is None:
        conversation = require_conversation(tables, at)
        page = tables.messages.page_back(conversation.id, before=2**53, limit=1)
        message = page[0] if page else None
    if message is None:
        raise NotFound(
            f"there is no message {at!r} to branch at; pass a message or its id, a conversation, "
            "or (conversation, position)"
        )
    if require_conversation(tables, message.conversation_id).agent_id != agent.id:
        raise InvalidInput(f"message {message.id} was not said to agent {agent.name!r}")
    return message
