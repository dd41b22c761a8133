"""
Carry a request out once, however often it is sent.

The key of a request is taken in the same transaction as its first write: either both are on disk or
neither is. A second request of the same key is told that the first was carried out.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from recollect.errors import AlreadyAccepted, InvalidInput
from recollect.service.services import Services
from recollect.store.protocol import Tables

T = TypeVar("T")
KEPT = timedelta(days=1)


def once(services: Services, key: str, fingerprint: str, run: Callable[[], T]) -> T:
    """Return what *run* returns, or raise `AlreadyAccepted` where the key's write was done."""
    now = services.clock.now()

    def claim(tables: Tables) -> None:
        tables.idempotency_keys.prune(before=now - KEPT)
        if not tables.idempotency_keys.claim(key, fingerprint, at=now):
            _refuse(tables, key, fingerprint)

    with services.store.read() as tables:
        if tables.idempotency_keys.fingerprint(key) is not None:
            _refuse(tables, key, fingerprint)
    with services.store.in_next_write(claim):
        return run()


def _refuse(tables: Tables, key: str, fingerprint: str) -> None:
    if tables.idempotency_keys.fingerprint(key) != fingerprint:
        raise InvalidInput(
            f"the key {key!r} was used for another request; make a new one for each request"
        )
    raise AlreadyAccepted(
        f"the request with the key {key!r} was carried out before; its answer is no longer at hand"
    )
