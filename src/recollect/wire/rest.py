"""
The bodies of the memory server's own endpoints: what a request holds and what an answer holds.

Names and shapes are those of the memory server's design: fields may be added, none is renamed or
removed. What a request says beyond its fields is ignored. How long a text may be and what a name
may look like is the service's to say; this file only knows the form.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field

from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Message, MessageHit
from recollect.text.clean import clean


def _storable(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


# Half a surrogate pair is no text for Pydantic; here it becomes U+FFFD, as at every other door.
Text = Annotated[str, BeforeValidator(_storable)]
# Keys of any kind, for the same reason: the service makes them storable.
Metadata = dict[Any, Any]
Role = Literal["user", "assistant", "system", "tool"]


class AgentRequest(BaseModel):
    """Make an agent, or find the one of that name."""

    name: Text
    metadata: Metadata | None = None


class AgentAnswer(BaseModel):
    """An agent."""

    id: str
    name: str
    created_at: datetime
    metadata: dict[str, Any] | None

    @classmethod
    def of(cls, agent: Agent) -> Self:
        """Return *agent* as it is answered."""
        return cls(
            id=agent.id,
            name=agent.name,
            created_at=agent.created_at,
            metadata=dict(agent.metadata) or None,
        )


class MessageRequest(BaseModel):
    """Store a message. It goes to the agent's running conversation."""

    agent_name: Text
    role: Role
    content: Text
    metadata: Metadata | None = None


class ScoreParts(BaseModel):
    """The similarity of a message, taken apart. A rank is null where that search missed it."""

    keyword: float
    semantic: float
    relevance: float
    rrf_score: float
    vector_rank: int | None
    fts_rank: int | None
    search_mode: str
    in_time: bool


class MessageAnswer(BaseModel):
    """A message; `similarity`, `parts` and `explanation` only where it answers a question."""

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
    def of(cls, message: Message, agent: Agent) -> Self:
        """Return a message of *agent* as it is answered."""
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
    def found(cls, hit: MessageHit, agent: Agent) -> Self:
        """Return a message that answers a question, with how well it does."""
        told = {
            "similarity": hit.score,
            "parts": ScoreParts.model_validate(hit.parts, from_attributes=True),
            "explanation": hit.explanation,
        }
        return cls.of(hit.message, agent).model_copy(update=told)


class SearchRequest(BaseModel):
    """Search an agent's messages. The server says how many it returns at most."""

    agent_name: Text
    query: Text
    limit: int | None = Field(None, ge=1)


class BlockRequest(BaseModel):
    """Make a memory block of an agent."""

    agent_name: Text
    label: Text
    value: Text


class BlockUpdate(BaseModel):
    """Give a block another value; refused if it is no longer at *expected_version*."""

    value: Text
    expected_version: int | None = Field(None, ge=1)


class BlockAnswer(BaseModel):
    """A memory block, as one agent sees it."""

    id: str
    agent_id: str
    label: str
    value: str
    created_at: datetime
    updated_at: datetime
    version: int

    @classmethod
    def of(cls, block: Block, agent: Agent) -> Self:
        """Return a block that *agent* sees as it is answered."""
        return cls(
            id=block.id,
            agent_id=agent.id,
            label=block.label,
            value=block.value,
            created_at=block.created_at,
            updated_at=block.updated_at,
            version=block.version,
        )


class ContextRequest(BaseModel):
    """
    Ask what to put into a prompt.

    `agent_name` repeats the path and may be left out. What was said in `conversation`, which the
    caller sends himself, is not recalled. `budget_tokens` bounds `text`, counted as `model` does.
    """

    agent_name: Text | None = None
    query: Text
    conversation: Text | None = None
    budget_tokens: int = Field(2_000, ge=200, le=2_000_000)
    model: Text = ""


class CitationAnswer(BaseModel):
    """The mark of a line in the text, the memory behind it, and the quote it rests on."""

    mark: str
    memory_id: str
    quote: str
    source_id: str


class ContextAnswer(BaseModel):
    """
    What to put into a prompt, as lists and as one text.

    `text` is Markdown, fenced as data, within the budget. It begins with `prefix`, which stays the
    same bytes until a block changes. The lists are whole, whatever the budget.
    """

    memory_blocks: list[BlockAnswer]
    relevant_messages: list[MessageAnswer]
    text: str
    prefix: str
    tokens: int
    citations: list[CitationAnswer]
    retrieval_id: str | None
