"""
Files that an agent has open, and the results of reading and searching them.

Lines are counted from 1. Paths are resolved and absolute, so that they can be compared. The file
system is read in service/disk/safe_read.py.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class FileWindow:
    """A range of lines of a file; for an empty file 1 to 0 of 0."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


@dataclass(frozen=True, kw_only=True)
class OpenFile:
    """A file that an agent has open, and its range of lines; without a last line, to the end."""

    path: str
    root: str
    first_line: int = 1
    last_line: int | None = None
    opened_at: datetime
    last_accessed_at: datetime


@dataclass(frozen=True, kw_only=True)
class GrepMatch:
    """A matching line, secrets redacted, with the requested lines around it."""

    path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GrepPage:
    """
    One page of the matches of a search.

    `total` counts all matches; if `stopped` names a limit that was reached, there may be more.
    `skipped` describes what was not searched.
    """

    matches: tuple[GrepMatch, ...]
    total: int
    offset: int
    next_offset: int | None
    stopped: str
    skipped: tuple[str, ...]
    files_scanned: int
    bytes_scanned: int


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit that changed a file. `author` is the name without the email address."""

    hash: str
    authored_at: datetime
    author: str
    subject: str


def files_to_close(
    open_files: Sequence[OpenFile], opening: Sequence[str], *, max_open: int
) -> tuple[str, ...]:
    """
    Return the open files to close so that *opening* fits, least recently used first.

    Files in *opening* that are already open are not closed.
    """
    paths = set(opening)
    if len(paths) > max_open:
        raise InvalidInput(
            f"{len(paths)} files were to be opened at once; at most {max_open} can be open. "
            "Open fewer, or search them instead"
        )
    others = [file for file in open_files if file.path not in paths]
    others.sort(key=lambda file: (file.last_accessed_at, file.path))
    excess = len(others) + len(paths) - max_open
    return tuple(file.path for file in others[: max(excess, 0)])


@dataclass(frozen=True, kw_only=True)
class FilesReceipt:
    """The result of `files.forget`: what was removed, and what stays and why."""

    forgotten_at: datetime
    removed: Mapping[str, int]
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FileHit:
    """A file that matches a search, with its score and an excerpt."""

    path: str
    score: float
    excerpt: str
