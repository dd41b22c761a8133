"""
Request and response bodies of the memory server's REST endpoints.

Field names and types follow the memory server's design: fields may be added, none is renamed or
removed. Unknown fields of a request are ignored. The service validates lengths and names; this
file only defines the shape.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field

from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Message, MessageHit
from recollect.text.clean_text import clean


def _clean_text(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


# Pydantic rejects a lone surrogate. Replace it by U+FFFD, as the library and the CLI do.
Text = Annotated[str, BeforeValidator(_clean_text)]
# Keys of any type, for the same reason: the service cleans them.
Metadata = dict[Any, Any]
Role = Literal["user", "assistant", "system", "tool"]


class AgentRequest(BaseModel):
    """Create an agent, or return the existing one with that name."""

    name: Text
    metadata: Metadata | None = None


class AgentResponse(BaseModel):
    """An agent."""

    id: str
    name: str
    created_at: datetime
    metadata: dict[str, Any] | None

    @classmethod
    def from_agent(cls, agent: Agent) -> Self:
        """Return the response for *agent*."""
        return cls.model_validate({**vars(agent), "metadata": dict(agent.metadata) or None})


class MessageRequest(BaseModel):
    """Store a message in the agent's current conversation."""

    agent_name: Text
    role: Role
    content: Text
    metadata: Metadata | None = None


class ScoreParts(BaseModel):
    """The parts of a similarity score. A rank is null if that index did not find the message."""

    keyword: float
    semantic: float
    relevance: float
    vector_rank: int | None
    fts_rank: int | None
    search_mode: str
    in_time: bool


class MessageResponse(BaseModel):
    """A message; `similarity`, `parts` and `explanation` are set only in search results."""

    id: str
    agent_id: str
    role: str
    content: str
    created_at: datetime
    metadata: dict[str, Any] | None
    similarity: float | None = None
    conversation_id: str
    parts: ScoreParts | None = None
    explanation: str | None = None

    @classmethod
    def from_message(cls, message: Message, agent: Agent) -> Self:
        """Return the response for a message of *agent*."""
        return cls(
            id=message.id,
            agent_id=agent.id,
            role=message.role.value,
            content=message.content,
            created_at=message.created_at,
            metadata=dict(message.metadata) or None,
            conversation_id=message.conversation_id,
        )

    @classmethod
    def from_hit(cls, hit: MessageHit, agent: Agent) -> Self:
        """Return the response for a search hit, with its score."""
        scores = {
            "similarity": hit.score,
            "parts": ScoreParts.model_validate(hit.parts, from_attributes=True),
            "explanation": hit.explanation,
        }
        return cls.from_message(hit.message, agent).model_copy(update=scores)


class MessageSearchRequest(BaseModel):
    """Search an agent's messages. The server has a maximum for `limit`."""

    agent_name: Text
    query: Text
    limit: int | None = Field(None, ge=1)


class BlockRequest(BaseModel):
    """Create a memory block of an agent."""

    agent_name: Text
    label: Text
    value: Text


class BlockUpdate(BaseModel):
    """Set the value of a block; refused if its version is not *expected_version*."""

    value: Text
    expected_version: int | None = Field(None, ge=1)


class BlockResponse(BaseModel):
    """A memory block that an agent can see."""

    id: str
    agent_id: str
    label: str
    value: str
    created_at: datetime
    updated_at: datetime
    version: int
    unconfirmed_author: str = ""

    @classmethod
    def from_block(cls, block: Block, agent: Agent) -> Self:
        """Return the response for a block that *agent* can see."""
        return cls.model_validate({**vars(block), "agent_id": agent.id})


class ContextRequest(BaseModel):
    """
    Request the context for a prompt.

    `agent_name` repeats the path and may be omitted. Messages of `conversation` are not recalled,
    because the caller sends them itself. `budget_tokens` limits `text`, counted for `model`.
    """

    agent_name: Text | None = None
    query: Text
    conversation: Text | None = None
    budget_tokens: int = Field(2_000, ge=200, le=2_000_000)
    model: Text = ""


class CitationResponse(BaseModel):
    """The mark of a line in `text`, the id of its memory, and the quote that supports it."""

    mark: str
    memory_id: str
    quote: str
    source_id: str


class ContextResponse(BaseModel):
    """
    The context for a prompt, as lists and as one text.

    `text` is Markdown, fenced as data, within the budget. It begins with `prefix`, which does not
    change until a block changes. The budget does not shorten the lists.
    """

    memory_blocks: list[BlockResponse]
    relevant_messages: list[MessageResponse]
    text: str
    prefix: str
    tokens: int
    citations: list[CitationResponse]
    retrieval_id: str | None
