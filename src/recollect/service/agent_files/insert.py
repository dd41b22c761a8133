"""
Insert the parts of an agent into a store, as a new agent.

This writes in the caller's transactions, with new ids throughout, so that the same parts inserted
twice are two agents. Projects, sources and shared blocks that are in the store already and are
equal are used; if they differ, the store's stay as they are, and the conflict is returned.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from recollect.clock import Clock
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.change import ChangeEffects
from recollect.domain.project import Project, Repo, identity_of_repo, is_named_after
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Source
from recollect.errors import AlreadyExists
from recollect.lazy_dataclass import dataclass
from recollect.service.agent_files.model import (
    AgentParts,
    BlockParts,
    ConversationParts,
    MemoryParts,
    SkillParts,
)
from recollect.service.block_writing import EVERYBODY
from recollect.store.protocol import Tables

T = TypeVar("T")
MARKED_AT_ONCE = 500


@dataclass(frozen=True)
class InsertedAgent:
    """A new agent, the number of its parts by kind, conflicts in sentences, and ids by old id."""

    agent: Agent
    counts: Mapping[str, int]
    conflicts: tuple[str, ...]
    ids: Mapping[str, str]


def refuse_taken_name(tables: Tables, name: str) -> None:
    """Refuse a name another agent has."""
    if tables.agents.by_name(name) is not None:
        raise AlreadyExists(
            f"there is an agent named {name!r} already; nothing was changed. Give the new one "
            "another name (--name, or name=…)"
        )


def insert_agent(tables: Tables, clock: Clock, parts: AgentParts, *, reason: str) -> InsertedAgent:
    """Create an agent from *parts*; *reason* is stored in the event of each source."""
    insertion = AgentInsertion(tables, clock)
    for _ in insertion.add_agent(parts, reason):
        pass
    return insertion.result()


def insert_archive(
    tables: Tables, clock: Clock, agent: Agent, parts: AgentParts, *, reason: str
) -> InsertedAgent:
    """Add the memories of *parts* to the archive of an existing agent."""
    insertion = AgentInsertion(tables, clock, agent)
    insertion.ids[parts.agent.id] = agent.id
    insertion.add_places(parts)
    for _ in insertion.add_archive(agent, parts, reason):
        pass
    return insertion.result()


class AgentInsertion:
    """
    An agent that is being inserted: new ids by old id, counts and conflicts so far.

    Methods that add much are iterators, which yield the number of characters that each small piece
    had: the caller may end its transaction there and go on with the tables of another one.
    """

    def __init__(self, tables: Tables, clock: Clock, agent: Agent | None = None) -> None:
        self._tables = tables
        self._clock = clock
        self._agent = agent
        self.ids: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.conflicts: list[str] = []

    @property
    def agent(self) -> Agent:
        """The agent, once it is added."""
        assert self._agent is not None
        return self._agent

    def use_tables(self, tables: Tables) -> None:
        """Go on in another transaction."""
        self._tables = tables

    def add_agent(self, parts: AgentParts, reason: str) -> Iterator[int]:
        """Add an agent with all its parts."""
        refuse_taken_name(self._tables, parts.agent.name)
        agent = self._agent = self.with_new_id(parts.agent)
        self._tables.agents.add(agent)
        self.add_places(parts)
        for block in parts.blocks:
            self.attach_block(agent, block)
        yield 0
        for conversation in parts.conversations:
            yield from self.add_conversation(agent, conversation)
        yield from self.add_archive(agent, parts, reason)
        for skill in parts.skills:
            self.add_skill(agent, skill)
            yield len(skill.skill.content)

    def with_new_id(self, value: T, **changes: Any) -> T:
        """Return a copy with a new id, and with the new ids of the records that it names."""
        new_id = self._clock.new_id()
        references: dict[str, Any] = {
            field.name: self.ids[record_id]
            for field in fields(value)  # type: ignore[arg-type]
            if field.name.endswith("_id") and (record_id := getattr(value, field.name)) in self.ids
        }
        if old_id := getattr(value, "id", ""):
            new_id = self.ids.setdefault(old_id, new_id)
        return replace(value, **{**references, "id": new_id, **changes})  # type: ignore[type-var]

    def add_places(self, parts: AgentParts) -> None:
        """Find the projects and repos of the store; create the missing ones."""
        projects = self._tables.projects
        for project in parts.projects:
            identity = project.identity or _old_identity(project, parts.repos)
            stored = projects.project(project.id) or projects.project_by_identity(identity)
            if stored is None:
                projects.add_project(self.with_new_id(project, identity=identity, linked_to=""))
                self.counts["projects"] += 1
            else:
                self.ids[project.id] = stored.id
        for repo in parts.repos:
            same_name = projects.repo_by_name(repo.name, self.ids[repo.project_id])
            same = projects.repo_by_remote(repo.remote) if repo.remote else None
            if same is None and same_name is not None and _may_be_same(same_name, repo):
                same = same_name
            if same is not None:
                self.ids[repo.id] = same.id
                continue
            new_repo = self.with_new_id(repo)
            if same_name is not None:
                new_repo = replace(new_repo, name=f"{repo.name} {new_repo.id[-6:]}")
            projects.add_repo(new_repo)
            self.counts["repos"] += 1

    def attach_block(self, agent: Agent, part: BlockParts) -> None:
        """Give the agent a block of its own, or the equal shared one of the store."""
        block = part.block
        shared = self._shared_block(block) if block.scope is not Scope.AGENT else None
        if shared is not None:
            self.ids[block.id] = shared.id
            self._tables.blocks.attach(agent.id, shared)
            self.counts["shared blocks"] += 1
            return
        self._tables.blocks.attach(agent.id, self._add_block(part, Owner(Scope.AGENT, agent.id)))
        if block.scope is not Scope.AGENT:
            self.conflicts.append(
                f"block {block.label!r} was shared; no shared block here says the same, so agent "
                f"{agent.name!r} has a copy of its own"
            )

    def add_conversation(self, agent: Agent, part: ConversationParts) -> Iterator[int]:
        """Add a conversation with its messages, summaries, pins and blocks."""
        conversation = self.with_new_id(part.conversation, agent_id=agent.id)
        own = {"conversation_id": conversation.id}
        self._tables.conversations.add(conversation)
        for summary in part.summaries:
            self._tables.conversations.add_summary(self.with_new_id(summary, **own))
        summarized: dict[str, list[str]] = {}
        for message in part.messages:
            new_message = self.with_new_id(message, **own)
            self._tables.messages.add(conversation, new_message)
            if new_message.summary_id is not None:
                summarized.setdefault(new_message.summary_id, []).append(new_message.id)
            yield len(message.content)
        for summary_id, message_ids in summarized.items():
            for start in range(0, len(message_ids), MARKED_AT_ONCE):
                marked = message_ids[start : start + MARKED_AT_ONCE]
                self._tables.messages.mark_summarized(marked, summary_id)
                yield 0
        for pin in part.pins:
            self._tables.conversations.add_pin(self.with_new_id(pin, **own))
        for block in part.blocks:
            self._add_block(block, Owner(Scope.SESSION, conversation.id))
        self.counts["conversations"] += 1
        self.counts["messages"] += len(part.messages)
        self.counts["summaries"] += len(part.summaries)
        self.counts["pins"] += len(part.pins)

    def add_archive(self, agent: Agent, parts: AgentParts, reason: str) -> Iterator[int]:
        """Add memories with their sources and the links among them."""
        for source in parts.sources:
            self._add_source(agent, source, reason)
            yield len(source.content)
        # All ids first: the history of a memory names other memories.
        memory_ids = {part.memory.id: self._clock.new_id() for part in parts.memories}
        self.ids |= memory_ids
        for part in parts.memories:
            self._add_memory(part, memory_ids)
            yield len(part.memory.content)
        for link in parts.links:
            self._tables.links.add(self.with_new_id(link, id=self._clock.new_id()))
            yield 0
        self.counts["memories"] += len(parts.memories)
        self.counts["links"] += len(parts.links)

    def add_skill(self, agent: Agent, part: SkillParts) -> None:
        """Load a skill with the text the agent has, even if another skill has its name here."""
        skill = self.with_new_id(part.skill)
        skill_id = self._tables.skills.save(skill, part.loaded_at)
        self._tables.skills.load(agent.id, skill_id, part.loaded_at)
        self.counts["skills"] += 1

    def result(self) -> InsertedAgent:
        """Return what was inserted."""
        counts = {kind: count for kind, count in sorted(self.counts.items()) if count}
        return InsertedAgent(self.agent, counts, tuple(self.conflicts), dict(self.ids))

    def _add_source(self, agent: Agent, source: Source, reason: str) -> None:
        """Add a source unless it is here, with an event that names the agent."""
        stored = self._tables.sources.with_hash(source.sha256, source.kind)
        if stored is None:
            stored = self.with_new_id(source)
            self._tables.sources.add(stored)
            self.counts["sources"] += 1
        self.ids[source.id] = stored.id
        now = self._clock.now()
        event = Event(
            id=self._clock.new_id(),
            trigger=Trigger.MANUAL,
            source_id=stored.id,
            owner=Owner(Scope.AGENT, agent.id),
            state=EventState.DONE,
            outcome=reason,
            created_at=now,
            updated_at=now,
        )
        self._tables.sources.add_event(event)

    def _add_memory(self, part: MemoryParts, memory_ids: Mapping[str, str]) -> None:
        """Add a memory with its evidence and its history."""
        memory = self.with_new_id(part.memory)
        evidence = tuple(
            self.with_new_id(quote, id=self._clock.new_id(), memory_id=memory.id)
            for quote in memory.evidence
        )
        self._tables.memories.add(replace(memory, evidence=evidence))
        for change in part.changes:
            new_change = replace(
                change,
                id=self._clock.new_id(),
                memory_id=memory.id,
                effects=_with_new_ids(change.effects, memory_ids),
            )
            self._tables.memories.add_change(new_change)

    def _add_block(self, part: BlockParts, owner: Owner) -> Block:
        block = self.with_new_id(part.block, scope=owner.scope, owner_id=owner.id)
        self._tables.blocks.add(block)
        for version in part.versions:
            self._tables.blocks.add_version(replace(version, block_id=block.id))
        self.counts["blocks"] += 1
        return block

    def _shared_block(self, block: Block) -> Block | None:
        """Return the shared block with this label and value, the one with this id first."""
        equal = [
            other
            for other in self._tables.blocks.of_owner(EVERYBODY)
            if (other.label, other.value) == (block.label, block.value)
        ]
        return min(equal, key=lambda other: other.id != block.id) if equal else None


def _with_new_ids(effects: ChangeEffects, memory_ids: Mapping[str, str]) -> ChangeEffects:
    """Return *effects* on the inserted memories; evidence and links have ids of their own here."""
    return replace(
        effects,
        caused_by=memory_ids.get(effects.caused_by, ""),
        superseded=tuple(memory_ids[id] for id in effects.superseded if id in memory_ids),
        merged=tuple(memory_ids[id] for id in effects.merged if id in memory_ids),
        evidence=(),
        links=(),
        confirmations=tuple(
            replace(change, memory_id=memory_ids[change.memory_id])
            for change in effects.confirmations
            if change.memory_id in memory_ids
        ),
    )


def _old_identity(project: Project, repos: Iterable[Repo]) -> str:
    """Return the identity of a project from a file that was written before projects had one."""
    own = (repo for repo in repos if repo.project_id == project.id)
    repo = next(
        (repo for repo in own if is_named_after(project.name, repo.remote, repo.root)), None
    )
    return identity_of_repo(repo.remote, repo.root) if repo else project.name


def _may_be_same(repo: Repo, other: Repo) -> bool:
    return not (repo.remote and other.remote and repo.remote != other.remote)
