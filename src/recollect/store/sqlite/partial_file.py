"""
Write a copy of a store: private from the first byte, and removed if its process is killed.

A copy is written under a temporary name and renamed when it is complete. Its process holds a lock
on the temporary file, which the operating system releases if the process is killed: a temporary
file without a lock is a leftover, and the next program that opens the store deletes it.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollect.errors import StoreUnavailable

_MARK = ".partial-"


@contextmanager
def partial_file(path: Path) -> Iterator[Path]:
    """Yield an empty file that only its owner can read; it replaces *path* after the block."""
    temporary = path.with_name(f"{path.name}{_MARK}{os.getpid()}-{threading.get_ident()}")
    descriptor = _create_locked(temporary)
    try:
        yield temporary
        os.fsync(descriptor)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(descriptor)


def remove_leftovers(path: Path, prefix: str = "") -> None:
    """
    Delete the partial copies of *path*, or of files beside it whose names begin with *prefix*.

    Only those whose processes were killed.
    """
    prefix = prefix or f"{path.name}."
    with suppress(OSError):  # a folder that cannot be listed or written holds nothing of ours
        for name in os.listdir(path.parent):
            if name.startswith(prefix) and _MARK in name:
                _remove_unlocked(path.with_name(name))


def _create_locked(temporary: Path) -> int:
    try:
        temporary.unlink(missing_ok=True)
        while True:
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            _try_lock(descriptor)
            if temporary.exists():  # not taken for a leftover before it was locked
                return descriptor
            os.close(descriptor)
    except OSError as error:
        reason = error.strerror or error
        raise StoreUnavailable(f"cannot write {temporary}: {reason}") from error


if sys.platform == "win32":  # where an open file cannot be deleted: it needs no lock

    def _try_lock(descriptor: int) -> bool:
        return True
else:
    from recollect.store.file_lock import try_lock as _try_lock


def _remove_unlocked(partial: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(partial, os.O_RDWR)
        try:
            is_leftover = _try_lock(descriptor)
        finally:
            os.close(descriptor)
        if is_leftover:
            partial.unlink()
