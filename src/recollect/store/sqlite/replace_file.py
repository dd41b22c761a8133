"""
Replace the file of a store by another one: encrypt, change the key, decrypt, restore.

Theory of operation. No other process may have the store open: a connection in WAL mode holds a
shared lock for as long as it is open, so an exclusive lock tells. It is held until the end. The
write-ahead log is moved into the file and removed. The new content is written to a temporary file,
checked, synced, and renamed to the name of the store. A rename is atomic: whoever kills this
process at any moment leaves the old store or the new one, and a temporary file that the next
program deletes (partial_file.py). Whoever waited for the lock meanwhile finds that the file has
another identity and opens it again (`connection.open_database`).
"""

import itertools
import os
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from recollect.errors import StoreBusy, StoreDamaged
from recollect.store.key_places import fsync_folder
from recollect.store.sqlite.connection import translate_errors, translate_full_disk
from recollect.store.sqlite.encryption import apply_key, copy_database, is_encrypted
from recollect.store.sqlite.partial_file import partial_file
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.store_key import StoreKey
from recollect.store.transfer.export_import import row_counts

LOCK_MS = 5_000  # how long to wait for other programs: a hook ends in less
_WIPE_BYTES = 1 << 20
_CONTENT = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"


def change_key(
    path: Path,
    old: StoreKey | None,
    new: StoreKey | None,
    *,
    prepare: Callable[[], None] = lambda: None,
) -> None:
    """
    Rewrite the store *path* under another key, or plain if *new* is None.

    *prepare* is called when no other program has the store open, before anything is written.
    """

    def write(db: apsw.Connection, partial: Path) -> None:
        prepare()
        copy_database(db, partial, new)
        check_same_content(db, partial, new)

    replace_store(path, old, write)


def replace_store(
    path: Path, key: StoreKey | None, write: Callable[[apsw.Connection, Path], None]
) -> None:
    """
    Replace the store *path*, which has *key*, by what *write* writes.

    *write* gets a connection to the store that excludes every other one, and an empty file. The old
    content of a store that was not encrypted is overwritten before its space is released.
    """
    path = path.resolve()  # a link stays a link
    with translate_errors(path), exclusive_connection(path, key) as db:
        old_file = os.open(path, os.O_RDWR) if os.name == "posix" and key is None else None
        try:
            with partial_file(path) as partial:
                write(db, partial)
                if os.name != "posix":
                    db.close()  # an open file cannot be replaced there
            fsync_folder(path.parent)
            if old_file is not None and is_encrypted(path):
                overwrite_file(old_file)
        finally:
            if old_file is not None:
                os.close(old_file)


def replace_and_keep(
    path: Path, key: StoreKey | None, new_key: StoreKey | None, write: Callable[[Path], None]
) -> Path:
    """
    Replace the store *path*, which has *key*, by what *write* writes; return a copy of the old one.

    Both are under *new_key*: a plain copy must not outlive a plain store.

    The copy is a snapshot with a name that no earlier one has: that may be the only copy of what is
    in it. It is made under the lock, after *write*, so a refused call leaves none.
    """
    previous = path

    def write_both(db: apsw.Connection, partial: Path) -> None:
        nonlocal previous
        write(partial)
        previous = _unused_snapshot_name(path)
        with partial_file(previous) as copy:
            copy_database(db, copy, new_key)
            check_same_content(db, copy, new_key)

    replace_store(path, key, write_both)
    return previous


def copy_under_key(
    source: Path, key: StoreKey | None, target: Path, new_key: StoreKey | None
) -> None:
    """Write a database that nobody changes meanwhile to the empty file *target*, under a key."""
    uri = f"file:{urllib.parse.quote(str(source))}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translate_errors(source):
        db = apsw.Connection(uri, flags=flags)
        try:
            apply_key(db, key)
            with translate_full_disk(target):
                copy_database(db, target, new_key)
            check_same_content(db, target, new_key)
        finally:
            db.close()


@contextmanager
def exclusive_connection(path: Path, key: StoreKey | None) -> Iterator[apsw.Connection]:
    """Yield a connection to *path* while no other exists; its write-ahead log is empty."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
    try:
        apply_key(db, key)
        db.set_busy_timeout(LOCK_MS)
        try:
            db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
            db.execute("BEGIN EXCLUSIVE")
            db.execute("COMMIT")
        except apsw.BusyError as error:
            raise StoreBusy(
                f"{path} is open in another program; nothing was changed. Stop the server "
                "(recollect stop) and programs that use the store, such as MCP clients, and try "
                "again"
            ) from error
        yield db
    finally:
        db.close()


def check_same_content(db: apsw.Connection, copy: Path, key: StoreKey | None) -> None:
    """Raise `StoreDamaged` if *copy* is damaged, or has other tables or row counts than *db*."""
    other = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        apply_key(other, key)
        result = other.execute("PRAGMA integrity_check(1)").get
        if result != "ok" or _content(other) != _content(db):
            raise StoreDamaged(
                f"the new file is not equal to the store ({result}); nothing was changed. "
                "Run `recollect verify`"
            )
    finally:
        other.close()


def checked_row_counts(copy: Path, key: StoreKey | None) -> dict[str, int]:
    """Return the rows of each canonical table of *copy*; raise `StoreDamaged` if it is damaged."""
    db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        apply_key(db, key)
        result = db.execute("PRAGMA integrity_check(1)").get
        if result != "ok":
            raise StoreDamaged(f"the copy {copy} is damaged ({result}); check the disk")
        return row_counts(SqliteRows(db))
    finally:
        db.close()


def _unused_snapshot_name(path: Path) -> Path:
    name = path.with_name(f"{path.name}.before-restore")
    numbers = itertools.count(2)
    while name.exists():
        name = path.with_name(f"{path.name}.before-restore-{next(numbers)}")
    return name


def _content(db: apsw.Connection) -> list[tuple[object, ...]]:
    schema: list[tuple[object, ...]] = [tuple(row) for row in db.execute(_CONTENT)]
    tables = [str(name) for kind, name, _ in schema if kind == "table"]
    counts = [db.execute(f'SELECT count(*) FROM "{table}"').get for table in tables]
    return [*schema, tuple(counts)]


def overwrite_file(descriptor: int) -> None:
    """Overwrite a file that has no name any more, so that its blocks hold no words."""
    status = os.fstat(descriptor)
    blocks = getattr(status, "st_blocks", None)  # Windows does not say
    left = status.st_size
    if blocks is not None:  # holes of a sparse file have none, and must not fill the disk
        left = min(left, max(blocks * 512, _WIPE_BYTES))
    os.lseek(descriptor, 0, os.SEEK_SET)
    while left > 0:
        left -= os.write(descriptor, bytes(min(left, _WIPE_BYTES)))
    os.fsync(descriptor)
