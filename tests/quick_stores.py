"""
Stores of tests, made quickly: copies of one that is migrated already, and never synced to the disk.

Migrating an empty file takes 20 ms, a commit that waits for the disk takes milliseconds, and there
are thousands of tests. Only stores that this process opens are quick. What durability tests kill is
another process, which migrates and syncs as ever.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.store.key_places import KeyPlaces
from recollect.store.sqlite import connection
from recollect.store.sqlite.store import SqliteStore
from recollect.store.store_key import StoreKey
from support import FakeClock


class UnsyncedConnection(apsw.Connection):
    """A connection that does not wait for the disk."""

    def execute(self, statements: str, *arguments: Any, **options: Any) -> apsw.Cursor:
        if statements.startswith("PRAGMA synchronous ="):
            statements = "PRAGMA synchronous = OFF"
        return super().execute(statements, *arguments, **options)


@contextmanager
def quick_stores(folder: Path) -> Iterator[None]:
    """Make stores quickly inside the block; the template lies in *folder*."""
    SqliteStore(folder / "template.db", FakeClock()).close()
    template = (folder / "template.db").read_bytes()

    def open_database(path: Path, keys: KeyPlaces) -> tuple[apsw.Connection, StoreKey | None]:
        with suppress(OSError, ValueError):
            if path.parent.is_dir() and not path.exists():
                _copy(template, path)
        return connection.open_database(path, keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apsw, "Connection", UnsyncedConnection)
        patch.setattr("recollect.store.sqlite.store.open_database", open_database)
        yield


def _copy(template: bytes, path: Path) -> None:
    """Write *path* whole or not at all: another thread may make the same store."""
    copy = path.with_name(f"{path.name}.{threading.get_ident()}")
    try:
        with open(os.open(copy, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(template)
        os.link(copy, path)
    finally:
        copy.unlink(missing_ok=True)
