"""
Empty the write-ahead log without holding up writers.

Theory of operation. `wal_checkpoint(TRUNCATE)` takes the write lock and then waits for readers as
long as the busy timeout allows: with our 30 s, one long reader would stop every writer of every
process for 30 s. So the work is split. A PASSIVE checkpoint copies the log into the file without
the write lock. Then TRUNCATE has little left to copy, and its connection waits for a lock for
LOCK_MS only. If a reader still needs the log, both are tried again, for as long as the caller
likes.
"""

import time
from pathlib import Path

from recollect.store.sqlite.connection import connect, translate_errors
from recollect.store.store_key import StoreKey

LOCK_MS = 20  # TRUNCATE waits so long for the write lock, and again for readers
PAUSE_S = 0.03  # between two tries: other writers pass


def truncate_wal(path: Path, *, give_up_s: float, key: StoreKey | None = None) -> bool:
    """Empty the write-ahead log of *path*; return False if a reader or writer prevented it."""
    db = connect(path, key=key)
    give_up_at = time.monotonic() + give_up_s
    try:
        with translate_errors(path):
            db.set_busy_timeout(LOCK_MS)
            while True:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                was_busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
                if not was_busy or time.monotonic() >= give_up_at:
                    return not was_busy
                time.sleep(PAUSE_S)
    finally:
        db.close()
