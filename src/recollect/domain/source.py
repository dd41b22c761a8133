"""
Sources and evidence: captured text, and the spans of it that support memories.

A source is immutable. Evidence is a span of a source with its quote; the database checks that the
quote matches verbatim.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.lazy_dataclass import dataclass

BLANK = "█"  # replaces forgotten text in a source
SHADE = "▓"  # … if two blanked sources would otherwise be identical
BLANKS = (BLANK, SHADE)


class SourceKind(StrEnum):
    """The origin of a source."""

    MANUAL = "manual"
    CONVERSATION = "conversation"
    RUN = "run"
    DOCUMENT = "document"
    IMPORT = "import"


@dataclass(frozen=True)
class Redaction:
    """A secret that was removed before storing: its kind, and the span of its placeholder."""

    kind: str
    start: int
    end: int
    field: str = "content"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Captured text, addressed by the hash of its content."""

    id: str
    kind: SourceKind
    content: str
    sha256: str
    uri: str = ""
    title: str = ""
    session: str = ""  # the name given by the capture
    captured_at: datetime
    observed_at: datetime
    redactions: tuple[Redaction, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SourceWindow:
    """Characters *start* to *end* of a source (*text*), and where it comes from."""

    source_id: str
    kind: SourceKind
    title: str
    uri: str
    session: str
    captured_at: datetime
    observed_at: datetime
    text: str
    start: int
    end: int
    length: int  # of the whole source


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Characters *start* to *end* of a source, their text (*quote*) and who said it (*voice*)."""

    id: str
    memory_id: str
    source_id: str
    start: int
    end: int
    quote: str
    voice: str = ""
    created_at: datetime
