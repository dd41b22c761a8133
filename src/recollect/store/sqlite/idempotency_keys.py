"""Idempotency keys of writes that were carried out, in SQLite."""

from datetime import datetime

import apsw

from recollect.clock import to_micros
from recollect.store.sqlite import query_loader

_SQL = query_loader.load("idempotency_keys")


class SqliteIdempotencyKeyTable:
    """See `recollect.store.protocol.IdempotencyKeyTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def claim(self, key: str, fingerprint: str, *, at: datetime) -> bool:
        values = {"key": key, "fingerprint": fingerprint, "created_at": to_micros(at)}
        return self._db.execute(_SQL["claim"], values).fetchone() is not None

    def fingerprint(self, key: str) -> str | None:
        row = self._db.execute(_SQL["fingerprint"], {"key": key}).fetchone()
        return None if row is None else str(row[0])

    def prune(self, *, before: datetime) -> None:
        self._db.execute(_SQL["prune"], {"before": to_micros(before)})
