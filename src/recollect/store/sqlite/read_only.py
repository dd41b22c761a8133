"""
Read a store that cannot be written: on a read-only disk, without permission, or damaged.

A file that nobody can write is opened as immutable, without locks and without a write-ahead log,
as long as it has none. If it has one, SQLite reads it with the shared-memory file that its writers
use; without that, a private copy is read. Of a damaged store a rescued copy is read (repair.py).
"""

import os
import shutil
import tempfile
import urllib.parse
from pathlib import Path

import apsw

from recollect.clock import Clock
from recollect.domain.repair_report import RepairReport
from recollect.errors import StoreDamaged, StoreError, StoreReadOnly
from recollect.lazy_dataclass import dataclass
from recollect.store.row_conversion import fetch_all
from recollect.store.sqlite.connection import READER_CACHE_KIB, connect, translate_errors
from recollect.store.sqlite.database_image import has_lost_commits
from recollect.store.sqlite.encryption import apply_key
from recollect.store.sqlite.migrate import check_current, migrate
from recollect.store.store_key import StoreKey


@dataclass(frozen=True, kw_only=True)
class ReadOnlySource:
    """What is read instead of a writable store: the file itself, or a private copy of it."""

    path: Path  # what connections open
    reason: str  # why nothing can be written
    is_immutable: bool
    folder: tempfile.TemporaryDirectory[str] | None = None  # of the private copy
    report: RepairReport | None = None  # of a rescued copy
    key: StoreKey | None = None
    state: tuple[int, ...] = ()  # of an immutable file, to see that it was replaced

    def connect(self) -> apsw.Connection:
        """Open a connection that can only read."""
        if not self.is_immutable:
            return connect(self.path, key=self.key, read_only=True)
        return _connect_immutable(self.path, self.key)

    def refusal(self) -> StoreError:
        """Return the error for a write."""
        if self.report is not None:
            table = self.report.damage[0].table if self.report.damage else ""
            return StoreDamaged(f"{self.reason}; nothing was written", table=table)
        return StoreReadOnly(
            f"{self.reason}; nothing was written. Copy the file to a folder that you can write to, "
            "or choose another with --db"
        )

    def is_current(self) -> bool:
        """Return whether an immutable file is still what it was when it was opened."""
        return not self.state or self.state == _file_state(self.path)

    def close(self) -> None:
        """Delete the private copy."""
        if self.folder is not None:
            self.folder.cleanup()


def can_write(path: Path) -> bool:
    """Return whether this user may write the file and its folder."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def require_writable(db: apsw.Connection, path: Path, *, key: StoreKey | None = None) -> None:
    """
    Raise if the file can only be read, or if its log holds commits that SQLite cannot read.

    The checksums in the log of an encrypted store are over what SQLite decrypts: of that log only
    SQLite can tell.
    """
    if db.readonly("main"):
        raise StoreReadOnly(f"{path} is read-only")
    if key is not None:
        return
    # Closing the connection would move the readable part of the log into the file, and delete it.
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    if _has_lost_commits(db, path) and _has_lost_commits_without_writers(db, path):
        raise StoreDamaged(f"the write-ahead log of {path} is damaged")
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def _has_lost_commits(db: apsw.Connection, path: Path) -> bool:
    # Counts the frames that SQLite reads; before 3.51, NOOP is taken for PASSIVE.
    [(_, valid_frames, _)] = fetch_all(db.execute("PRAGMA wal_checkpoint(NOOP)"))
    return has_lost_commits(path, valid_frames)


def _has_lost_commits_without_writers(db: apsw.Connection, path: Path) -> bool:
    """Look again while nobody can write: a commit that is being written looks like a lost one."""
    writer = connect(path)
    try:
        writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        writer.execute("BEGIN IMMEDIATE")
        return _has_lost_commits(db, path)
    finally:
        writer.close()  # which also rolls back


def open_read_only(path: Path, *, key: StoreKey | None = None) -> tuple[ReadOnlySource, int]:
    """Open a store that cannot be written; return how it is read, and its schema version."""
    reason = f"{path} is read-only: the file or its folder cannot be written"
    log = path.with_name(f"{path.name}-wal")
    if not (log.exists() and log.stat().st_size):
        state = _file_state(path)
        source = ReadOnlySource(path=path, reason=reason, is_immutable=True, key=key, state=state)
        return source, _schema_version(source, path)
    try:
        source = ReadOnlySource(path=path, reason=reason, is_immutable=False, key=key)
        return source, _schema_version(source, path)
    except StoreError:
        # Without its shared-memory file, a write-ahead log can only be read after a recovery.
        copy, folder = _private_copy(path, key)
        source = ReadOnlySource(
            path=copy, reason=reason, is_immutable=False, folder=folder, key=key
        )
        return source, _schema_version(source, path)


def open_rescued(
    path: Path, clock: Clock, *, key: StoreKey | None = None
) -> tuple[ReadOnlySource, int]:
    """Rescue a damaged store into a private copy; return how it is read, and its schema version."""
    # Only a damaged store needs it, and every command waits for its imports.
    from recollect.store.sqlite.repair import rescue

    folder = tempfile.TemporaryDirectory(prefix="recollect-")
    copy = Path(folder.name) / path.name
    try:
        descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        os.close(descriptor)
        report = rescue(path, copy, clock, is_open=True, key=key)
        _migrate(copy, clock, key)
        remedy = "rebuild" if report.only_indexes else "repair"
        reason = f"{path} is damaged ({'; '.join(report.describe())}); run `recollect {remedy}`"
        source = ReadOnlySource(
            path=copy, reason=reason, is_immutable=True, folder=folder, report=report, key=key
        )
        return source, _schema_version(source, path)
    except BaseException:
        folder.cleanup()
        raise


def _schema_version(source: ReadOnlySource, path: Path) -> int:
    with translate_errors(path):
        db = source.connect()
        try:
            return check_current(db, path)
        finally:
            db.close()


def _migrate(copy: Path, clock: Clock, key: StoreKey | None) -> None:
    db = connect(copy, key=key)
    try:
        migrate(db, copy, clock, key=key)
    finally:
        db.close()


def _connect_immutable(path: Path, key: StoreKey | None) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with translate_errors(path):
        db = apsw.Connection(f"file:{urllib.parse.quote(str(path))}?immutable=1", flags=flags)
        apply_key(db, key)
        db.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")
        return db


def _private_copy(
    path: Path, key: StoreKey | None
) -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    folder = tempfile.TemporaryDirectory(prefix="recollect-")  # only its owner can enter it
    copy = Path(folder.name) / path.name
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    db = apsw.Connection(str(copy))
    apply_key(db, key)
    db.execute("PRAGMA schema_version").fetchall()
    db.close()  # moves the log into the file
    return copy, folder


def _file_state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    log = path.with_name(f"{path.name}-wal")
    log_size = log.stat().st_size if log.exists() else 0
    return status.st_ino, status.st_size, status.st_mtime_ns, log_size
