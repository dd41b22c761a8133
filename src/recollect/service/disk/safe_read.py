"""
Read a file so that what was checked is what is read.

A path can change between the check and the open: a folder can become a link to another place. So
each folder below the root is opened relative to the one before, and no link is followed. The open
file is checked, not its path again. If the platform cannot open relative to a folder (Windows), the
path is resolved once more after opening and must still be the same file.

Nothing here blocks or has side effects: pipes, sockets and devices are refused before they are
opened, and a pipe that replaces the file in between is opened without waiting.
"""

import errno
import os
import stat
from enum import StrEnum
from pathlib import Path

from recollect.errors import InvalidInput, NotFound, RecollectError, TooLarge
from recollect.lazy_dataclass import dataclass

MAX_FILE_BYTES = 50 * 1024 * 1024
BINARY_HEAD_BYTES = 8 * 1024

# A flag that the platform does not have is 0.
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
# O_PATH: to pass through a folder one needs no right to list it.
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class UnreadReason(StrEnum):
    """Why a file is not read."""

    MISSING = "missing"
    NO_FILE = "no file"
    LARGE = "large"
    BINARY = "binary"
    CHANGED = "changed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class FileText:
    """The text of a file. Bytes that are not UTF-8 are replaced by �."""

    path: Path
    root: Path
    text: str
    size: int


@dataclass(frozen=True)
class UnreadFile:
    """A file that is not read, and the sentence that says why."""

    reason: UnreadReason
    message: str

    def error(self) -> RecollectError:
        """Return the error for a caller that asked for this file only."""
        match self.reason:
            case UnreadReason.MISSING:
                return NotFound(self.message)
            case UnreadReason.LARGE:
                return TooLarge(self.message)
        return InvalidInput(self.message)


def read_file(path: Path, root: Path, *, max_bytes: int = MAX_FILE_BYTES) -> FileText | UnreadFile:
    """
    Return the text of *path*, which lies in the folder *root*.

    Both are real paths: a link anywhere below *root* is refused, never followed.
    """
    try:
        opened = _open_below(root, path)
        if isinstance(opened, UnreadFile):
            return opened
        with os.fdopen(opened, "rb") as file:
            return _read(file.fileno(), path, root, max_bytes)
    except (FileNotFoundError, ValueError):
        return UnreadFile(UnreadReason.MISSING, f"there is no file {path}; check its name")
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return _changed_file(path)
        return UnreadFile(
            UnreadReason.UNREADABLE,
            f"{path} cannot be read ({error.strerror or error}); check its rights",
        )


def _read(descriptor: int, path: Path, root: Path, max_bytes: int) -> FileText | UnreadFile:
    size = os.fstat(descriptor).st_size
    if size > max_bytes:
        return _too_large(path, size, max_bytes)
    head = os.read(descriptor, BINARY_HEAD_BYTES)
    if b"\0" in head:
        return UnreadFile(
            UnreadReason.BINARY, f"{path} is binary (or UTF-16); only UTF-8 text is read"
        )
    parts, length = [head], len(head)
    while part := os.read(descriptor, 1024 * 1024):
        parts.append(part)
        length += len(part)
        if length > max_bytes:  # it grew, or its size is unknown
            return _too_large(path, length, max_bytes)
    text = b"".join(parts).decode("utf-8-sig", errors="replace")
    return FileText(path, root, text, length)


def _open_below(root: Path, path: Path) -> int | UnreadFile:
    *folders, name = path.relative_to(root).parts or ("",)
    if not name:  # the root itself
        root, name = root.parent, root.name
    if os.open not in os.supports_dir_fd:
        return _open_and_verify(path)
    folder = os.open(root, _FOLDER)
    try:
        for part in folders:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if refusal := _not_a_file(status, path):
            return refusal
        return _require_regular_file(os.open(name, _FILE, dir_fd=folder), path)
    finally:
        os.close(folder)


def _open_and_verify(path: Path) -> int | UnreadFile:
    if refusal := _not_a_file(os.stat(path, follow_symlinks=False), path):
        return refusal
    opened = _require_regular_file(os.open(path, _FILE), path)
    if isinstance(opened, UnreadFile):
        return opened
    same = os.path.realpath(path) == str(path) and os.path.samestat(
        os.fstat(opened), os.stat(path, follow_symlinks=False)
    )
    if same:
        return opened
    os.close(opened)
    return _changed_file(path)


def _require_regular_file(descriptor: int, path: Path) -> int | UnreadFile:
    refusal = _not_a_file(os.fstat(descriptor), path)
    if refusal is None:
        return descriptor
    os.close(descriptor)
    return refusal


def _not_a_file(status: os.stat_result, path: Path) -> UnreadFile | None:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return _changed_file(path)
    if stat.S_ISDIR(mode):
        return UnreadFile(UnreadReason.NO_FILE, f"{path} is a folder; name a file in it")
    return UnreadFile(
        UnreadReason.NO_FILE, f"{path} is a pipe, socket or device; only regular files are read"
    )


def _changed_file(path: Path) -> UnreadFile:
    return UnreadFile(
        UnreadReason.CHANGED,
        f"{path} is a link that leads nowhere, or became one while it was opened; "
        "name the file itself",
    )


def _too_large(path: Path, size: int, max_bytes: int) -> UnreadFile:
    return UnreadFile(
        UnreadReason.LARGE,
        f"{path} has {size:,} bytes; the limit is {max_bytes:,}. Search or split it elsewhere",
    )
