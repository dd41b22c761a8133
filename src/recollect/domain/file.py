"""
Files an agent has open, and what reading and searching them gives.

Lines are counted from 1. A path is the real, absolute one, so that two values about one file can be
compared. This file knows no file system: opening is service/disk/reading.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class FileWindow:
    """Some lines of a file. An empty file has a window without lines: 1 to 0 of 0."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


@dataclass(frozen=True, kw_only=True)
class OpenFile:
    """A file an agent has open, and which lines; without a last line, to its end."""

    path: str
    root: str
    first_line: int = 1
    last_line: int | None = None
    opened_at: datetime
    last_accessed_at: datetime


@dataclass(frozen=True, kw_only=True)
class GrepMatch:
    """One line that matches, without secrets, with the lines around it that were asked for."""

    path: str
    line: int
    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GrepPage:
    """
    Some of the matches of a search.

    `total` counts what was found; more may exist where `stopped` names a limit that was met.
    `skipped` says in sentences what was not searched.
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
    """A commit that changed a file. Its author is a name: the address is nobody's business."""

    hash: str
    authored_at: datetime
    author: str
    subject: str


def files_to_close(
    open_files: Sequence[OpenFile], opening: Sequence[str], *, most: int
) -> tuple[str, ...]:
    """
    Return which open files must be closed so that *opening* fits, the least recently used first.

    A file that is opened again keeps its place and is never closed for it.
    """
    wanted = set(opening)
    if len(wanted) > most:
        raise InvalidInput(
            f"{len(wanted)} files were to be opened at once; at most {most} can be open. "
            "Open fewer, or search them instead"
        )
    others = [file for file in open_files if file.path not in wanted]
    others.sort(key=lambda file: (file.last_accessed_at, file.path))
    excess = len(others) + len(wanted) - most
    return tuple(file.path for file in others[: max(excess, 0)])


@dataclass(frozen=True, kw_only=True)
class FileHit:
    """A file that answers a search, how well, and where."""

    path: str
    score: float
    excerpt: str
