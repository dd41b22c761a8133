"""Long work that has begun and is finished in steps, also after a kill."""

from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class WorkKind(StrEnum):
    """What is done in steps."""

    DELETE_CONVERSATION = "delete_conversation"  # its rows are hidden, and deleted step by step
    IMPORT = "import"  # of an export file; run the import again to finish it
    ERASE_DELETED = "truncate_wal"  # the files of the store may hold forgotten words


@dataclass(frozen=True, kw_only=True)
class UnfinishedWork:
    """One piece of work that is not finished."""

    kind: WorkKind
    subject: str = ""  # the id of the conversation, or the checksum of the imported file
    detail: str = ""  # for people: the name of the file
    started_at: datetime

    def describe(self) -> str:
        """Return what is unfinished and what finishes it, as a sentence."""
        since = f"since {self.started_at:%Y-%m-%d %H:%M}"
        match self.kind:
            case WorkKind.IMPORT:
                return (
                    f"the import of {self.detail} is not complete ({since}); if it was "
                    "interrupted, run it again"
                )
            case WorkKind.DELETE_CONVERSATION:
                return (
                    f"a deleted conversation is hidden and not yet erased ({since}); "
                    "`recollect work --once` finishes it"
                )
            case WorkKind.ERASE_DELETED:
                return (
                    f"the write-ahead log may hold forgotten words ({since}); "
                    "`recollect work --once` empties it"
                )
