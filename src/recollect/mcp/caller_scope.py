"""
The caller of an MCP request, and what it may see.

A memory, a retrieval or a block outside the caller's project and agent is treated as if it did not
exist, even if the caller knows its id.
"""

from collections.abc import Mapping
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.block import UNKNOWN_AUTHOR, Block
from recollect.domain.memory import Memory, Status
from recollect.domain.project import project_label
from recollect.domain.retrieval import DEFAULT_STATUSES, Filters, MemoryExplanation, Retrieval
from recollect.domain.scope import Owner, Scope, visible_owners
from recollect.errors import NotFound
from recollect.lazy_dataclass import dataclass

# A search ranks this many candidates anyway, so that all pages come from the same ranking.
MAX_SEARCH_RESULTS = 100
# Memories of agents and sessions never leave their owner.
SHAREABLE_SCOPES = (Scope.PROJECT, Scope.REPO)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """
    The project and agent of a caller, the client's own name, and whether it is trusted.

    A local one runs on this machine and may be told paths of it.
    """

    project: str | None = None
    agent: str | None = None
    trusted: bool = False
    profile: str = "recollect"
    client: str = ""
    is_local: bool = False

    @property
    def author(self) -> str:
        """The name under which it writes: its agent, else the name of the client."""
        return self.agent or self.client or UNKNOWN_AUTHOR

    @property
    def read_scope(self) -> Mapping[str, Any]:
        """The scope arguments of a read operation."""
        return {"project": self.project, "agent": self.agent}

    @property
    def candidate_scope(self) -> Mapping[str, Any]:
        """
        The scope arguments of a list of candidates: those of its own project and agent.

        Global candidates wait for a person. They are listed only to a caller that has neither.
        """
        has_place = self.project is not None or self.agent is not None
        scopes = (Scope.PROJECT, Scope.REPO, Scope.AGENT) if has_place else (Scope.GLOBAL,)
        return {**self.read_scope, "scopes": scopes}

    @property
    def write_scope(self) -> Mapping[str, Any]:
        """The scope arguments of a new memory: the project, else the agent, else global."""
        if self.project is not None:
            return {"project": self.project, "scope": "project"}
        if self.agent is not None:
            return {"agent": self.agent, "scope": "agent"}
        return {"scope": "global"}


def owners_visible_to(rec: LocalRecollect, caller: Caller) -> tuple[Owner, ...]:
    """Return the owners whose memories *caller* may see."""
    return visible_owners(rec.engine.viewer(**caller.read_scope))


def owners_of_candidates(rec: LocalRecollect, caller: Caller) -> tuple[Owner, ...]:
    """Return the owners whose candidates *caller* may see."""
    scopes = caller.candidate_scope["scopes"]
    return visible_owners(rec.engine.viewer(**caller.read_scope), scopes)


def is_memory_visible(rec: LocalRecollect, caller: Caller, memory: Memory) -> bool:
    """Return whether *caller* may see a memory; of candidates only those of its own place."""
    is_candidate = memory.status is Status.INBOX
    owners = (owners_of_candidates if is_candidate else owners_visible_to)(rec, caller)
    filters = Filters().seen_by(rec.engine.viewer(**caller.read_scope))
    is_admitted = filters.admits_project_of(memory) and filters.admits_user_of(memory)
    return memory.owner in owners and is_admitted


def get_visible_memory(rec: LocalRecollect, caller: Caller, memory_id: str) -> Memory:
    """Return a memory that *caller* may see, or raise `NotFound`."""
    memory = _find_memory(rec, memory_id)
    if memory is None or not is_memory_visible(rec, caller, memory):
        raise NotFound(f"there is no memory {memory_id[:80]!r} here; `search` returns ids")
    return memory


def get_explainable_memory(
    rec: LocalRecollect, caller: Caller, memory_id: str, query: str = ""
) -> Memory:
    """
    Return a memory that *caller* may see or that a search returns, or raise `NotFound`.

    A memory of another project is returned if it is linked to the caller's project, or if *query*
    finds it.
    """
    memory = _find_memory(rec, memory_id)
    if memory is not None:
        if is_memory_visible(rec, caller, memory):
            return memory
        if memory.scope in SHAREABLE_SCOPES and _is_reachable(rec, caller, memory, query):
            return memory
    raise NotFound(
        f"{memory_id[:80]!r} is neither a memory nor a retrieval that is visible here; to "
        "explain a memory of another project, pass the query that found it"
    )


def _find_memory(rec: LocalRecollect, memory_id: str) -> Memory | None:
    try:
        return rec.memories.get(memory_id)
    except NotFound:
        return None


def _is_reachable(rec: LocalRecollect, caller: Caller, candidate: Memory, query: str) -> bool:
    """Return whether a memory of another project is linked or found by *query*."""
    if query:
        verdict = rec.why_not(candidate.id, query, **caller.read_scope, limit=MAX_SEARCH_RESULTS)
        if verdict.rule == "returned":
            return True
    explanation = rec.explain(candidate.id)
    project_id = rec.engine.viewer(**caller.read_scope).project_id
    if project_id is None or candidate.status not in DEFAULT_STATUSES:
        return False
    links = explanation.links if isinstance(explanation, MemoryExplanation) else ()
    ends = {end for link in links for end in (link.from_id, link.to_id)} - {candidate.id}
    linked = (_find_memory(rec, end) for end in ends)  # a link may also end at another thing
    projects = {memory.project_id for memory in linked if memory is not None}
    return project_id in ends or project_id in projects


def is_retrieval_visible(rec: LocalRecollect, caller: Caller, candidate: Retrieval) -> bool:
    """Return whether a logged retrieval was made from a scope that *caller* may see."""
    origin = candidate.asking
    if any(origin.get(name) for name in ("everywhere", "repo", "session")):
        return False  # MCP callers never use these
    asker = rec.engine.viewer(project=origin.get("project"), agent=origin.get("agent"))
    return set(visible_owners(asker)) <= set(owners_visible_to(rec, caller))


def caller_agent(rec: LocalRecollect, caller: Caller) -> Agent | None:
    """Return the caller's agent, None if it has none or the agent does not exist."""
    if caller.agent is None:
        return None
    try:
        return rec.agents.get(caller.agent)
    except NotFound:
        return None


def visible_blocks(rec: LocalRecollect, caller: Caller) -> list[Block]:
    """Return the blocks of the caller's agent and project, in prompt order."""
    agent = caller_agent(rec, caller)
    if agent is None and caller.project is None:
        return []  # without a filter all blocks would be returned
    candidate = rec.blocks.list(agent, project=caller.project)
    return [block for block in candidate if not block.hidden]


def project_name(rec: LocalRecollect, caller: Caller) -> str:
    """Return the name of the caller's project: as stored, else as the caller named it."""
    project_id = rec.engine.viewer(project=caller.project).project_id
    projects = rec.projects.list()
    project = next((item for item in projects if item.id == project_id), None)
    return project_label(project, projects) if project else caller.project or ""
