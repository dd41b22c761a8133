"""
Overwrite the remains of deleted rows between the cells of database pages.

Theory of operation. `secure_delete` overwrites a row when it is deleted. But when SQLite balances a
tree it moves rows to other pages, and the bytes of a moved row stay in the gap between the cell
pointers and the cells of its old page. If the row is deleted later, those bytes are still there.
SQLite never reads a gap, so it can be overwritten in the file.

That is safe under two conditions, which hold here: the write-ahead log is empty, so the file has
the current content of every page and no checkpoint can write to it; and this connection holds the
write lock, so nobody can add to the log. A commit that changes nothing ends the work: it makes
every other connection drop its cached pages, which still have the old bytes. The file is opened
through SQLite's own file layer, because closing a file of the same process by other means would
release SQLite's locks.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import apsw

from recollect.store.sqlite.connection import connect, translate_errors
from recollect.store.sqlite.wal import LOCK_MS, truncate_wal
from recollect.store.store_key import StoreKey

LOCK_S = 0.2  # how long the write lock is held at once
CHUNK_PAGES = 256
MAX_VACUUM_BYTES = 32_000_000  # about 0.3 s, in which other writers wait
MAX_PAGES = 1 << 24  # of a larger file, other pages may look like those of a tree

_MAGIC = b"SQLite format 3\0"
_LEAF_HEADER, _INTERIOR_HEADER = 8, 12
_HEADER_SIZES = {2: _INTERIOR_HEADER, 5: _INTERIOR_HEADER, 10: _LEAF_HEADER, 13: _LEAF_HEADER}
_LOCK_BYTE = 1 << 30  # the page with this byte is never used


def clear_page_gaps(path: Path, *, give_up_s: float, key: StoreKey | None = None) -> bool:
    """
    Empty the write-ahead log and overwrite the gaps of all pages.

    The pages of an encrypted store cannot be written outside of SQLite. If it is small, VACUUM
    rewrites it; in a larger one the remains stay, encrypted, until it is rekeyed.

    Return False if a reader or writer prevented it, or if it was not finished in time.
    """
    give_up_at = time.monotonic() + give_up_s
    with translate_errors(path):
        if key is not None:
            return _vacuum(path, key, give_up_s=give_up_s)
        file = _open(path)
        try:
            while truncate_wal(path, give_up_s=max(0.0, give_up_at - time.monotonic())):
                pages = list(_pages_with_gaps(file, path.stat().st_size))
                if not pages:
                    return True
                if not _clear(path, file, pages) or time.monotonic() >= give_up_at + LOCK_S:
                    return False
            return False
        finally:
            file.xClose()


def _vacuum(path: Path, key: StoreKey, *, give_up_s: float) -> bool:
    """Rewrite an encrypted store unless it is large, and empty its write-ahead log."""
    if path.stat().st_size <= MAX_VACUUM_BYTES:
        db = connect(path, key=key)
        try:
            db.set_busy_timeout(LOCK_MS)
            db.execute("VACUUM")
        except apsw.BusyError:
            return False
        finally:
            db.close()
    return truncate_wal(path, give_up_s=give_up_s, key=key)


def _open(path: Path) -> apsw.VFSFile:
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    return apsw.VFSFile("", str(path), [flags, 0])


def _clear(path: Path, file: apsw.VFSFile, pages: list[int]) -> bool:
    """Overwrite gaps while nobody can write; return False if somebody wrote just before."""
    page_size, usable = _page_size(file), _usable_page_size(file)
    db = connect(path)
    try:
        db.set_busy_timeout(LOCK_MS)
        db.execute("BEGIN IMMEDIATE")
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            return False
        ends_at = time.monotonic() + LOCK_S
        for page in pages:
            gap = _gap(file.xRead(page_size, page), usable)  # it may have changed since
            if gap is not None:
                file.xWrite(bytes(gap[1] - gap[0]), page + gap[0])
            if time.monotonic() >= ends_at:
                break
        file.xSync(apsw.SQLITE_SYNC_NORMAL)
        version = db.execute("PRAGMA user_version").get
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("COMMIT")
        return True
    finally:
        db.close()  # which also rolls back


def _pages_with_gaps(file: apsw.VFSFile, size: int) -> Iterator[int]:
    """Yield where pages with remains begin, without a lock: they are read again under one."""
    page_size, usable = _page_size(file), _usable_page_size(file)
    if not page_size or size // page_size >= MAX_PAGES:
        return
    for start in range(0, size, CHUNK_PAGES * page_size):
        chunk = file.xRead(min(CHUNK_PAGES * page_size, size - start), start)
        for offset in range(0, len(chunk), page_size):
            page = start + offset
            # The first page has the schema only; the one with the lock byte is never used.
            if not page or page <= _LOCK_BYTE < page + page_size:
                continue
            if _gap(chunk[offset : offset + page_size], usable) is not None:
                yield page


def _gap(page: bytes, usable: int) -> tuple[int, int] | None:
    """Return where the gap of a tree page is, if it has a gap that is not empty."""
    header = _HEADER_SIZES.get(page[0]) if page else None
    if header is None:
        return None
    cells = int.from_bytes(page[3:5], "big")
    content = int.from_bytes(page[5:7], "big") or 65_536
    start = header + 2 * cells
    if not start < content <= usable or not page[start:content].strip(b"\0"):
        return None
    return start, content


def _page_size(file: apsw.VFSFile) -> int:
    """Return the size of a page, 0 if this is not a plain database."""
    head = file.xRead(100, 0)
    if head[:16] != _MAGIC:
        return 0
    size = int.from_bytes(head[16:18], "big")
    return 65_536 if size == 1 else size


def _usable_page_size(file: apsw.VFSFile) -> int:
    return _page_size(file) - file.xRead(1, 20)[0]
