"""Verbs that look after the store as a whole."""

from collections.abc import Callable, Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

from recollect.app.given import Verbs
from recollect.config import at_home
from recollect.domain.upkeep import EmbedderSeen, Imported, Pulse, StoreStatus, Verification
from recollect.service import transfer, upkeep
from recollect.service.once import once

T = TypeVar("T")


class Keeping(Verbs):
    """Verbs that look after the store as a whole."""

    @property
    def path(self) -> Path:
        """The database file."""
        return self._deps.store.path

    def export(self, path: str | PathLike[str]) -> int:
        """Write everything to one file (`.gz` compresses); return the number of rows."""
        return transfer.export(self._deps, at_home(fspath(path)))

    def import_(self, path: str | PathLike[str]) -> Imported:
        """Add everything of an exported file, all or none."""
        return transfer.import_(self._deps, at_home(fspath(path)))

    def drain(self) -> int:
        """Do everything that is due now (jobs, embedding); return how much that was."""
        return upkeep.drain(self._deps)

    def drain_in_steps(self) -> Iterator[int]:
        """Do the same in steps, yielding what each did, for whoever shows progress."""
        return upkeep.drain_in_steps(self._deps)

    def embed_some(self) -> int:
        """Embed a batch of what waits; return 0 where nothing does, or the embedder rests."""
        return upkeep.embed_some(self._deps)

    def prune_log(self) -> int:
        """Remove a batch of old retrievals where many more than `keep_retrievals` are logged."""
        return upkeep.prune_log(self._deps)

    def warm(self) -> bool:
        """Load the embedder where it runs on this machine; say whether it does."""
        return upkeep.warm(self._deps)

    def pulse(self) -> Pulse:
        """Take a short look at the store, without waking the embedder; raises `StoreError`."""
        return upkeep.pulse(self._deps)

    def embedder_seen(self) -> EmbedderSeen:
        """Return what is known of the embedder without asking it anything."""
        return self._deps.embedder()

    def try_embedder(self) -> str:
        """Embed one word and say with what; raises `EmbedderUnavailable`."""
        return upkeep.try_embedder(self._deps)

    def verify(self) -> Verification:
        """Check the file, the rules and the indexes."""
        return upkeep.verify(self._deps)

    def rebuild_indexes(self) -> Mapping[str, int]:
        """Make every index anew from the memories."""
        return upkeep.rebuild_indexes(self._deps)

    def status(self) -> StoreStatus:
        """Return what is in the store and how far its indexes are."""
        return upkeep.status(self._deps)

    def once(self, key: str, fingerprint: str, run: Callable[[], T]) -> T:
        """Return what *run* does with this memory, unless that was done under this key before."""
        return once(self._deps, key, fingerprint, run)
