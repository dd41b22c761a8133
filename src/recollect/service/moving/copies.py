"""
Copies of an agent: clones that go their own way, and branches that remember where they left.

A copy has blocks of its own with the values of today and a history that begins with the copy;
shared blocks stay shared. Its archive rests on the same sources, and each passage is linked to the
one it was copied from. Merging a branch back is merge.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import BRANCHED_FROM, MERGED
from recollect.domain.block import By
from recollect.domain.conversation import Conversation, Message
from recollect.domain.link import Relation
from recollect.domain.memory import Change
from recollect.domain.scope import Scope
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.block_target import known_conversation
from recollect.service.moving.parts import (
    AgentParts,
    BlockParts,
    ConversationParts,
    MemoryParts,
    gather,
)
from recollect.service.moving.placing import Placed, place
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean


def clone(services: Services, agent: object, name: object, *, conversations: bool = False) -> Agent:
    """Make an independent copy of an agent, with what was said only if asked."""
    wanted = inputs.new_name_of("agent", name)

    def write(tables: Tables) -> Agent:
        who = known_agent(tables, agent)
        parts = _remembering(gather(tables, who, conversations=conversations), None)
        return _copied(tables, services, parts, wanted, f"cloned from {who.name}")

    return services.store.write(write)


def branch(services: Services, agent: object, name: object, *, at: object = None) -> Agent:
    """Make a copy with what was said up to *at*, which can be merged back later."""
    wanted = inputs.new_name_of("agent", name)

    def write(tables: Tables) -> Agent:
        who = known_agent(tables, agent)
        parts = gather(tables, who)
        if at is not None:
            parts = _up_to(parts, _last_message(tables, who, at))
        origin = {
            "agent_id": who.id,
            "name": who.name,
            "blocks": {
                kept.block.label: seen(kept.block.id, kept.block.version, services.clock.now())
                for kept in parts.blocks
                if kept.block.scope is Scope.AGENT
            },
        }
        parts = _remembering(parts, origin)
        return _copied(tables, services, parts, wanted, branched_from(who.name))

    return services.store.write(write)


def branched_from(name: str) -> str:
    """Return how the history of a branch's block begins; a merge looks for it."""
    return f"branched from {name}"


def seen(block_id: str, version: int, at: datetime) -> dict[str, Any]:
    """Return how an agent remembers a value it had in common with another agent's block."""
    return {"block_id": block_id, "version": version, "at": at.isoformat()}


def _copied(tables: Tables, services: Services, parts: AgentParts, name: str, reason: str) -> Agent:
    now = services.clock.now()
    renewed = replace(
        parts,
        agent=replace(parts.agent, name=name, created_at=now, updated_at=now),
        blocks=tuple(_begun_anew(kept, reason, now) for kept in parts.blocks),
        conversations=tuple(
            replace(said, blocks=tuple(_begun_anew(kept, reason, now) for kept in said.blocks))
            for said in parts.conversations
        ),
        memories=tuple(born_anew(kept, reason, now) for kept in parts.memories),
        skills=tuple(replace(used, loaded_at=now) for used in parts.skills),
    )
    placed = place(tables, services.clock, renewed, came=reason)
    link_to_originals(tables, services, parts.memories, placed)
    return placed.agent


def link_to_originals(
    tables: Tables, services: Services, memories: Sequence[MemoryParts], placed: Placed
) -> None:
    """Note of each copied memory which one it was copied from."""
    records = AuditedWriter(tables, services.clock, "user")
    for kept in memories:
        records.link(placed.ids[kept.memory.id], Relation.DERIVED_FROM, kept.memory.id)


def _remembering(parts: AgentParts, origin: Mapping[str, Any] | None) -> AgentParts:
    """Return the agent with its own origin in place of what it remembered of others."""
    metadata = {
        name: value
        for name, value in parts.agent.metadata.items()
        if name not in (BRANCHED_FROM, MERGED)
    }
    if origin is not None:
        metadata[BRANCHED_FROM] = origin
    return replace(parts, agent=replace(parts.agent, metadata=metadata))


