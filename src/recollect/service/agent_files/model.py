"""
The parts of one agent, as values: what a file holds, and what a copy is made of.

`gather` reads them from a store; insert.py writes them to one. Pins of agents, open files and the
paths of skills and checkouts belong to the machine and are not parts of an agent.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.agent import Agent, AgentPinning
from recollect.domain.block import Block, BlockVersion
from recollect.domain.change import Change
from recollect.domain.conversation import Conversation, Message, Pin, Summary
from recollect.domain.link import Link, LinkEnd
from recollect.domain.memory import Memory
from recollect.domain.project import ByPath, Project, Repo, parse_reference
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Source
from recollect.lazy_dataclass import dataclass
from recollect.service.agents import PINNED_IN
from recollect.store.protocol import Tables
from recollect.store.values import StoredSkill

ALL = 2**53  # more than there can be


@dataclass(frozen=True)
class BlockParts:
    """A block with every value it has had, oldest first."""

    block: Block
    versions: tuple[BlockVersion, ...]


@dataclass(frozen=True, kw_only=True)
class ConversationParts:
    """A conversation with its summaries, messages, pins and blocks."""

    conversation: Conversation
    summaries: tuple[Summary, ...] = ()
    messages: tuple[Message, ...] = ()
    pins: tuple[Pin, ...] = ()
    blocks: tuple[BlockParts, ...] = ()


@dataclass(frozen=True)
class MemoryParts:
    """A memory with its status changes, oldest first."""

    memory: Memory
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class SkillParts:
    """A loaded skill, and since when."""

    skill: StoredSkill
    loaded_at: datetime


@dataclass(frozen=True, kw_only=True)
class AgentParts:
    """One agent, whole. Blocks are in the agent's order; a block of global scope is shared."""

    agent: Agent
    projects: tuple[Project, ...] = ()
    repos: tuple[Repo, ...] = ()
    blocks: tuple[BlockParts, ...] = ()
    conversations: tuple[ConversationParts, ...] = ()
    sources: tuple[Source, ...] = ()
    memories: tuple[MemoryParts, ...] = ()
    links: tuple[Link, ...] = ()
    skills: tuple[SkillParts, ...] = ()


def gather(tables: Tables, agent: Agent, *, conversations: bool = True) -> AgentParts:
    """
    Return all parts of an agent, in an order that depends only on the rows.

    Without conversations, memories of session scope are left out too.
    """
    rows = tables.conversations.latest(agent.id, limit=ALL)[::-1] if conversations else []
    memories = tables.memories.get_many(sorted(tables.agents.own_memory_ids(agent.id)))
    if not conversations:
        memories = [memory for memory in memories if memory.scope is Scope.AGENT]
    skills = tuple(SkillParts(skill, at) for skill, at in tables.skills.loaded_by(agent.id))
    source_ids = {piece.source_id for memory in memories for piece in memory.evidence}
    sources = (tables.sources.get(source_id) for source_id in sorted(source_ids))
    placed: list[Conversation | Memory] = [*rows, *memories]
    repo_ids = {item.repo_id for item in placed}
    repos = [repo for id in sorted(filter(None, repo_ids)) if (repo := tables.projects.repo(id))]
    project_ids = {item.project_id for item in placed}
    project_ids |= {part.skill.project_id for part in skills} | {repo.project_id for repo in repos}
    projects = (tables.projects.project(id) for id in sorted(filter(None, project_ids)))
    metadata = {name: value for name, value in agent.metadata.items() if name != PINNED_IN}
    return AgentParts(
        agent=replace(agent, pinned=AgentPinning.NOT, metadata=metadata),
        projects=tuple(_portable_project(project) for project in projects if project),
        repos=tuple(replace(repo, root="") for repo in repos),
        blocks=_blocks(tables, tables.blocks.attached_to(agent.id)),
        conversations=tuple(_conversation(tables, row) for row in rows),
        sources=tuple(source for source in sources if source),
        memories=tuple(
            MemoryParts(memory, tuple(tables.memories.changes(memory.id))) for memory in memories
        ),
        links=_links_among(tables, [memory.id for memory in memories]),
        skills=skills,
    )


def _portable_project(project: Project) -> Project:
    """Return *project* without what is only valid on this machine: its folder and its links."""
    if isinstance(parse_reference(project.identity), ByPath):
        # Not the bare name: elsewhere that may be a project that a person gave this name.
        return replace(project, identity=f"{project.name} {project.id[-6:]}", linked_to="")
    return replace(project, linked_to="")


def links_outside(tables: Tables, parts: AgentParts) -> int:
    """Return how many links join memories of the agent to what is not its own."""
    among = {link.id for link in parts.links}
    return sum(
        link.id not in among
        for part in parts.memories
        for link in tables.links.of_memory(part.memory.id)
    )


def _blocks(tables: Tables, blocks: Sequence[Block]) -> tuple[BlockParts, ...]:
    return tuple(BlockParts(block, tuple(tables.blocks.versions(block.id))) for block in blocks)


def _conversation(tables: Tables, conversation: Conversation) -> ConversationParts:
    own = tables.blocks.of_owner(Owner(Scope.SESSION, conversation.id))
    return ConversationParts(
        conversation=conversation,
        summaries=tuple(tables.conversations.summaries(conversation.id)),
        messages=tuple(tables.messages.page(conversation.id, start=0, limit=ALL)),
        pins=tuple(tables.conversations.pins(conversation.id)),
        blocks=_blocks(tables, own),
    )


def _links_among(tables: Tables, memory_ids: Sequence[str]) -> tuple[Link, ...]:
    among = set(memory_ids)
    links = {
        link.id: link
        for memory_id in memory_ids
        for link in tables.links.of_memory(memory_id)
        if link.to_kind is LinkEnd.MEMORY and {link.from_id, link.to_id} <= among
    }
    return tuple(links[link_id] for link_id in sorted(links))
