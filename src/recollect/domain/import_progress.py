"""What an import answers with: how far it is, what became of each file, and all of it in sum."""

from dataclasses import dataclass
from enum import StrEnum


class FileOutcome(StrEnum):
    """What became of one file."""

    TAKEN = "taken"  # read to its end; what was new in it is stored
    PARTLY = "partly"  # the limit was reached in it; the rest comes with the next run
    UNCHANGED = "unchanged"  # taken in before, and not touched since
    OLDER = "older"  # not touched since the day asked for
    REFUSED = "refused"  # broken, too large, or nothing of this source; `reason` says it


@dataclass(frozen=True, kw_only=True)
class ImportStep:
    """How far an import is with one file. The last step of a file has an *outcome*."""

    path: str
    number: int  # which file it is …
    of: int  # … of how many
    conversations: int = 0  # new ones of this file, so far
    known: int = 0  # conversations of this file that are in the store already
    left_out: int = 0  # older than asked for, or of another project
    outcome: FileOutcome | None = None
    reason: str = ""
