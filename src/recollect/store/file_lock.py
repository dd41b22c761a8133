"""A lock file per store. The operating system releases the lock if its process is killed."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator

POLL_S = 0.1


@contextlib.contextmanager
def hold_lock(path: str, *, timeout_s: float) -> Iterator[bool]:
    """Hold the lock *path* inside the block; yield whether it was acquired in time."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + timeout_s
        while not (acquired := try_lock(descriptor)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        yield acquired
    finally:
        os.close(descriptor)  # this releases the lock


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; return whether no other process holds the lock."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; return whether no other process holds the lock."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
