"""
Values of the store that are not domain records: partitions, matches, embeddings, stored files.

An item is a searchable record (memory, message, block or file). Its `item_id` is the integer by
which the indexes know it; `id` is the text id of the record.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import Any

from recollect.domain.model_profile import ModelProfile
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.skill import SkillOrigin
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Partition:
    """The items of one kind and one owner: the unit a request may see or not."""

    id: int
    owner: Owner
    item_count: int
    word_count: int
    newest_embedding: int  # of the whole store, when the partition was read


@dataclass(frozen=True, slots=True)
class UnembeddedItem:
    """A record that is to be embedded, its text, and the conversation around a statement."""

    id: str
    kind: ItemKind
    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class ChunkEmbedding:
    """One embedded chunk of a record; *data* are half-precision numbers, little-endian."""

    id: str  # of the record
    chunk: int
    chunk_count: int  # 0: only compared with other memories; the next chunk is searched
    text_hash: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """An embedding model that is registered in a store."""

    id: int
    name: str
    dimension: int
    profile: ModelProfile | None = None  # None: not measured, or the embedder says it


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
