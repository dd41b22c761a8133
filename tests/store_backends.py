"""The databases that the contract tests of the store run against: each opens one in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

from recollect.clock import Clock
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore


def open_sqlite(folder: Path, clock: Clock) -> Store:
    """Open the SQLite store of *folder*."""
    return SqliteStore(folder / "memory.db", clock)


BACKENDS: Mapping[str, Callable[[Path, Clock], Store]] = {"sqlite": open_sqlite}
