"""
The memories that were already injected into a session, so that none is injected twice.

There is one small file of memory ids per session. When the client compacts its context or starts
again, the file is reset. Two prompts at the same time may both inject a memory; that does no harm.
"""

import hashlib
import os
import time
from collections.abc import Iterable

from recollect.hooks import state_files
from recollect.hooks.client_events import HookEvent

MAX_IDS = 500


def session_file(folder: str, *parts: str, suffix: str) -> str:
    """Return the path of a session's file. Its name is a hash that does not reveal the session."""
    key = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
    return os.path.join(folder, f"{key}.{suffix}")


class InjectedMemories:
    """The memories that were injected into one session of one store."""

    def __init__(self, folder: str, event: HookEvent, *, db: str, deadline: float = 0.0) -> None:
        self._path = session_file(folder, db, event.client, event.session, suffix="given")
        self._has_session = bool(event.session)
        self._deadline = deadline  # when the hook stops waiting for the server; 0: it waits

    def ids(self) -> list[str]:
        """Return the ids, oldest first; none if the client does not name its sessions."""
        ids = state_files.read_json(self._path).get("ids") if self._has_session else None
        return [entry for entry in ids if isinstance(entry, str)] if isinstance(ids, list) else []

    def add(self, ids: Iterable[str]) -> None:
        """Record that *ids* were injected too."""
        if self._has_session and not self._is_late():
            all_ids = list(dict.fromkeys([*self.ids(), *ids]))
            self._write(all_ids[-MAX_IDS:])

    def reset(self, ids: Iterable[str]) -> None:
        """Record that *ids* were injected, and forget those before them."""
        if self._has_session:
            self._write([] if self._is_late() else list(ids)[-MAX_IDS:])

    def _is_late(self) -> bool:
        """Return whether the hook has given up waiting, so that nothing was injected."""
        return 0.0 < self._deadline < time.time()

    def _write(self, ids: list[str]) -> None:
        try:
            state_files.write_json(self._path, {"ids": list(ids)})
        except OSError:
            return  # a memory may be injected twice
