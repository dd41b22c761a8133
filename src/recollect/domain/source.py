"""
Sources and evidence: what was really said, and the spans of it that memories rest on.

A source is immutable raw material. Evidence is a span of one, with its quote; the database checks
that the quote stands there verbatim.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

BLANK = "█"  # what stands in a source where words were forgotten
SHADE = "▓"  # … where two blanked sources would else be the same
BLANKS = (BLANK, SHADE)


class SourceKind(StrEnum):
    """Where raw material came from."""

    MANUAL = "manual"
    CONVERSATION = "conversation"
    RUN = "run"
    DOCUMENT = "document"
    IMPORT = "import"


@dataclass(frozen=True)
class Redaction:
    """One secret that was taken out before storing: what kind, and where its mark now stands."""

    kind: str
    start: int
    end: int
    field: str = "content"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Raw material, addressed by the hash of its content."""

    id: str
    kind: SourceKind
    content: str
    sha256: str
    uri: str = ""
    title: str = ""
    session: str = ""  # as its capture named it
    captured_at: datetime
    observed_at: datetime
    redactions: tuple[Redaction, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Characters *start* to *end* of a source, which read *quote*, in whose *voice*."""

    id: str
    memory_id: str
    source_id: str
    start: int
    end: int
    quote: str
    voice: str = ""
    created_at: datetime
