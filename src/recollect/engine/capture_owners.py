"""Look up who owns the capture that a memory was extracted from."""

from collections.abc import Iterable, Mapping

from recollect.domain.memory import Memory
from recollect.domain.scope import Owner
from recollect.store.protocol import Tables


class CaptureOwners:
    """The owners of captures in one transaction; each is read once, *known_owners* never."""

    def __init__(self, tables: Tables, known_owners: Mapping[str, Owner] | None = None) -> None:
        self._tables = tables
        self._owners: dict[str, Owner | None] = dict(known_owners or {})  # by the id of the event

    def read_ahead(self, memories: Iterable[Memory]) -> None:
        """Read the owners of the captures of some memories with one statement."""
        event_ids = {id_ for memory in memories if (id_ := memory.provenance.event_id)}
        unread = sorted(event_ids - self._owners.keys())
        if unread:
            self._owners |= dict.fromkeys(unread) | self._tables.sources.event_owners(unread)

    def of(self, memory: Memory) -> Owner | None:
        """Return the owner of the capture of *memory*; None if it comes from none."""
        if memory.provenance.event_id is None:
            return None
        self.read_ahead([memory])
        return self._owners[memory.provenance.event_id]
