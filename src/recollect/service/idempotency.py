"""
Idempotency keys: a request that is sent twice is carried out once.

The key is claimed in the same transaction as the first write of the request, so either both are
stored or neither is. A second request with the same key gets `AlreadyAccepted`.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from recollect.errors import AlreadyAccepted, InvalidInput
from recollect.service.services import Services
from recollect.store.protocol import Tables

Result = TypeVar("Result")
RETENTION = timedelta(days=1)


def run_once(
    services: Services, key: str, fingerprint: str, run: Callable[[], Result], *, user: str = ""
) -> Result:
    """
    Return the result of *run*; raise `AlreadyAccepted` if its key was claimed before.

    In a store that several users write, each *user* has keys of its own.
    """
    now = services.clock.now()
    stored = f"{user} {key}" if user else key

    def claim(tables: Tables) -> None:
        tables.idempotency_keys.prune(before=now - RETENTION)
        if not tables.idempotency_keys.claim(stored, fingerprint, at=now):
            _refuse(tables, key, stored, fingerprint)

    with services.store.read() as tables:
        if tables.idempotency_keys.fingerprint(stored) is not None:
            _refuse(tables, key, stored, fingerprint)
    with services.store.in_next_write(claim):
        return run()


def _refuse(tables: Tables, key: str, stored: str, fingerprint: str) -> None:
    if tables.idempotency_keys.fingerprint(stored) != fingerprint:
        raise InvalidInput(
            f"the key {key!r} was used for another request; make a new one for each request"
        )
    raise AlreadyAccepted(
        f"the request with the key {key!r} was carried out before; its response was deleted"
    )
