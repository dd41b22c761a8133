"""
Open SQLite connections with our settings, and translate SQLite errors into ours.

Every connection has WAL, foreign keys, a busy timeout, and overwrites deleted content with zeros.
SQLite errors are raised as a `StoreError` that says what to do next.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from recollect.errors import (
    EvidenceMissing,
    InvalidInput,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from recollect.store.key_places import KeyPlaces
from recollect.store.sqlite.encryption import apply_key, find_key
from recollect.store.store_key import StoreKey

BUSY_TIMEOUT_S = 30.0
LOCK_POLL_S = (
    0.002  # long work leaves gaps of bounded_steps.PAUSE_S: a waiting writer must see them
)
LOG_TIMEOUT_MS = 250  # log rows do not wait longer
WRITER_CACHE_KIB = 8_192
READER_CACHE_KIB = 2_048  # the system caches the file as well; a larger one made queries slower
CHECKPOINT_PAGES = 4_000  # 16 MB: fewer checkpoints, and each is still short

_FULL = (
    "no space left to write {path}; nothing of this write was kept. "
    "Free some space and try again; what was stored before is intact"
)
# Our statements are constant: they fail like this only if the list of tables is damaged.
_SCHEMA_IS_DAMAGED = re.compile("unsupported file format|malformed|no such (table|column|index)")
_DAMAGED = (
    "{path} is not a Recollect database, or is damaged ({text}). Run `recollect repair` to rescue "
    "what can be read, or restore a backup or an export"
)


def connect(
    path: Path, *, key: StoreKey | None = None, create: bool = False, read_only: bool = False
) -> apsw.Connection:
    """Open the database *path*; a new file can be read by its owner only."""
    if create:
        _create_private(path)
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    with translate_errors(path):
        db = apsw.Connection(str(path), flags=flags)
        apply_key(db, key)
        db.set_busy_handler(_LockWait())
        db.execute("PRAGMA foreign_keys = ON")
        cache_kib = READER_CACHE_KIB if read_only else WRITER_CACHE_KIB
        db.execute(f"PRAGMA cache_size = -{cache_kib}")
        db.execute("PRAGMA secure_delete = ON")
        if not read_only:
            _use_write_ahead_log(db)
            db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        return db


def open_database(path: Path, keys: KeyPlaces) -> tuple[apsw.Connection, StoreKey | None]:
    """
    Open the database *path* for writing, with its key; create it if it does not exist.

    Another process may encrypt or restore the file meanwhile, which replaces it by another file.
    This connection would go on with the old one, which has no name any more, so it opens the new.
    As soon as it has read something, it holds a lock that no replacement gets past.
    """
    _create_private(path)
    while True:
        identity = _file_identity(path)
        db = None
        try:
            key = find_key(path, keys)
            db = connect(path, key=key, create=True)
            if _file_identity(path) == identity:
                return db, key
        except StoreError:
            if _file_identity(path) == identity:
                raise
        if db is not None:
            db.close()


def _use_write_ahead_log(db: apsw.Connection) -> None:
    """Switch a new file to a write-ahead log; another process may be doing so at the moment."""
    give_up_at = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            # SQLite does not wait here if both would wait for each other.
            if time.monotonic() >= give_up_at:
                raise
            time.sleep(LOCK_POLL_S)
        else:
            return


def _file_identity(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


class _LockWait:
    """
    Wait for a lock of another process: a busy handler that looks again every few milliseconds.

    SQLite's own handler looks every 100 ms after a while. It would miss most gaps between the steps
    of long work in another process.
    """

    def __init__(self) -> None:
        self._give_up_at = 0.0

    def __call__(self, tries: int) -> bool:
        now = time.monotonic()
        if tries == 0:
            self._give_up_at = now + BUSY_TIMEOUT_S
        time.sleep(LOCK_POLL_S)
        return now < self._give_up_at


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise SQLite errors about *path* as `RecollectError`."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(error, path) from error
    except UnicodeDecodeError as error:  # raised by apsw for a column that is not UTF-8
        raise StoreDamaged(_DAMAGED.format(path=path, text="damaged text")) from error


@contextmanager
def translate_full_disk(copy: Path) -> Iterator[None]:
    """Raise `StoreFull` about *copy* if there is no space for it; raise other errors unchanged."""
    try:
        yield
    except (apsw.FullError, apsw.IOError) as error:
        if isinstance(error, apsw.FullError) or _disk_is_full(error, copy):
            raise StoreFull(
                f"no space left to write {copy}; it was removed, and the store is as before. Free "
                "some space, or choose another folder"
            ) from error
        raise


def _translate(error: apsw.Error, path: Path) -> RecollectError:
    text = str(error)
    match error:
        case apsw.ConstraintError() if "evidence:" in text:
            reason = text.partition("evidence: ")[2]
            return EvidenceMissing(f"the store refused the write: {reason}")
        case apsw.ConstraintError():
            return InvalidInput(f"the store refused the write: {text}")
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(
                f"{path} is being written by another process and did not become free in time; "
                "nothing was changed, try again"
            )
        case apsw.FullError():
            return StoreFull(_FULL.format(path=path))
        case apsw.NotADBError() | apsw.CorruptError():
            return StoreDamaged(_DAMAGED.format(path=path, text=text))
        case apsw.SQLError() if _SCHEMA_IS_DAMAGED.search(text):
            return StoreDamaged(_DAMAGED.format(path=path, text=text))
        case apsw.TooBigError():
            return InvalidInput(f"a value is too large for the store ({text})")
        case apsw.IOError() if "EFBIG" in text or _disk_is_full(error, path):
            return StoreFull(_FULL.format(path=path))
        case _:
            return StoreUnavailable(
                f"{path} cannot be used ({text}). Check that the folder exists, that it and the "
                "file are yours to write, and that the disk is healthy"
            )


def _disk_is_full(error: apsw.Error, path: Path) -> bool:
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE:
        return True  # SQLite reports a short write beyond a quota or file-size limit like this
    try:
        return os.statvfs(path.parent).f_bavail < 16
    except (OSError, AttributeError):
        return False


def _create_private(path: Path) -> None:
    try:
        if path.exists():
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except (OSError, ValueError) as error:
        raise StoreUnavailable(
            f"cannot create {path}: {error}. Choose a folder you can write to, "
            "with --db or RECOLLECT_DB"
        ) from error
