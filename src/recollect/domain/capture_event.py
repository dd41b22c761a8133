"""Capture events: one row for each capture, with its progress through the pipeline."""

from datetime import datetime
from enum import StrEnum

from recollect.domain.scope import Owner, Scope
from recollect.lazy_dataclass import dataclass


class Trigger(StrEnum):
    """What caused a capture."""

    MANUAL = "manual"
    SESSION = "session"
    CONVERSATION = "conversation"
    MAINTENANCE = "maintenance"


class CaptureMode(StrEnum):
    """What kind of material is captured."""

    TRANSCRIPT = "transcript"  # what was said, message by message
    NOTE = "note"  # somebody's own notes: each sentence is meant to be remembered
    SUMMARY = "summary"  # what an agent wrote about a conversation, saved on purpose
    IMPORT = "import"  # a transcript from another program


class EventState(StrEnum):
    """The progress of a capture."""

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
        """The requested scope."""
        return self.owner.scope
