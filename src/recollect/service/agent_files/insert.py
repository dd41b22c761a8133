"""
Put the parts of an agent into a store, as a new agent.

This writes inside somebody else's transaction, with new ids throughout, so that the same parts
placed twice are two agents. What is here already and says the same is used (projects, sources,
shared blocks, skills); what says something else stays as it is here, and the conflict is told.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from recollect.clock import Clock
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.link import Link
from recollect.domain.project import Repo
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Source
from recollect.errors import AlreadyExists
from recollect.service.agent_files.model import (
    AgentParts,
    BlockParts,
    ConversationParts,
    MemoryParts,
    SkillParts,
)
from recollect.service.block_writing import EVERYBODY
from recollect.store.protocol import Tables

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class InsertedAgent:
    """A new agent, how many parts came with it, what could not come as it was, and the new ids."""

    agent: Agent
    counts: Mapping[str, int]
    conflicts: tuple[str, ...]
    ids: Mapping[str, str]


def refuse_taken_name(tables: Tables, name: str) -> None:
    """Refuse a name another agent has."""
    if tables.agents.by_name(name) is not None:
        raise AlreadyExists(
            f"there is an agent named {name!r} already; nothing was changed. Pass name=… to give "
            "the new one another name"
        )


def insert_agent(tables: Tables, clock: Clock, parts: AgentParts, *, reason: str) -> InsertedAgent:
    """Make a new agent of *parts*; *reason* says how, in the audit row of its sources."""
    refuse_taken_name(tables, parts.agent.name)
    placing = _Placing(tables, clock)
    agent = replace(parts.agent, id=placing.new(parts.agent.id))
    tables.agents.add(agent)
    placing.places(parts)
    for kept in parts.blocks:
        placing.attach(agent, kept)
    for said in parts.conversations:
        placing.conversation(agent, said)
    placing.archive(agent, parts, reason)
    for used in parts.skills:
        placing.skill(agent, used)
    return placing.done(agent)


def insert_archive(
    tables: Tables, clock: Clock, agent: Agent, parts: AgentParts, *, reason: str
) -> InsertedAgent:
    """Add the memories of *parts* to the archive of an agent that is there already."""
    placing = _Placing(tables, clock)
    placing.places(parts)
    placing.archive(agent, parts, reason)
    return placing.done(agent)


class _Placing:
    """One agent on its way in: which id became which, what was counted, what did not fit."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self.ids: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.conflicts: list[str] = []

    def new(self, former: str) -> str:
        """Return a new id, and remember whose place it takes."""
        self.ids[former] = self._clock.new_id()
        return self.ids[former]

    def places(self, parts: AgentParts) -> None:
        """Find the projects and repos that are known here; make the others."""
        known = self._tables.projects
        for project in parts.projects:
            here = known.project_by_name(project.name)
            if here is None:
                here = replace(project, id=self._clock.new_id())
                known.add_project(here)
                self.counts["projects"] += 1
            self.ids[project.id] = here.id
        for repo in parts.repos:
            home = self.ids[repo.project_id]
            found = known.repo_by_remote(repo.remote) if repo.remote else None
            namesake = known.repo_by_name(repo.name, home)
            if found is None and namesake is not None and _may_be_one(namesake, repo):
                found = namesake
            if found is None:
                found = replace(repo, id=self._clock.new_id(), project_id=home)
                if namesake is not None:
                    found = replace(found, name=f"{repo.name} {found.id[-6:]}")
                known.add_repo(found)
                self.counts["repos"] += 1
            self.ids[repo.id] = found.id

    def attach(self, agent: Agent, kept: BlockParts) -> None:
        """Give the agent a block of its own, or the shared one that is here already."""
        block = kept.block
        if block.scope is Scope.AGENT:
            self._tables.blocks.attach(agent.id, self._block(kept, Owner(Scope.AGENT, agent.id)))
            return
        shared = self._shared(block)
        if shared is not None:
            self.ids[block.id] = shared.id
            self._tables.blocks.attach(agent.id, shared)
            self.counts["shared blocks"] += 1
            return
        own = self._block(kept, Owner(Scope.AGENT, agent.id))
        self._tables.blocks.attach(agent.id, own)
        self.conflicts.append(
            f"block {block.label!r} was shared; no shared block here says the same, so agent "
            f"{agent.name!r} has a copy of its own"
        )

    def conversation(self, agent: Agent, said: ConversationParts) -> None:
        """Keep a conversation with everything in it."""
        former = said.conversation
        kept = replace(
            former,
            id=self.new(former.id),
            agent_id=agent.id,
            project_id=self.ids[former.project_id] if former.project_id else None,
            repo_id=self.ids[former.repo_id] if former.repo_id else None,
        )
        self._tables.conversations.add(kept)
        for summary in said.summaries:
            self._tables.conversations.add_summary(
                replace(summary, id=self.new(summary.id), conversation_id=kept.id)
            )
        summed_up: dict[str, list[str]] = {}
        for message in said.messages:
            placed = replace(message, id=self.new(message.id), conversation_id=kept.id)
            self._tables.messages.add(kept, placed)
            if message.summary_id is not None:
                summed_up.setdefault(self.ids[message.summary_id], []).append(placed.id)
        for summary_id, message_ids in summed_up.items():
            self._tables.messages.mark_summarized(message_ids, summary_id)
        for pin in said.pins:
            self._tables.conversations.add_pin(
                replace(pin, id=self.new(pin.id), conversation_id=kept.id)
            )
        for block in said.blocks:
            self._block(block, Owner(Scope.SESSION, kept.id))
        self.counts["conversations"] += 1
        self.counts["messages"] += len(said.messages)
        self.counts["summaries"] += len(said.summaries)
        self.counts["pins"] += len(said.pins)

    def archive(self, agent: Agent, parts: AgentParts, reason: str) -> None:
        """Keep memories with what they rest on and the links among them."""
        self._sources(agent, parts.sources, reason)
        # All ids first: the history of a memory names other memories.
        memory_ids = {kept.memory.id: self.new(kept.memory.id) for kept in parts.memories}
        for kept in parts.memories:
            self._memory(agent, kept, memory_ids)
        for link in parts.links:
            self._link(link)

    def done(self, agent: Agent) -> InsertedAgent:
        """Return what was made."""
        return InsertedAgent(
            agent, dict(sorted(self.counts.items())), tuple(self.conflicts), dict(self.ids)
        )

    def _sources(self, agent: Agent, sources: Iterable[Source], reason: str) -> None:
        """Keep raw material once, with a row that says for whom it came."""
        for source in sources:
            here = self._tables.sources.with_hash(source.sha256, source.kind)
            if here is None:
                here = replace(source, id=self._clock.new_id())
                self._tables.sources.add(here)
                self.counts["sources"] += 1
            self.ids[source.id] = here.id
            now = self._clock.now()
            event = Event(
                id=self._clock.new_id(),
                trigger=Trigger.MANUAL,
                source_id=here.id,
                owner=Owner(Scope.AGENT, agent.id),
                state=EventState.DONE,
                outcome=reason,
                created_at=now,
                updated_at=now,
            )
            self._tables.sources.add_event(event)

    def _memory(self, agent: Agent, kept: MemoryParts, memory_ids: Mapping[str, str]) -> None:
        """Keep a memory with its evidence and its history."""
        memory = kept.memory
        memory_id = memory_ids[memory.id]
        self._tables.memories.add(
            replace(
                memory,
                id=memory_id,
                agent_id=agent.id if memory.agent_id else None,
                project_id=self.ids[memory.project_id] if memory.project_id else None,
                repo_id=self.ids[memory.repo_id] if memory.repo_id else None,
                session_id=self.ids.get(memory.session_id or "", memory.session_id),
                evidence=tuple(
                    replace(
                        piece,
                        id=self._clock.new_id(),
                        memory_id=memory_id,
                        source_id=self.ids[piece.source_id],
                    )
                    for piece in memory.evidence
                ),
            )
        )
        for change in kept.changes:
            # A reason may name another memory, for people; `effects` names those `undo` changes.
            reason = _ID.sub(lambda id: memory_ids.get(id[0], id[0]), change.reason)
            effects = replace(
                change.effects,
                superseded=tuple(
                    memory_ids[id] for id in change.effects.superseded if id in memory_ids
                ),
                duplicate_of=memory_ids.get(change.effects.duplicate_of, ""),
            )
            self._tables.memories.add_change(
                replace(
                    change,
                    id=self._clock.new_id(),
                    memory_id=memory_id,
                    reason=reason,
                    effects=effects,
                )
            )
        self.counts["memories"] += 1

    def _link(self, link: Link) -> None:
        """Keep a link between two memories of the agent."""
        self._tables.links.add(
            replace(
                link,
                id=self._clock.new_id(),
                from_id=self.ids[link.from_id],
                to_id=self.ids[link.to_id],
            )
        )
        self.counts["links"] += 1

    def skill(self, agent: Agent, used: SkillParts) -> None:
        """Load a skill as the agent has it, whatever others of its name say here."""
        skill = used.skill
        project_id = self.ids[skill.project_id] if skill.project_id else None
        new = replace(skill, id=self._clock.new_id(), project_id=project_id)
        skill_id = self._tables.skills.save(new, used.loaded_at)
        self._tables.skills.load(agent.id, skill_id, used.loaded_at)
        self.counts["skills"] += 1

    def _block(self, kept: BlockParts, owner: Owner) -> Block:
        former = kept.block
        block = replace(former, id=self.new(former.id), scope=owner.scope, owner_id=owner.id)
        self._tables.blocks.add(block)
        for version in kept.versions:
            self._tables.blocks.add_version(replace(version, block_id=block.id))
        self.counts["blocks"] += 1
        return block

    def _shared(self, block: Block) -> Block | None:
        """Return the shared block that says the same, this very one first."""
        same = [
            one
            for one in self._tables.blocks.of_owner(EVERYBODY)
            if (one.label, one.value) == (block.label, block.value)
        ]
        return min(same, key=lambda one: one.id != block.id) if same else None


def _may_be_one(one: Repo, other: Repo) -> bool:
    return not (one.remote and other.remote and one.remote != other.remote)
