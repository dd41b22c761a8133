"""Rescue a damaged store into a new file. Works if the store cannot be opened."""

from pathlib import Path

from recollect.clock import SystemClock
from recollect.domain.repair_report import RepairReport
from recollect.errors import NotFound
from recollect.store.sqlite.repair import repair


def repair_store(path: Path, to: Path) -> RepairReport:
    """Write what can be read of the store *path* to the new store *to*; only read *path*."""
    if not path.exists():
        raise NotFound(f"there is no store at {path}")
    return repair(path, to, SystemClock())
