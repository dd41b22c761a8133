"""
Search queries and results.

`ResolvedQuery` is a query with its owners and filters resolved; `Hit` is one result with the parts
of its score and an explanation; `Retrieval` is the logged search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from recollect.domain.change import Change
from recollect.domain.link import Link
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import StatementFlag
from recollect.domain.scope import Owner, Scope, Viewer
from recollect.domain.source import Evidence, Source
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass

# A contradicted fact stays visible, marked as such.
DEFAULT_STATUSES: tuple[Status, ...] = (Status.ACTIVE, Status.CONTRADICTED)
MESSAGE_VOICES = frozenset({Voice.USER, Voice.PASTED})  # of a message in the user's name
RELATED = "related"  # a value of `Hit.reached`: linked to another hit
ONLY_WEAK = "Nothing is clearly relevant. These are the closest memories. They may not answer."
ONLY_UNREVIEWED = "Only unreviewed statements answer this. Nobody has confirmed them."
SESSION_RECORD_RULE = "episode"  # of the record that the engine makes of a session


@dataclass(frozen=True, kw_only=True)
class Filters:
    """
    What a result must satisfy besides being in a visible partition.

    A field has the name of the request field it comes from and of the SQL parameter it becomes.
    """

    types: frozenset[MemoryType] = frozenset(MemoryType)
    statuses: frozenset[Status] = frozenset(DEFAULT_STATUSES)
    tags: frozenset[str] = frozenset()  # all of these
    any_tags: frozenset[str] = frozenset()  # and at least one of these
    since: datetime | None = None
    until: datetime | None = None
    # Of what nobody reviewed, only what the user said in this project, or elsewhere to this agent.
    only_said: bool = False
    session_records: bool = True  # also the records of whole sessions
    agent_id: str | None = None  # the agent that asks, '' if none does; None: any agent was told
    # An agent's memory of a project is visible to that agent in that project only; None: anywhere.
    agent_projects: frozenset[str] | None = None

    def seen_by(self, viewer: Viewer, *, single_user: bool = False) -> "Filters":
        """
        Return these filters, without an agent's memories of projects the viewer is not in.

        What nobody reviewed is left out if it was said in another project, whatever scope is
        proposed for it, and unless all agents serve one user, if it was said to another agent.
        """
        agent_id = None if single_user else viewer.agent_id or ""
        return replace(self, agent_projects=viewer.project_ids, agent_id=agent_id)

    def violation(self, memory: Memory) -> tuple[str, str] | None:
        """Return the first filter a memory does not pass, and a sentence that says why."""
        tags = set(memory.tags)
        if memory.status not in self.statuses:
            statuses = ", ".join(sorted(self.statuses))
            return "status", f"Its status is {memory.status}; this search returns only {statuses}."
        if memory.type not in self.types:
            types = ", ".join(sorted(self.types))
            return "type", f"Its type is {memory.type}; this search returns only {types}."
        if missing := self.tags - tags:
            return "tags", f"It lacks the tag {', '.join(sorted(missing))}."
        if self.any_tags and not self.any_tags & tags:
            return "tags", f"It has none of the tags {', '.join(sorted(self.any_tags))}."
        if not self.session_records and memory.provenance.rule == SESSION_RECORD_RULE:
            return "type", "It is the record of a session; this search does not ask about the past."
        if self.only_said and not self._admits_unreviewed(memory):
            return "status", "It is not reviewed, and the user did not say it to this agent."
        if not self.admits_user_of(memory):
            return "agent", "It is about the user of another agent, and no person shared it."
        if not self.admits_project_of(memory):
            return "project", "Its agent was told it in a project this search is not made from."
        observed = f"It was observed on {memory.observed_at:%Y-%m-%d}"
        if self.since is not None and memory.observed_at < self.since:
            return "time", f"{observed}, before the requested time range."
        if self.until is not None and memory.observed_at > self.until:
            return "time", f"{observed}, after the requested time range."
        return None

    def _admits_unreviewed(self, memory: Memory) -> bool:
        """Return False for unreviewed text that the user did not say to this agent."""
        if memory.is_reviewed:
            return True
        origin = memory.provenance
        if origin.voice not in MESSAGE_VOICES or StatementFlag.INSTRUCTION in origin.flags:
            return False
        is_of_project = memory.scope in (Scope.PROJECT, Scope.REPO)
        return is_of_project or self.agent_id is None or memory.agent_id in (None, self.agent_id)

    def admits_user_of(self, memory: Memory) -> bool:
        """Return False for what the user of another agent said, unless it is active for all."""
        if self.agent_id is None or memory.scope is not Scope.GLOBAL:
            return True
        return memory.status in DEFAULT_STATUSES or memory.agent_id in (None, self.agent_id)

    def admits_project_of(self, memory: Memory) -> bool:
        """Return False for an agent's memory of a project that the viewer is not in."""
        if memory.scope is not Scope.AGENT or memory.project_id is None:
            return True
        return self.agent_projects is None or memory.project_id in self.agent_projects


