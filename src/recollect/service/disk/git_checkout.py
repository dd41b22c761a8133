"""
Find the repository that contains a path, by reading files: no git program, hooks or network.

Supports ordinary checkouts, worktrees and submodules, whose `.git` is a file with another path.
"""

import re
from pathlib import Path

from recollect.domain.project import normalise_remote
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

_SECTION = re.compile(r'^\s*\[\s*remote\s+"(?P<name>[^"]+)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"^\s*url\s*=\s*(?P<url>.+?)\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Checkout:
    """
    A working folder: its root, and its remote, '' if it has none.

    `main_root` is the same for all worktrees of a repository: the folder that it was made in.
    """

    root: Path
    remote: str
    main_root: Path


def find_checkout(path: Path) -> Checkout:
    """Return the checkout that contains *path*; if there is none, *path* itself as the root."""
    try:
        start = path.resolve()
        if start.is_file():
            start = start.parent
        for folder in (start, *start.parents):
            marker = folder / ".git"
            if marker.exists():
                return Checkout(folder, _remote(_git_folder(marker)), _main_root(marker))
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(
            f"cannot look at {path} ({error}); name the project with a plain name instead"
        ) from error
    return Checkout(start, "", start)


def repository_root(path: Path) -> str:
    """Return the root of the checkout that contains *path*, '' if there is none."""
    root = find_checkout(path).root
    return str(root) if (root / ".git").exists() else ""


def _git_folder(marker: Path) -> Path:
    if marker.is_dir():
        return marker
    pointed = _read(marker).partition("gitdir:")[2].strip()
    folder = (marker.parent / pointed).resolve()
    common = _read(folder / "commondir").strip()  # a worktree keeps its configuration elsewhere
    return (folder / common).resolve() if common else folder


def _main_root(marker: Path) -> Path:
    """Return the folder whose worktree the folder of *marker* is; itself if it is not one."""
    folder = marker.parent
    if marker.is_dir():
        return folder
    pointed = (folder / _read(marker).partition("gitdir:")[2].strip()).resolve()
    common = _read(pointed / "commondir").strip()
    # The repository must know the worktree too: any folder can claim to belong to another one.
    worktree_marker = _read(pointed / "gitdir").strip()
    if not common or not worktree_marker:
        return folder
    if (pointed / worktree_marker).resolve() != marker.resolve():
        return folder
    shared = (pointed / common).resolve()
    return shared.parent if shared.name == ".git" else shared  # or a bare repository


def _remote(folder: Path) -> str:
    remotes: dict[str, str] = {}
    name = ""
    for line in _read(folder / "config").splitlines():
        if match := _SECTION.match(line):
            name = match["name"]
        elif line.lstrip().startswith("["):
            name = ""
        elif name and (match := _URL.match(line)):
            remotes.setdefault(name, match["url"])
    url = remotes.get("origin") or next(iter(remotes.values()), "")
    try:
        return normalise_remote(url)
    except InvalidInput:
        return ""  # not a valid remote; the root identifies the checkout


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:65_536]
    except OSError:
        return ""
