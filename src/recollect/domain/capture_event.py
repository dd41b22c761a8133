"""Ingestion events and jobs: one capture's life in the pipeline, and its retryable steps."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.scope import Owner, Scope


class Trigger(StrEnum):
    """The four moments at which anything may enter memory."""

    MANUAL = "manual"
    SESSION = "session"
    CONVERSATION = "conversation"
    MAINTENANCE = "maintenance"


class EventState(StrEnum):
    """How far a capture has come."""

    CAPTURED = "captured"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Event:
    """The audit row of one capture."""

    id: str
    trigger: Trigger
    source_id: str | None
    owner: Owner
    state: EventState
    outcome: str = ""
    retries: int = 0
    error: str = ""
    title: str = ""
    uri: str = ""
    created_at: datetime
    updated_at: datetime

    @property
    def scope(self) -> Scope:
        """The scope that was asked for."""
        return self.owner.scope
