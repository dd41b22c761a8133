"""
Walk the files below the roots in a fixed order, with the entries that are skipped.

Entries of a folder come in the order of their names, so that two searches of the same files have
the same order. Links are not followed. No file is opened here.
"""

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from recollect.lazy_dataclass import dataclass
from recollect.service.disk.allowed_roots import is_system, real_folders
from recollect.text.secret_file_names import secret_path_reason

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__"})


class SkipReason(StrEnum):
    """Why an entry is skipped. The text is shown to the caller."""

    TOOLS = "folders of tools"
    SECRET = "what looks like a secret"
    LINK = "links"
    SPECIAL = "pipes, sockets, devices and system folders"
    UNREADABLE = "what cannot be read"
    NAMELESS = "names that are not UTF-8"


@dataclass(frozen=True)
class FileToSearch:
    """A file to search. `name` is its path below the root, with slashes."""

    path: Path
    root: Path
    name: str


@dataclass(frozen=True)
class SkippedEntry:
    """A file or folder that is not searched."""

    name: str
    reason: SkipReason
    is_folder: bool


@dataclass(frozen=True)
class FolderToWalk:
    """A folder to look into."""

    path: Path
    name: str


def walk(roots: Sequence[Path]) -> Iterator[FileToSearch | SkippedEntry]:
    """Return the entries below *roots*, each file once even if one root is inside another."""
    reals = sorted(set(real_folders(roots)))
    for root in reals:
        if not any(root != other and root.is_relative_to(other) for other in reals):
            yield from walk_folder(root, root)


def walk_folder(folder: Path, root: Path) -> Iterator[FileToSearch | SkippedEntry]:
    """Return the entries below *folder*, a real path in the real *root*."""
    within = folder.relative_to(root).parts
    # A stack of open listings, not recursion: folders may be nested deeper than Python's stack.
    listings = [_list_folder(folder, "".join(f"{part}/" for part in within), root)]
    while listings:
        entry = next(listings[-1], None)
        if entry is None:
            listings.pop()
        elif isinstance(entry, FolderToWalk):
            listings.append(_list_folder(entry.path, f"{entry.name}/", root))
        else:
            yield entry


def _list_folder(
    folder: Path, prefix: str, root: Path
) -> Iterator[FileToSearch | SkippedEntry | FolderToWalk]:
    try:
        with os.scandir(folder) as iterator:
            entries = sorted(iterator, key=lambda entry: entry.name)
    except OSError:
        yield SkippedEntry(prefix.rstrip("/") or str(folder), SkipReason.UNREADABLE, is_folder=True)
        return
    for entry in entries:
        yield _classify(entry, prefix + entry.name, root)


def _classify(
    entry: os.DirEntry[str], name: str, root: Path
) -> FileToSearch | SkippedEntry | FolderToWalk:
    try:
        is_link = entry.is_symlink() or _is_junction(entry)
        is_folder = entry.is_dir(follow_symlinks=False)
        is_file = entry.is_file(follow_symlinks=False)
    except OSError:
        return SkippedEntry(name, SkipReason.UNREADABLE, is_folder=False)
    path = Path(entry.path)
    if not _is_utf8(entry.name):
        readable = name.encode("utf-8", "replace").decode()
        return SkippedEntry(readable, SkipReason.NAMELESS, is_folder)
    if is_link:
        return SkippedEntry(name, SkipReason.LINK, is_folder)
    if is_folder and entry.name in IGNORED_FOLDERS:
        return SkippedEntry(name, SkipReason.TOOLS, is_folder)
    if secret_path_reason((entry.name,)):
        return SkippedEntry(name, SkipReason.SECRET, is_folder)
    if is_system(path) or not (is_folder or is_file):
        return SkippedEntry(name, SkipReason.SPECIAL, is_folder)
    return FolderToWalk(path, name) if is_folder else FileToSearch(path, root, name)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    ask = getattr(entry, "is_junction", None)  # since Python 3.12, and true on Windows only
    return bool(ask and ask())


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
