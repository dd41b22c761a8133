"""
New stores as copies of one that is migrated already: migrating an empty file takes 20 ms each time.

A store in a folder that is not there yet, or that another process opens, is migrated as ever.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from recollect.store.sqlite import connection
from recollect.store.sqlite.store import SqliteStore
from support import FakeClock


@contextmanager
def stores_from_template(folder: Path) -> Iterator[None]:
    """Inside the block, make every new store of this process a copy of one made in *folder*."""
    SqliteStore(folder / "template.db", FakeClock()).close()
    template = (folder / "template.db").read_bytes()

    def connect(path: Path, *, create: bool = False, read_only: bool = False) -> apsw.Connection:
        with suppress(OSError, ValueError):
            if create and path.parent.is_dir() and not path.exists():
                _copy(template, path)
        return connection.connect(path, create=create, read_only=read_only)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recollect.store.sqlite.store.connect", connect)
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
