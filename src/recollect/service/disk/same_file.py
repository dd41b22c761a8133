"""
Recognise recorded paths that mean the same file, also in another worktree of its repository.

A path may be relative, and its folder may be gone: what cannot be read is compared by its parts.
"""

from functools import cache
from pathlib import Path, PurePath

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service.disk.git_checkout import find_checkout, repository_root


class FileMatcher:
    """Compares recorded paths with the path of one file."""

    def __init__(self, path: str) -> None:
        self._path = PurePath(path)
        self._place = _place_in_checkout(path)
        self.matches = cache(self._matches)  # the same path is recorded again and again

    def _matches(self, recorded: str) -> bool:
        """Return whether a recorded path may mean the file."""
        other = PurePath(recorded)
        if other == self._path:
            return True
        if self._place is None or not other.is_absolute():
            return _end_alike(other, self._path)
        if other.name != self._place.path.name:
            return False  # before any folder is read
        place = _place_in_checkout(recorded)
        if place is None:  # of a worktree that was removed, or of another machine
            return _end_alike(other, self._place.path)
        return (place.repository, place.path) == (self._place.repository, self._place.path)


@dataclass(frozen=True)
class _PlaceInCheckout:
    """A path below the root of a checkout, and what all checkouts of its repository share."""

    root: Path
    path: Path
    repository: str


def _place_in_checkout(path: str) -> _PlaceInCheckout | None:
    if not PurePath(path).is_absolute():
        return None
    try:
        if not repository_root(Path(path)):
            return None
        checkout = find_checkout(Path(path))
    except InvalidInput:
        return None
    relative = Path(path).resolve().relative_to(checkout.root)
    return _PlaceInCheckout(checkout.root, relative, checkout.remote or str(checkout.main_root))


def _end_alike(path: PurePath, other: PurePath) -> bool:
    """Return whether the longer path ends with the shorter one."""
    length = min(len(path.parts), len(other.parts))
    return path.parts[-length:] == other.parts[-length:]