def _begun_anew(kept: BlockParts, reason: str, now: datetime) -> BlockParts:
    """Return a block whose history begins with the copy; a shared one is not copied."""
    if kept.block.scope is Scope.GLOBAL:
        return kept
    block = replace(kept.block, version=1, created_at=now, updated_at=now)
    first = replace(
        kept.versions[-1],
        version=1,
        value=block.value,
        by=By.SYSTEM,
        reason=reason,
        changed_at=now,
    )
    return BlockParts(block, (first,))


def born_anew(kept: MemoryParts, reason: str, now: datetime) -> MemoryParts:
    """Return a memory whose history begins with the copy."""
    status = kept.memory.status
    born = Change(
        id="",
        memory_id=kept.memory.id,
        before=None,
        after=status,
        by="user",
        reason=reason,
        at=now,
    )
    return MemoryParts(replace(kept.memory, created_at=now, updated_at=now), (born,))


def _up_to(parts: AgentParts, last: Message) -> AgentParts:
    """Return the agent with what had been said when *last* had been."""
    said = tuple(
        _cut(one, last)
        for one in parts.conversations
        if one.conversation.id == last.conversation_id
        or one.conversation.started_at <= last.created_at
    )
    here = {one.conversation.id for one in said}
    memories = [
        kept
        for kept in parts.memories
        if kept.memory.scope is not Scope.SESSION or kept.memory.session_id in here
    ]
    return with_memories(replace(parts, conversations=said), memories)


def _cut(said: ConversationParts, last: Message) -> ConversationParts:
    def had_been_said(message: Message) -> bool:
        if said.conversation.id == last.conversation_id:
            return message.position <= last.position
        return message.created_at <= last.created_at

    messages = tuple(message for message in said.messages if had_been_said(message))
    if len(messages) == len(said.messages):
        return said
    # A summary that stands for messages which are not here would tell the future.
    end = messages[-1].position if messages else -1
    summaries = tuple(one for one in said.summaries if one.last_position <= end)
    kept = {one.id for one in summaries}
    return replace(
        said,
        conversation=replace(said.conversation, ended_at=None),
        summaries=summaries,
        messages=tuple(
            one if one.summary_id in kept else replace(one, summary_id=None) for one in messages
        ),
    )


def with_memories(parts: AgentParts, memories: Sequence[MemoryParts]) -> AgentParts:
    """Return the parts with these memories only, and what they rest on."""
    here = {kept.memory.id for kept in memories}
    quoted = {piece.source_id for kept in memories for piece in kept.memory.evidence}
    return replace(
        parts,
        memories=tuple(memories),
        links=tuple(link for link in parts.links if {link.from_id, link.to_id} <= here),
        sources=tuple(source for source in parts.sources if source.id in quoted),
    )


def _last_message(tables: Tables, agent: Agent, at: object) -> Message:
    """Return the message a caller means: itself, its id, or the last of a conversation."""
    message = tables.messages.get(clean(at)) if isinstance(at, str) else None
    if isinstance(at, Message):
        message = tables.messages.get(at.id)
    elif isinstance(at, tuple | list) and len(at) == 2:
        said = known_conversation(tables, at[0])
        position = inputs.count_of("at", at[1], least=0, most=2**53)
        page = tables.messages.page(said.id, start=position, limit=1)
        message = page[0] if page and page[0].position == position else None
    elif message is None and isinstance(at, str | Conversation):
        said = known_conversation(tables, at)
        page = tables.messages.page_back(said.id, before=2**53, limit=1)
        message = page[0] if page else None
    if message is None:
        raise NotFound(
            f"there is no message {at!r} to branch at; pass a message or its id, a conversation, "
            "or (conversation, position)"
        )
    if known_conversation(tables, message.conversation_id).agent_id != agent.id:
        raise InvalidInput(f"message {message.id} was not said to agent {agent.name!r}")
    return message
