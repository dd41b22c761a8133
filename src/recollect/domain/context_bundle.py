"""The context bundle: blocks, memories and messages for a prompt, within a token budget."""

from enum import StrEnum

from recollect.domain.block import Block
from recollect.domain.conversation import Message, MessageHit, Pin, Summary
from recollect.domain.retrieval import Hit
from recollect.lazy_dataclass import dataclass


class SectionName(StrEnum):
    """The sections of a bundle, in the order of the text."""

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
    OPEN_FILES = "open_files"
    METADATA = "metadata"
    HISTORY = "history"


class BundleFormat(StrEnum):
    """The format of the text: XML-like tags, or Markdown headings."""

    TAGS = "tags"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class Citation:
    """The mark of a line in the text, its memory, and the quote that supports it."""

    mark: str
    memory_id: str
    quote: str
    source_id: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section with its size in tokens; `hits` are its memories."""

    name: SectionName
    tokens: int
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DroppedItem:
    """An item that was found but left out or truncated, and the reason."""

    item_id: str
    reason: str
    kind: str = "memory"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """
    The text for a model's prompt, and its contents.

    `text` begins with `prefix`, which is byte-identical until a block or the system prompt
    changes. `history` are the last messages of the conversation, to be sent as messages: they
    count in `tokens` but are not in `text`. `messages` are the earlier ones in the text,
    `messages_found` all that the search returned, best first.
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
    dropped: tuple[DroppedItem, ...] = ()
    retrieval_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class WindowOverview:
    """The contents of a model's context window, in tokens by section."""

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
        """The sum of all sections."""
        named = (self.system, self.blocks, self.metadata, self.summary)
        return sum(named) + self.messages + self.tools + self.files

    @property
    def free(self) -> int:
        """The unused tokens; negative if the window overflows."""
        return self.window_tokens - self.used
