"""Work that is done in steps, and the exports that this store wrote, in SQLite."""

from datetime import datetime

from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

KEPT_CHECKSUMS = 10_000

_work = row_parser(UnfinishedWork, "kind subject detail started_at")


class SqliteUnfinishedWorkTable(SqliteTable):
    """See `recollect.store.protocol.UnfinishedWorkTable`."""

    _sql = query_loader.load("unfinished_work")

    def add(self, work: UnfinishedWork) -> None:
        self._run("add", **field_values(work))

    def remove(self, kind: WorkKind, subject: str = "") -> None:
        self._run("remove", kind=kind, subject=subject)

    def all(self, kind: WorkKind | None = None) -> list[UnfinishedWork]:
        if kind is None:
            return self._all(_work, "all")
        return self._all(_work, "of_kind", kind=kind)

    def add_export(self, sha256: str, at: datetime) -> None:
        self._run("add_export", sha256=sha256, written_at=at)
        self._run("prune_exports", keep=KEPT_CHECKSUMS)

    def has_export(self, sha256: str) -> bool:
        return bool(self._rows("has_export", sha256=sha256))
