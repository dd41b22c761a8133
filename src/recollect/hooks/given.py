"""
What a session was told already, so that it is not told twice.

A small file for each session, with the ids of memories. The client forgets when it compacts or
starts anew; then so does the file. Two prompts at once may both tell the same: no harm is done.
"""

import hashlib
import os
import time
from collections.abc import Iterable

from recollect.hooks import state
from recollect.hooks.events import HookEvent

MOST_IDS = 500


def session_file(folder: str, *parts: str, ending: str) -> str:
    """Return the file of one session; its name does not tell which."""
    mark = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return os.path.join(folder, f"{mark}.{ending}")


class Given:
    """The memories one session of one store was told."""

    def __init__(self, folder: str, event: HookEvent, *, db: str, until: float = 0.0) -> None:
        self._path = session_file(folder, db, event.client, event.session, ending="given")
        self._known = bool(event.session)
        self._until = until  # when the hook goes without us; 0: it waits

    def ids(self) -> list[str]:
        """Return them, oldest first; none where the client does not name its sessions."""
        found = state.read_small(self._path).get("ids") if self._known else None
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def add(self, ids: Iterable[str]) -> None:
        """Note that these were told as well."""
        if self._known and not self._is_late():
            every = list(dict.fromkeys([*self.ids(), *ids]))
            self._write(every[-MOST_IDS:])

    def begin(self, ids: Iterable[str]) -> None:
        """Note that these were told, and forget what was told before."""
        if self._known:
            self._write([] if self._is_late() else list(ids)[-MOST_IDS:])

    def _is_late(self) -> bool:
        """Say whether the hook is gone: then nobody was told anything."""
        return 0.0 < self._until < time.time()

    def _write(self, ids: list[str]) -> None:
        try:
            state.write_small(self._path, {"ids": list(ids)})
        except OSError:
            return  # something may be told twice
