"""Idempotency keys of writes that were carried out."""

from datetime import datetime

from recollect.store.repositories.repository import Repository


class IdempotencyKeyRepository(Repository):
    """The idempotency keys of writes that were carried out."""

    _statements = "idempotency_keys"

    def claim(self, key: str, fingerprint: str, *, at: datetime) -> bool:
        """Store *key* for a request; return False if it is used already."""
        values = {"key": key, "fingerprint": fingerprint, "created_at": at}
        return bool(self._run_counted("claim", **values))

    def fingerprint(self, key: str) -> str | None:
        """Return the fingerprint of the request that used *key*, or None."""
        fingerprint: str | None = self._value("fingerprint", key=key)
        return fingerprint

    def prune(self, *, before: datetime) -> None:
        """Delete the keys that are older than *before*."""
        self._run("prune", before=before)
