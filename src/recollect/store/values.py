"""
Values of the store that are not domain records: partitions, matches, embeddings, stored files.

An item is a searchable record (memory, message, block or file). Its `item_id` is the integer by
which the indexes know it; `id` is the text id of the record.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from recollect.domain.memory import MemoryType, Status
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.skill import SkillOrigin


@dataclass(frozen=True)
class Partition:
    """The items of one kind and one owner: the unit a request may see or not."""

    id: int
    owner: Owner
    item_count: int
    word_count: int


@dataclass(frozen=True, slots=True)
class WordMatch:
    """An item that shares words with the query: its BM25 score, and these words."""

    item_id: int
    score: float
    words: tuple[str, ...]
    weight: float  # the sum of the matched words' idf


@dataclass(frozen=True)
class WordMatches:
    """The matches of a query, best first, and the weight of the whole query."""

    matches: tuple[WordMatch, ...]
    query_weight: float
    match_count: int  # how many items match
    scores: Mapping[int, float] = field(default_factory=dict)  # of every matching item, by id
    unknown_words: tuple[str, ...] = ()  # of the query: they occur in no item


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """The fields of a memory that ranking needs; cheaper to read than the whole memory."""

    item_id: int
    id: str
    owner: Owner
    type: MemoryType
    status: Status
    confidence: float
    observed_at: datetime
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnembeddedItem:
    """An item that is to be embedded, and its text."""

    item_id: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkEmbedding:
    """One embedded chunk of an item; *data* are half-precision numbers, little-endian."""

    item_id: int
    chunk: int
    chunk_count: int
    text_hash: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """An embedding model that is registered in a store."""

    id: int
    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class ModelsInUse:
    """The model chosen for a store (None: the settings decide), and the one answering queries."""

    chosen: RegisteredModel | None
    serving: RegisteredModel | None


class PendingFilter(Enum):
    """Which items that a model has not embedded."""

    ALL = "all"
    NEW = "new"  # no model has embedded them
    REEMBED = "reembed"  # another model has embedded them


@dataclass(frozen=True, slots=True)
class VectorMatch:
    """The similarity of an item's most similar chunk to the query, and its number of chunks."""

    similarity: float
    chunk_count: int


@dataclass(frozen=True, slots=True)
class SimilarityStats:
    """Mean and standard deviation of the similarity of a sample of items to the query."""

    mean: float
    stdev: float
    sample_size: int = 0


@dataclass(frozen=True, kw_only=True)
class StoredSkill:
    """A skill as it was when last loaded."""

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
class StoredFile:
    """A file as it was when last read."""

    id: str
    project_id: str | None
    path: str
    content: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class OpenFileWindow:
    """A window of a file that an agent has open; lines count from 0, the last is not included."""

    file_id: str
    project_id: str | None
    path: str
    root: str  # the folder it was opened in
    first_line: int
    last_line: int | None
    last_accessed_at: datetime


@dataclass(frozen=True)
class TextCell:
    """A text in a row of a table, named by the key of the row and the column."""

    table: str
    key: tuple[str | int, ...]
    column: str
    text: str
    is_json: bool = False

    @property
    def value(self) -> Any:
        """The text, or what it says as JSON: equal values may be written differently."""
        return json.loads(self.text) if self.is_json else self.text

    def with_text(self, text: str) -> "TextCell":
        """Return the cell with another text."""
        return replace(self, text=text)


@dataclass(frozen=True)
class ItemWithWord:
    """An item that has a word; `conversation_id` only if it is a message."""

    kind: ItemKind
    id: str
    conversation_id: str | None
