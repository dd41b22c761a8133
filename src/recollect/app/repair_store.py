"""Rescue a damaged store into a new file. Works if the store cannot be opened."""

from pathlib import Path

from recollect.app.local_recollect import key_places
from recollect.clock import SystemClock
from recollect.config import Settings
from recollect.domain.repair_report import RepairReport
from recollect.errors import NotFound
from recollect.store.sqlite.encryption import find_key
from recollect.store.sqlite.repair import repair


def repair_store(settings: Settings, to: Path) -> RepairReport:
    """
    Write what can be read of the store of *settings* to the new store *to*; do not change it.

    What is rescued of an encrypted store is encrypted with the same key.
    """
    path = settings.db_path
    if not path.exists():
        raise NotFound(f"there is no store at {path}; check --db or RECOLLECT_DB")
    return repair(path, to, SystemClock(), key=find_key(path, key_places(settings)))
