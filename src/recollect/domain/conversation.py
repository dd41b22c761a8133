"""
Conversations, their messages, summaries and pins.

Compaction never deletes a message: a summarised one (`summary_id`) is no longer in context, but
is searched like any other.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.domain.scope import Owner, Scope
from recollect.lazy_dataclass import dataclass


class Role(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class CompactionMode(StrEnum):
    """Which messages a compaction removes from the context."""

    ALL = "all"
    SLIDING_WINDOW = "sliding_window"


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """
    One session with an agent. `ended_at` is None until it ends.

    `key` is the caller's own name for it, such as the id of a thread: an agent has one conversation
    of each key. `revision` grows with every change of its messages.
    """

    id: str
    agent_id: str | None = None
    project_id: str | None = None
    repo_id: str | None = None
    title: str = ""
    key: str = ""
    revision: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime
    ended_at: datetime | None = None

    @property
    def owner(self) -> Owner:
        """The owner of its messages: the agent, or the conversation if it has no agent."""
        if self.agent_id is None:
            return Owner(Scope.SESSION, self.id)
        return Owner(Scope.AGENT, self.agent_id)


@dataclass(frozen=True, kw_only=True)
class Message:
    """
    One message. `content` is its text; `parts` the original if it had more than text.

    `tool_calls` are an assistant's calls in the vendor's format; `tool_call_id` names the call
    that a tool message answers. `payload` is any JSON of the caller, returned as it was given.
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
    payload: Any = None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The summary of the messages from one position to another."""

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
    """The result of a compaction: the new summary and the number of messages it replaces."""

    summary: Summary
    evicted: int
    kept: int
    reason: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConversationReceipt:
    """The result of deleting a conversation: rows removed by table, and what was kept."""

    conversation_id: str
    deleted_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pin:
    """Text that a user pinned to a conversation: a ticket, a debug note, a decision."""

    id: str
    conversation_id: str
    kind: str
    content: str
    active: bool = True
    pinned_at: datetime


@dataclass(frozen=True, kw_only=True)
class MessageParts:
    """The parts of a message's score. A rank is None if that index did not return it."""

    keyword: float = 0.0
    semantic: float = 0.0
    relevance: float = 0.0
    vector_rank: int | None = None
    fts_rank: int | None = None
    search_mode: str = "hybrid"
    in_time: bool = False  # its time is in the range that the query names


@dataclass(frozen=True, kw_only=True)
class MessageHit:
    """A message that matches a search, with the parts of its score and an explanation."""

    message: Message
    score: float
    parts: MessageParts
    explanation: str
    matched_words: tuple[str, ...] = ()
    retrieval_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class MessageFilters:
    """Conditions on a message besides its owner."""

    roles: frozenset[Role] = frozenset(Role)
    conversation_id: str | None = None
    besides_conversation: str | None = None  # leaves out the messages of this one
    project_id: str | None = None  # leaves out conversations of other projects
    since: datetime | None = None
    until: datetime | None = None
    besides_calls_of: str = ""  # leaves out messages that call this tool
    metadata: Mapping[str, Any] | None = None  # conditions, as for documents (`passes_filter`)