@dataclass(frozen=True, kw_only=True)
class ResolvedQuery:
    """A query ready to be searched for. `owners` None means every owner."""

    text: str
    viewer: Viewer
    owners: tuple[Owner, ...] | None
    filters: Filters
    asked_at: datetime
    limit: int
    scopes: frozenset[Scope] = frozenset(Scope)
    cross_project: bool = True
    below_threshold: bool = False  # also return what is not relevant enough
    related: bool = False  # also return what is linked to the hits
    for_bundle: bool = False  # the hits go into a prompt unasked, so they must be more relevant


@dataclass(frozen=True, kw_only=True)
class Parts:
    """
    The parts of a hit's score, each between 0 and 1.

    keyword   the word score as a share of the best match
    semantic  the similarity, 0 if no embedding was compared
    relevance the two fused
    scope, recency, confidence  decide between equally relevant memories
    """

    keyword: float = 0.0
    semantic: float = 0.0
    relevance: float = 0.0
    scope: float = 0.0
    recency: float = 0.0
    confidence: float = 0.0


@dataclass(frozen=True, kw_only=True)
class NewerMemory:
    """The memory that is newer than an earlier one and contradicts it, and when it was observed."""

    id: str
    at: datetime

    @property
    def text(self) -> str:
        """What is said of the earlier one."""
        return self.text_for(self.id)

    def text_for(self, name: str) -> str:
        """Return the text that names the newer one by *name*."""
        return f"earlier; a newer memory contradicts it: {name} of {self.at:%Y-%m-%d}"


@dataclass(frozen=True, kw_only=True)
class Hit:
    """
    One result. `reached` says how: `visible`, `linked` or `relevant` (from another project), or
    `related` (linked to another hit).

    A weak match (`is_weak`) is the best there is, and may not answer the query. One with
    `contradicted_by` is shown as earlier. `only_unreviewed`: nobody reviewed any hit of this
    search; each is only what was said.
    """

    memory: Memory
    score: float
    parts: Parts
    explanation: str
    matched_words: tuple[str, ...] = ()
    reached: str = "visible"
    conflicts: tuple[str, ...] = ()
    is_weak: bool = False
    only_unreviewed: bool = False
    contradicted_by: NewerMemory | None = None
    retrieval_id: str | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The quotes that support this memory."""
        return self.memory.evidence


def mark_unreviewed(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of one search, each saying whether nobody reviewed any of them."""
    only_unreviewed = not any(hit.memory.is_reviewed for hit in hits)
    return [replace(hit, only_unreviewed=only_unreviewed) for hit in hits]


def caution_about(hits: Sequence[Hit]) -> str:
    """Return why the hits of a search may not answer it, '' if one is relevant and reviewed."""
    if not hits:
        return ""
    if all(hit.is_weak for hit in hits):
        return ONLY_WEAK
    return "" if any(hit.memory.is_reviewed for hit in hits) else ONLY_UNREVIEWED


@dataclass(frozen=True, kw_only=True)
class LoggedHit:
    """A hit as recorded in the log: its id, score and outcome."""

    rank: int
    memory_id: str
    score: float
    parts: Mapping[str, float]
    explanation: str
    outcome: str = "returned"


@dataclass(frozen=True, kw_only=True)
class LoggedItem:
    """Another item of a logged result, by kind and id: a block, message, summary or pin."""

    kind: str
    item_id: str
    tokens: int = 0
    outcome: str = "returned"


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """One logged search."""

    id: str
    verb: str
    query: str
    asking: Mapping[str, Any]
    notes: tuple[str, ...]
    asked_at: datetime
    hits: tuple[LoggedHit, ...] = ()
    context: tuple[LoggedItem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MemoryExplanation:
    """Everything about one memory: its sources, links and history."""

    memory: Memory
    sources: tuple[Source, ...]
    links: tuple[Link, ...]
    changes: tuple[Change, ...]
    shown_in: int  # logged retrievals that returned it
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class WhyNot:
    """Why a memory was not returned for a query: the first rule that excluded it."""

    memory_id: str
    query: str
    rule: str
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SavedSearch:
    """A saved search."""

    name: str
    query: str
    asking: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
