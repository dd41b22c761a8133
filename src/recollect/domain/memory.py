"""
A memory: one typed record, the unit that is written, found, explained and forgotten.

Its origin is in provenance.py, its changes are in change.py, and the allowed ones in lifecycle.py.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from recollect.domain.provenance import NO_PROVENANCE, Provenance, StatementFlag
from recollect.domain.scope import Owner, Scope, owner_of
from recollect.domain.source import Evidence, Redaction, SourceKind
from recollect.lazy_dataclass import dataclass


class MemoryType(StrEnum):
    """The type of a memory."""

    PROFILE = "profile"
    PROJECT = "project"
    DECISION = "decision"
    ARTIFACT = "artifact"
    EPISODE = "episode"
    TASK_HINT = "task_hint"


class Status(StrEnum):
    """The status of a memory, from something that was said to history."""

    STATED = "stated"  # said by the user and not proposed: found by search, not in the inbox
    INBOX = "inbox"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ARCHIVED = "archived"


UNREVIEWED = frozenset({Status.STATED, Status.INBOX})  # neither a person nor a policy accepted it

# After this long without confirmation a memory of the type counts as half as fresh.
HALF_LIFE: dict[MemoryType, timedelta] = {
    MemoryType.PROFILE: timedelta(days=730),
    MemoryType.PROJECT: timedelta(days=180),
    MemoryType.DECISION: timedelta(days=365),
    MemoryType.ARTIFACT: timedelta(days=365),
    MemoryType.EPISODE: timedelta(days=30),
    MemoryType.TASK_HINT: timedelta(days=60),
}


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One record. `observed_at` is when it was true or said; `created_at` when it was stored."""

    id: str
    type: MemoryType
    scope: Scope
    status: Status
    content: str
    title: str = ""
    summary: str = ""
    key: str = ""
    project_id: str | None = None
    repo_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    source_kind: SourceKind = SourceKind.MANUAL
    confidence: float = 1.0
    observed_at: datetime
    confirmed_at: datetime
    created_at: datetime
    updated_at: datetime
    tags: tuple[str, ...] = ()
    rationale: str = ""
    alternatives: tuple[str, ...] = ()
    provenance: Provenance = NO_PROVENANCE
    metadata: Mapping[str, Any] = field(default_factory=dict)  # not read by this program
    evidence: tuple[Evidence, ...] = ()
    redactions: tuple[Redaction, ...] = ()

    @property
    def owner(self) -> Owner:
        """The owner: its scope and the id of that scope."""
        return owner_of(
            self.scope,
            project_id=self.project_id,
            repo_id=self.repo_id,
            agent_id=self.agent_id,
            session_id=self.session_id,
        )

    @property
    def is_reviewed(self) -> bool:
        """Whether a person or a policy has decided about it."""
        return self.status not in UNREVIEWED

    @property
    def said_label(self) -> str:
        """What stands before its date: "said on", or "said of" if it tells of an earlier day."""
        return "said of" if StatementFlag.PAST in self.provenance.flags else "said on"

    @property
    def labelled_content(self) -> str:
        """The content, after its key if it has one: `timezone: Europe/Berlin`."""
        return f"{self.key}: {self.content}" if self.key else self.content

    @property
    def source_ref(self) -> str | None:
        """The id of the source of the first evidence."""
        return self.evidence[0].source_id if self.evidence else None

    @property
    def evidence_ref(self) -> tuple[str, ...]:
        """The ids of the evidence, in order."""
        return tuple(piece.id for piece in self.evidence)

    def is_record_of(self, session: str) -> bool:
        """Return whether this is the record of *session* itself."""
        recorded = self.provenance.session if self.type is MemoryType.EPISODE else ""
        return bool(recorded) and recorded == session

    def freshness(self, now: datetime) -> float:
        """Return 1 for a memory confirmed just now, falling by half every half-life of its type."""
        age = max(now - self.confirmed_at, timedelta(0))
        return float(0.5 ** (age / HALF_LIFE[self.type]))
