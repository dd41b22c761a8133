"""Work that is done in steps, and the exports that this store wrote."""

from datetime import datetime

from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository, field_values

KEPT_CHECKSUMS = 10_000

_work = record_shape(UnfinishedWork, "kind subject detail started_at")


class UnfinishedWorkRepository(Repository):
    """Work that is done in steps, and the checksums of the exports that this store wrote."""

    _statements = "unfinished_work"

    def add(self, work: UnfinishedWork) -> None:
        """Record that some work has begun; an earlier start of the same work stays."""
        self._run("add", **field_values(work))

    def remove(self, kind: WorkKind, subject: str = "") -> None:
        """Remove work that is finished."""
        self._run("remove", kind=kind, subject=subject)

    def all(self, kind: WorkKind | None = None) -> list[UnfinishedWork]:
        """Return the unfinished work of a kind or, if None, of all kinds, oldest first."""
        if kind is None:
            return self._all(_work, "all")
        return self._all(_work, "of_kind", kind=kind)

    def is_any_left(self) -> bool:
        """Return whether work is unfinished, a source is unread, or sleeptime has an open run."""
        return bool(self._value("is_any_left"))

    def add_export(self, sha256: str, at: datetime) -> None:
        """Store the checksum of an export that this store wrote."""
        self._run("add_export", sha256=sha256, written_at=at)
        self._run("prune_exports", keep=KEPT_CHECKSUMS)

    def has_export(self, sha256: str) -> bool:
        """Return whether this store wrote an export with that checksum."""
        return self._value("has_export", sha256=sha256) is not None
