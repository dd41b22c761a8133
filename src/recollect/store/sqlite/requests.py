"""The keys of writes that were carried out, in SQLite."""

from datetime import datetime

import apsw

from recollect.clock import to_micros
from recollect.store.sqlite import queries

_SQL = queries.load("requests")


class SqliteRequests:
    """See `recollect.store.protocol.Requests`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def claim(self, key: str, fingerprint: str, *, at: datetime) -> bool:
        """Take *key* for a request; say whether it was free."""
        values = {"key": key, "fingerprint": fingerprint, "created_at": to_micros(at)}
        return self._db.execute(_SQL["claim"], values).fetchone() is not None

    def fingerprint(self, key: str) -> str | None:
        """Return what *key* was used for, or None."""
        found = self._db.execute(_SQL["fingerprint"], {"key": key}).fetchone()
        return None if found is None else str(found[0])

    def prune(self, *, before: datetime) -> None:
        """Forget the keys that are older."""
        self._db.execute(_SQL["prune"], {"before": to_micros(before)})
