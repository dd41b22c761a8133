"""
Carry a request out once, however often it is sent.

The key of a request is taken in the same transaction as its first write: either both are on disk or
neither is. A second request of the same key is told that the first was carried out.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from recollect.errors import AlreadyAccepted, InvalidInput
from recollect.service.deps import Deps
from recollect.store.protocol import Tables

T = TypeVar("T")
KEPT = timedelta(days=1)


def once(deps: Deps, key: str, fingerprint: str, run: Callable[[], T]) -> T:
    """Return what *run* returns, or raise `AlreadyAccepted` where the key's write was done."""
    now = deps.clock.now()

    def claim(tables: Tables) -> None:
        tables.requests.prune(before=now - KEPT)
        if not tables.requests.claim(key, fingerprint, at=now):
            _refuse(tables, key, fingerprint)

    with deps.store.read() as tables:
        if tables.requests.fingerprint(key) is not None:
            _refuse(tables, key, fingerprint)
    with deps.store.beside(claim):
        return run()


def _refuse(tables: Tables, key: str, fingerprint: str) -> None:
    if tables.requests.fingerprint(key) != fingerprint:
        raise InvalidInput(
            f"the key {key!r} was used for another request; make a new one for each request"
        )
    raise AlreadyAccepted(
        f"the request with the key {key!r} was carried out before; its answer is no longer at hand"
    )
