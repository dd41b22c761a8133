"""What an agent gets: a bundle of memories in sections, cited, within a token budget."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.retrieval import Hit


class SectionName(StrEnum):
    """The parts of a bundle, in the order in which they are written."""

    PROFILE = "profile"
    DECISIONS = "decisions"
    FACTS = "facts"
    HINTS = "hints"
    EPISODES = "episodes"


@dataclass(frozen=True)
class Citation:
    """The mark of a line in the bundle, the memory behind it, and the quote it rests on."""

    mark: str
    memory_id: str
    quote: str
    source_id: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """One part of a bundle."""

    name: SectionName
    hits: tuple[Hit, ...]
    tokens: int


@dataclass(frozen=True)
class Dropped:
    """A memory that was found but left out, and the rule that left it out."""

    memory_id: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The text to hand to a model, and what it is made of."""

    text: str
    sections: tuple[Section, ...]
    citations: tuple[Citation, ...]
    tokens: int
    budget_tokens: int
    dropped: tuple[Dropped, ...] = ()
    retrieval_id: str | None = None
