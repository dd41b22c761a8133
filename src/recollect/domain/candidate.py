"""
A statement found by the extractor: its text, its place in the source and the rule that found it.

It is stored as a memory with status `inbox`. The extraction rules are in engine/extract.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.domain.memory import Memory, MemoryType
from recollect.domain.transcript import Voice

INSTRUCTION_FLAG = "instruction-like"  # the text looks like a prompt injection
CORRECTION_FLAG = "correction"  # the text says that an earlier statement is wrong
BY_AGENT_FLAG = "by-agent"  # an agent wrote the memory itself
UPDATE_FLAG = "update"  # the text says that something has changed
MODEL_RULE = "model"  # the rule of a statement that a language model worded
EXPLICIT_FLAG = (
    "explicit"  # the user asked to remember it: "remember that …", "from now on …", "always …"
)


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
    flags: tuple[str, ...] = ()

    @property
    def voice(self) -> Voice:
        """Who said the first span."""
        return self.spans[0].voice


def agent_metadata(author: str) -> dict[str, Any]:
    """Return the metadata of a memory that the agent *author* writes itself; '' if unnamed."""
    named = {"author": author} if author else {}
    return {"voice": Voice.ASSISTANT.value, "flags": [BY_AGENT_FLAG], **named}


def agent_author_note(memory: Memory) -> str:
    """Return how a memory that an agent wrote itself is marked, '' for any other."""
    if BY_AGENT_FLAG not in memory.metadata.get("flags", ()):
        return ""
    author = memory.metadata.get("author", "")
    return f"written by agent {author}" if author else "written by an agent"
