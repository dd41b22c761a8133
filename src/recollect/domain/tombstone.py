"""A tombstone: the record that a person deleted something. It holds ids and hashes, never words."""

from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class DeletedKind(StrEnum):
    """What was deleted."""

    MEMORY = "memory"
    SOURCE = "source"
    CONVERSATION = "conversation"
    BLOCK = "block"
    AGENT = "agent"
    MESSAGE = "message"
    DOCUMENT = "document"


@dataclass(frozen=True, kw_only=True)
class Tombstone:
    """One thing that a person deleted, and when."""

    kind: DeletedKind
    id: str
    sha256: str = ""  # of a source
    deleted_at: datetime
