"""What an agent gets: a bundle of blocks, memories and messages, cited, within a token budget."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.block import Block
from recollect.domain.conversation import Message, MessageHit, Pin, Summary
from recollect.domain.retrieval import Hit


class SectionName(StrEnum):
    """The parts of a bundle, in the order in which they are written."""

    SYSTEM = "system"
    BLOCKS = "blocks"
    SUMMARY = "summary"
    PINS = "pins"
    PROFILE = "profile"
    DECISIONS = "decisions"
    FACTS = "facts"
    HINTS = "hints"
    EPISODES = "episodes"
    MESSAGES = "messages"
    TOPICS = "topics"
    FILE = "file"
    METADATA = "metadata"
    HISTORY = "history"


class Form(StrEnum):
    """How a bundle is written: with tags, or as Markdown headings."""

    TAGS = "tags"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class Citation:
    """The mark of a line in the bundle, the memory behind it, and the quote it rests on."""

    mark: str
    memory_id: str
    quote: str
    source_id: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """One part of a bundle and what it costs; `hits` are the memories in it."""

    name: SectionName
    tokens: int
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """Something that was found but left out or cut, and the rule that did it."""

    item_id: str
    reason: str
    kind: str = "memory"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """
    The text to hand to a model, and what it is made of.

    `text` begins with `prefix`, which stays the same bytes until a block or the system prompt
    changes. `history` are the last messages of the conversation, to be sent as messages; they are
    not in the text, but in `tokens`. `messages` are the earlier ones that got into the text,
    `messages_found` all that were found, best first.
    """

    text: str
    sections: tuple[Section, ...]
    citations: tuple[Citation, ...]
    tokens: int
    budget_tokens: int
    prefix: str = ""
    blocks: tuple[Block, ...] = ()
    messages: tuple[MessageHit, ...] = ()
    messages_found: tuple[MessageHit, ...] = ()
    summary: Summary | None = None
    pins: tuple[Pin, ...] = ()
    history: tuple[Message, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    retrieval_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class WindowOverview:
    """What fills a model's context window, section by section, in tokens."""

    window_tokens: int
    counted_by: str
    system: int = 0
    blocks: int = 0
    metadata: int = 0
    summary: int = 0
    messages: int = 0
    tools: int = 0
    files: int = 0
    warning: str = ""

    @property
    def used(self) -> int:
        """Everything that is not free."""
        named = (self.system, self.blocks, self.metadata, self.summary)
        return sum(named) + self.messages + self.tools + self.files

    @property
    def free(self) -> int:
        """What is left; below 0 where the window overflows."""
        return self.window_tokens - self.used
