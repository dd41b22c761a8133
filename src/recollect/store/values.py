"""
What a store hands over that is no record of the domain: shelves, matches, what waits for an index.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from recollect.domain.memory import MemoryType, Status
from recollect.domain.scope import Owner
from recollect.domain.skill import SkillOrigin


@dataclass(frozen=True)
class Shelf:
    """One kind of item of one owner, by the integer that indexes use, with its size."""

    id: int
    owner: Owner
    items: int
    words: int


@dataclass(frozen=True, slots=True)
class WordMatch:
    """An item that shares words with the question: its BM25 score and which words."""

    seq: int
    score: float
    words: tuple[str, ...]
    weight: float  # of the matched words, in idf


@dataclass(frozen=True)
class WordMatches:
    """The best matches, best first, others asked for, and the weight of the whole question."""

    matches: tuple[WordMatch, ...]
    question_weight: float
    matching: int  # how many items match at all
    scores: Mapping[int, float] = field(default_factory=dict)  # of those and of lesser ones
    unknown: tuple[str, ...] = ()  # words of the question that occur nowhere here, as it has them


@dataclass(frozen=True, slots=True)
class Standing:
    """What ranking needs to know of a candidate, without loading all of it."""

    seq: int
    id: str
    owner: Owner
    type: MemoryType
    status: Status
    confidence: float
    observed_at: datetime
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An item that waits to be embedded, and its text."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Vector:
    """One embedded chunk, as bytes of half-precision numbers."""

    seq: int
    chunk: int
    chunks: int
    hash: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class KnownModel:
    """An embedding model as a store knows it."""

    id: int
    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class InUse:
    """Which model a store wants (None: the settings decide), and whose vectors answer questions."""

    wanted: KnownModel | None
    serving: KnownModel | None


class Waiters(Enum):
    """Which of the items that wait for a model."""

    ALL = "all"
    NEW = "new"  # those that no model has embedded
    CHANGING = "changing"  # those that another model has embedded


@dataclass(frozen=True, slots=True)
class Near:
    """How near an item's nearest piece is to the question, and how many pieces it has."""

    similarity: float
    chunks: int


@dataclass(frozen=True, slots=True)
class Backdrop:
    """How near items here usually are to the question: against this, near is near."""

    mean: float
    spread: float
    seen: int = 0  # items that were looked at for it


@dataclass(frozen=True, kw_only=True)
class KeptSkill:
    """A skill as it was when it was last loaded."""

    id: str
    name: str
    description: str
    origin: SkillOrigin
    project_id: str | None
    path: str
    content: str
    sha256: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class KeptFile:
    """A file as it was when it was last read."""

    id: str
    project_id: str | None
    path: str
    content: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class OpenWindow:
    """A window of a file that an agent has open; lines count from 0, the last is not included."""

    file_id: str
    project_id: str | None
    path: str
    root: str  # the folder it was opened in
    first_line: int
    last_line: int | None
    last_accessed_at: datetime
