"""
Who asks over MCP, and what they may see.

Scope is a wall here too: a memory, a retrieval or a block outside of the caller's project and agent
is treated as if it did not exist, whoever knows its id.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.app import Recollect
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.memory import Memory
from recollect.domain.retrieval import SHOWN, MemoryExplanation, Retrieval
from recollect.domain.scope import Owner, Scope, visible_owners
from recollect.errors import NotFound

# As many candidates as a search weighs in any case, so that every page cuts the same ranking.
DEEPEST = 100
CROSSING = (Scope.PROJECT, Scope.REPO)  # agents' and sessions' memories never leave their owner


@dataclass(frozen=True, kw_only=True)
class Caller:
    """From which project and as which agent somebody asks, and whether their word counts."""

    project: str | None = None
    agent: str | None = None
    trusted: bool = False
    profile: str = "recollect"

    @property
    def place(self) -> Mapping[str, Any]:
        """Where a question comes from, as the verbs take it."""
        return {"project": self.project, "agent": self.agent}

    @property
    def home(self) -> Mapping[str, Any]:
        """Where something new belongs: to the project, else to the agent, else to everybody."""
        if self.project is not None:
            return {"project": self.project, "scope": "project"}
        if self.agent is not None:
            return {"agent": self.agent, "scope": "agent"}
        return {"scope": "global"}


def owners_seen(memory: Recollect, caller: Caller) -> tuple[Owner, ...]:
    """Return whose memories *caller* may see."""
    return visible_owners(memory.viewer(**caller.place))


def memory_seen(memory: Recollect, caller: Caller, memory_id: str) -> Memory:
    """Return a memory that *caller* may see, or raise `NotFound`."""
    try:
        found = memory.get(memory_id)
    except NotFound:
        found = None
    if found is None or found.owner not in owners_seen(memory, caller):
        raise NotFound(f"there is no memory {memory_id[:80]!r} here; `search` gives ids")
    return found


def memory_shown(memory: Recollect, caller: Caller, memory_id: str, query: str = "") -> Memory:
    """
    Return a memory that *caller* may see or that a search shows them, or raise `NotFound`.

    One of another project is shown where it is linked to theirs, and for a *query* that finds it.
    """
    try:
        return memory_seen(memory, caller, memory_id)
    except NotFound:
        try:
            found = memory.get(memory_id)
        except NotFound:
            found = None
        if found is not None and found.scope in CROSSING and _reached(memory, caller, found, query):
            return found
        raise NotFound(
            f"{memory_id[:80]!r} is neither a memory nor a retrieval that is seen from here; what "
            "came from another project is explained with the query that found it"
        ) from None


def _reached(memory: Recollect, caller: Caller, found: Memory, query: str) -> bool:
    """Say whether a memory of another project comes through one of the two doors of the wall."""
    if query:
        told = memory.why_not(found.id, query, **caller.place, limit=DEEPEST)
        if told.rule == "returned":
            return True
    explained = memory.explain(found.id)
    project_id = memory.viewer(**caller.place).project_id
    if project_id is None or found.status not in SHOWN:
        return False
    links = explained.links if isinstance(explained, MemoryExplanation) else ()
    ends = {end for link in links for end in (link.from_id, link.to_id)} - {found.id}
    return any(end == project_id or _is_of(memory, project_id, end) for end in ends)


def _is_of(memory: Recollect, project_id: str, some_id: str) -> bool:
    try:
        return memory.get(some_id).project_id == project_id
    except NotFound:
        return False  # the end of a link may be something else than a memory


def retrieval_seen(memory: Recollect, caller: Caller, found: Retrieval) -> bool:
    """Say whether a logged question was asked from where *caller* may look."""
    asked = found.asking
    if any(asked.get(name) for name in ("everywhere", "repo", "session")):
        return False  # nobody asks from there over MCP
    asker = memory.viewer(project=asked.get("project"), agent=asked.get("agent"))
    return set(visible_owners(asker)) <= set(owners_seen(memory, caller))


def agent_of(memory: Recollect, caller: Caller) -> Agent | None:
    """Return the caller's agent, or None where it has none or it was never made."""
    if caller.agent is None:
        return None
    try:
        return memory.agent(caller.agent)
    except NotFound:
        return None


def blocks_seen(memory: Recollect, caller: Caller) -> list[Block]:
    """Return the blocks of the caller's agent and project, in the order of a prompt."""
    agent = agent_of(memory, caller)
    if agent is None and caller.project is None:
        return []  # asked for nobody's, the verb would give everybody's
    found = memory.blocks(agent, project=caller.project)
    return [block for block in found if not block.hidden]


def project_name(memory: Recollect, caller: Caller) -> str:
    """Return the name of the caller's project: as stored, or as given before anything is."""
    project_id = memory.viewer(project=caller.project).project_id
    names = {project.id: project.name for project in memory.projects()}
    return names.get(project_id or "", caller.project or "")
