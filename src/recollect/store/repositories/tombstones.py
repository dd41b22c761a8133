"""What a person deleted: it does not come back with an import, and other machines delete it too."""

from recollect.domain.tombstone import Tombstone
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository, field_values

_tombstone = record_shape(Tombstone, "kind id sha256 deleted_at")


class TombstoneRepository(Repository):
    """The ids of what a person deleted."""

    _statements = "tombstones"

    def add(self, *tombstones: Tombstone) -> None:
        """Store that something was deleted; an earlier record of it stays."""
        for tombstone in tombstones:
            self._run("add", **field_values(tombstone))

    def all(self) -> list[Tombstone]:
        """Return every tombstone, oldest first."""
        return self._all(_tombstone, "all")

    def still_here(self) -> list[Tombstone]:
        """Return the tombstones of other machines whose records are not deleted here yet."""
        return self._all(_tombstone, "still_here")
