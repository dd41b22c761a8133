"""Verbs that look after the store as a whole."""

from collections.abc import Iterator, Mapping
from os import PathLike, fspath

from recollect.app.given import Verbs
from recollect.config import at_home
from recollect.domain.upkeep import Imported, StoreStatus, Verification
from recollect.service import transfer, upkeep


class Keeping(Verbs):
    """Verbs that look after the store as a whole."""

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
