"""
Keys of passphrases in tests, derived quickly: with the cost that Recollect ships, one takes 80 ms.

A wrapped key names its cost, so files of either cost are opened by the same code. What another
process wraps has the shipped cost, and so has what the test of that cost wraps.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from recollect.store import store_key

SHIPPED_COST: Mapping[str, int] = store_key._SCRYPT
QUICK_COST = {**SHIPPED_COST, "n": 16}


@contextmanager
def quick_keys(cost: Mapping[str, int] = QUICK_COST) -> Iterator[None]:
    """Wrap keys at *cost* inside the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_key, "_SCRYPT", cost)
        yield
