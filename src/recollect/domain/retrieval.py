"""
Questions and answers: what was asked, what was found, and why.

`Asking` is a question with its walls and filters already resolved; `Hit` is one result with its
score in parts and a sentence; `Retrieval` is the logged whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.domain.link import Link
from recollect.domain.memory import Change, Memory, MemoryType, Status
from recollect.domain.scope import Owner, Scope, Viewer
from recollect.domain.source import Evidence, Source

# What a search returns unless told otherwise. A contradicted fact stays visible, marked.
DEFAULT_STATUSES: tuple[Status, ...] = (Status.ACTIVE, Status.CONTRADICTED)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a result must satisfy besides being in a visible partition."""

    types: frozenset[MemoryType] = frozenset(MemoryType)
    statuses: frozenset[Status] = frozenset(DEFAULT_STATUSES)
    tags: frozenset[str] = frozenset()  # it has all of these
    any_tags: frozenset[str] = frozenset()  # … and one of these
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ResolvedQuery:
    """One question, ready to be answered. `owners` None means: everywhere."""

    text: str
    viewer: Viewer
    owners: tuple[Owner, ...] | None
    filters: Filters
    asked_at: datetime
    limit: int
    scopes: frozenset[Scope] = frozenset(Scope)
    cross_project: bool = True


@dataclass(frozen=True, kw_only=True)
class Parts:
    """
    The score of a hit, taken apart. Each is between 0 and 1.

    keyword   how well its words match, as a share of the best match
    semantic  how near the meanings are, 0 when no embedding was compared
    relevance the two fused
    scope, recency, confidence  what lifted it among equally relevant ones
    """

    keyword: float = 0.0
    semantic: float = 0.0
    relevance: float = 0.0
    scope: float = 0.0
    recency: float = 0.0
    confidence: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One result. `reached` says how: `visible`, `linked` or `relevant` (from another project)."""

    memory: Memory
    score: float
    parts: Parts
    explanation: str
    matched_words: tuple[str, ...] = ()
    reached: str = "visible"
    conflicts: tuple[str, ...] = ()
    retrieval_id: str | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The quotes this memory rests on."""
        return self.memory.evidence


@dataclass(frozen=True, kw_only=True)
class LoggedHit:
    """A hit as the log keeps it: by id, with its score and what became of it."""

    rank: int
    memory_id: str
    score: float
    parts: Mapping[str, float]
    explanation: str
    outcome: str = "returned"


@dataclass(frozen=True, kw_only=True)
class LoggedItem:
    """What else an answer was made of, by kind and id: a block, a message, a summary, a pin."""

    kind: str
    item_id: str
    tokens: int = 0
    outcome: str = "returned"


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """One logged question."""

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
    """Everything known about one memory: where it rests, what it is tied to, how it got here."""

    memory: Memory
    sources: tuple[Source, ...]
    links: tuple[Link, ...]
    changes: tuple[Change, ...]
    shown_in: int  # retrievals that returned it, of those still in the log
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class WhyNot:
    """Why a memory did not come for a query: the first rule that stopped it, in a sentence."""

    memory_id: str
    query: str
    rule: str
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class View:
    """A saved search."""

    name: str
    query: str
    asking: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
