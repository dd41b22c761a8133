"""Long work that has begun and is finished in steps, also after a kill."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class WorkKind(StrEnum):
    """What is done in steps."""

    DELETE_CONVERSATION = "delete_conversation"  # its rows are hidden, and deleted step by step
    IMPORT = "import"  # of an export file; run the import again to finish it
    TRUNCATE_WAL = "truncate_wal"  # the write-ahead log may hold forgotten words


@dataclass(frozen=True, kw_only=True)
class UnfinishedWork:
    """One piece of work that is not finished."""

    kind: WorkKind
    subject: str = ""  # the id of the conversation, or the checksum of the imported file
    detail: str = ""  # for people: the name of the file
    started_at: datetime
