"""The progress of an import, and the outcome for each file."""

from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class FileOutcome(StrEnum):
    """The result for one file."""

    TAKEN = "taken"  # read to its end; new content is stored
    PARTLY = "partly"  # the limit was reached; the next run reads the rest
    UNCHANGED = "unchanged"  # imported before and not modified since
    OLDER = "older"  # not modified since the given day
    REFUSED = "refused"  # broken, too large or not of this source; see `reason`


@dataclass(frozen=True, kw_only=True)
class ImportStep:
    """The progress of one file. The last step of a file has an *outcome*."""

    path: str
    number: int  # of the file, from 1
    of: int  # number of files
    conversations: int = 0  # new ones in this file so far
    known: int = 0  # conversations of this file that are already stored
    left_out: int = 0  # too old, or of another project
    outcome: FileOutcome | None = None
    reason: str = ""
