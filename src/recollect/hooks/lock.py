"""One process at a time, for each store; the system frees the lock of a process that was killed."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

POLL_S = 0.1


@contextlib.contextmanager
def locked(path: str, *, within_s: float) -> Iterator[bool]:
    """Hold the lock *path* inside the block; say whether it was got *within_s* seconds."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + within_s
        while not (got := _got(opened)) and time.monotonic() < until:
            time.sleep(POLL_S)
        yield got
    finally:
        os.close(opened)  # which frees it


if sys.platform == "win32":
    import msvcrt

    def _got(opened: int) -> bool:
        try:
            msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _got(opened: int) -> bool:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
