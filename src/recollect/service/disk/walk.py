"""
Which files a search meets: every file below the roots in one fixed order, and what is passed over.

Names in a folder are taken in order, folders where their name stands, so two searches of the same
files meet them alike. Links are not followed: what they lead to inside is met where it is. No file
is opened here.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from recollect.service.disk.roots import is_system, real_folders
from recollect.text.secret_file_names import secret_path_reason

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__"})


class Reason(StrEnum):
    """What something is that is passed over."""

    TOOLS = "folders of tools"
    SECRET = "what looks like a secret"
    LINK = "links"
    SPECIAL = "pipes, sockets, devices and system folders"
    UNREADABLE = "what cannot be read"
    NAMELESS = "names that are not UTF-8"


@dataclass(frozen=True)
class Met:
    """A file to search. `name` is its path below the root, with slashes."""

    path: Path
    root: Path
    name: str


@dataclass(frozen=True)
class PassedOver:
    """A file or folder that is not searched."""

    name: str
    reason: Reason
    is_folder: bool


@dataclass(frozen=True)
class Folder:
    """A folder to look into."""

    path: Path
    name: str


def walk(roots: Sequence[Path]) -> Iterator[Met | PassedOver]:
    """Return what is met below *roots*, each file once even where one root lies in another."""
    reals = sorted(set(real_folders(roots)))
    for root in reals:
        if not any(root != other and root.is_relative_to(other) for other in reals):
            yield from walk_folder(root, root)


def walk_folder(folder: Path, root: Path) -> Iterator[Met | PassedOver]:
    """Return what is met below *folder*, a real path in the real *root*."""
    within = folder.relative_to(root).parts
    # A stack of open listings, not recursion: folders may be nested deeper than Python's stack.
    listings = [_listing(folder, "".join(f"{part}/" for part in within), root)]
    while listings:
        entry = next(listings[-1], None)
        if entry is None:
            listings.pop()
        elif isinstance(entry, Folder):
            listings.append(_listing(entry.path, f"{entry.name}/", root))
        else:
            yield entry


def _listing(folder: Path, prefix: str, root: Path) -> Iterator[Met | PassedOver | Folder]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        yield PassedOver(prefix.rstrip("/") or str(folder), Reason.UNREADABLE, is_folder=True)
        return
    for entry in entries:
        yield _seen(entry, prefix + entry.name, root)


def _seen(entry: os.DirEntry[str], name: str, root: Path) -> Met | PassedOver | Folder:
    try:
        is_link = entry.is_symlink() or _is_junction(entry)
        is_folder = entry.is_dir(follow_symlinks=False)
        is_file = entry.is_file(follow_symlinks=False)
    except OSError:
        return PassedOver(name, Reason.UNREADABLE, is_folder=False)
    path = Path(entry.path)
    if not _is_utf8(entry.name):
        readable = name.encode("utf-8", "replace").decode()
        return PassedOver(readable, Reason.NAMELESS, is_folder)
    if is_link:
        return PassedOver(name, Reason.LINK, is_folder)
    if is_folder and entry.name in IGNORED_FOLDERS:
        return PassedOver(name, Reason.TOOLS, is_folder)
    if secret_path_reason((entry.name,)):
        return PassedOver(name, Reason.SECRET, is_folder)
    if is_system(path) or not (is_folder or is_file):
        return PassedOver(name, Reason.SPECIAL, is_folder)
    return Folder(path, name) if is_folder else Met(path, root, name)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    ask = getattr(entry, "is_junction", None)  # since Python 3.12, and true on Windows only
    return bool(ask and ask())


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
