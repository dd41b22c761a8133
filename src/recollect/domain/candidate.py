"""
A candidate as the extractor found it: what it says, where it stands, why it was taken.

It becomes a memory of status `inbox`. This file knows the shape only; rules are in engine/extract.
"""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.memory import MemoryType
from recollect.domain.transcript import Voice

INSTRUCTION_FLAG = "instruction-like"  # the flag of a text that seems to command whoever reads it
CORRECTION_FLAG = "correction"  # the flag of a text that says something known is wrong
BY_AGENT_FLAG = "by-agent"  # the flag of a text that an agent put into memory itself
UPDATE_FLAG = "update"  # the flag of a text that says something is so now, or no longer


@dataclass(frozen=True, slots=True)
class VoicedSpan:
    """Characters *start* to *end* of the source, said in *voice*."""

    start: int
    end: int
    voice: Voice


@dataclass(frozen=True, kw_only=True)
class ExtractedStatement:
    """One thing worth remembering, with the spans of the source that it rests on."""

    type: MemoryType
    content: str
    rule: str
    confidence: float
    observed_at: datetime
    spans: tuple[VoicedSpan, ...]
    title: str = ""
    rationale: str = ""
    alternatives: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def voice(self) -> Voice:
        """Whose words it rests on first."""
        return self.spans[0].voice
