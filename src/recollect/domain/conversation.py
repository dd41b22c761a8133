"""
What was said: conversations, their messages, the summaries of older ones, and pins.

A message is kept for ever; once a summary stands for it (`summary_id`) it is no longer in context,
but searched like any other. This file knows nothing of storage or of how summaries are made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Owner, Scope


class Role(StrEnum):
    """Who a message is from."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class CompactionMode(StrEnum):
    """How much a compaction takes out of context."""

    ALL = "all"
    SLIDING_WINDOW = "sliding_window"


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One session with an agent. `ended_at` is None while it goes on."""

    id: str
    agent_id: str | None = None
    project_id: str | None = None
    repo_id: str | None = None
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime
    ended_at: datetime | None = None

    @property
    def owner(self) -> Owner:
        """Whose messages these are: the agent's, or the conversation's own where there is none."""
        if self.agent_id is None:
            return Owner(Scope.SESSION, self.id)
        return Owner(Scope.AGENT, self.agent_id)


@dataclass(frozen=True, kw_only=True)
class Message:
    """
    One message. `content` is its text; `parts` the original where it had more than text.

    `tool_calls` are the calls an assistant made, as its vendor writes them; `tool_call_id` names
    the call a tool message answers.
    """

    id: str
    conversation_id: str
    position: int
    role: Role
    content: str
    parts: tuple[Any, ...] | None = None
    tool_calls: tuple[Any, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    tokens: int = 0
    pinned: bool = False
    summary_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What compaction made of older messages, from one position to another."""

    id: str
    conversation_id: str
    mode: CompactionMode
    content: str
    first_position: int
    last_position: int
    tokens: int
    made_by: str  # "extract", or the name of the model that wrote it
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """What a compaction did: the new summary, and how much it stands for."""

    summary: Summary
    evicted: int
    kept: int
    reason: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConversationReceipt:
    """What deleting a conversation removed, table by table, and what stayed."""

    conversation_id: str
    deleted_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pin:
    """Context a user fixed to a conversation: a ticket, a debug note, a decision."""

    id: str
    conversation_id: str
    kind: str
    content: str
    active: bool = True
    pinned_at: datetime


@dataclass(frozen=True, kw_only=True)
class MessageParts:
    """The score of a message, taken apart. A rank is None where that leg did not find it."""

    keyword: float = 0.0
    semantic: float = 0.0
    relevance: float = 0.0
    rrf_score: float = 0.0
    vector_rank: int | None = None
    fts_rank: int | None = None
    search_mode: str = "hybrid"
    in_time: bool = False  # it was said at the time the question names


@dataclass(frozen=True, kw_only=True)
class MessageHit:
    """One message found, with its score in parts and the sentence that says why."""

    message: Message
    score: float
    parts: MessageParts
    explanation: str
    matched_words: tuple[str, ...] = ()
    retrieval_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class MessageFilters:
    """What a message must satisfy besides being the agent's."""

    roles: frozenset[Role] = frozenset(Role)
    conversation_id: str | None = None
    besides_conversation: str | None = None  # anything but what was said in this one
    project_id: str | None = None  # not of conversations in another project
    since: datetime | None = None
    until: datetime | None = None
    besides_calls_of: str = ""  # leaves out messages that call the tool of this name


@dataclass(frozen=True, slots=True)
class MessageCandidateRow:
    """What ranking needs to know of a message, without loading all of it."""

    item_id: int
    id: str
    conversation_id: str
    created_at: datetime
    role: Role
