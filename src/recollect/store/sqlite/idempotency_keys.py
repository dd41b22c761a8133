"""Idempotency keys of writes that were carried out, in SQLite."""

from datetime import datetime

from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable


class SqliteIdempotencyKeyTable(SqliteTable):
    """See `recollect.store.protocol.IdempotencyKeyTable`."""

    _sql = query_loader.load("idempotency_keys")

    def claim(self, key: str, fingerprint: str, *, at: datetime) -> bool:
        values = {"key": key, "fingerprint": fingerprint, "created_at": at}
        return self._run("claim", **values).fetchone() is not None

    def fingerprint(self, key: str) -> str | None:
        return self._first(lambda row: str(row[0]), "fingerprint", key=key)

    def prune(self, *, before: datetime) -> None:
        self._run("prune", before=before)
