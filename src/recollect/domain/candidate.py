"""
A statement found by the extractor: its text, its place in the source and the rule that found it.

It is stored as a memory with status `inbox`, or `stated` if it is not proposed for review. The
extraction rules are in engine/extract.
"""

from datetime import datetime
from enum import StrEnum

from recollect.domain.memory import MemoryType
from recollect.domain.provenance import MentionedDate, StatementFlag
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass


class NotProposed(StrEnum):
    """Why a statement is not proposed for review."""

    UNLIKELY = "unlikely"  # the judge of durability holds it not to be worth remembering
    JOKE = "joke"  # it sounds like a joke or irony, however likely it would be otherwise


class StatementSubject(StrEnum):
    """What a statement is about."""

    PERSON = "person"  # the speaker: who they are, what they like, whom they know
    WORK = "work"  # the project of the session
    ASSISTANT = "assistant"  # how the assistant should behave


@dataclass(frozen=True, slots=True)
class VoicedSpan:
    """Characters *start* to *end* of the source, and who said them."""

    start: int
    end: int
    voice: Voice


@dataclass(frozen=True, kw_only=True)
class ExtractedStatement:
    """A statement worth remembering, with the source spans that support it."""

    type: MemoryType
    content: str
    rule: str
    confidence: float
    observed_at: datetime
    spans: tuple[VoicedSpan, ...]
    title: str = ""
    rationale: str = ""
    alternatives: tuple[str, ...] = ()
    flags: tuple[StatementFlag, ...] = ()
    subject: StatementSubject | None = None  # None: not judged
    dates: tuple[MentionedDate, ...] = ()  # the days that its relative dates meant
    not_proposed: NotProposed | None = None  # then only search finds it, as something that was said

    @property
    def is_proposed(self) -> bool:
        """Whether it waits for review."""
        return self.not_proposed is None

    @property
    def voice(self) -> Voice:
        """Who said the first span."""
        return self.spans[0].voice
