"""A full disk below a backup, a restored store or a shared folder: named, and nothing is lost."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import LocalRecollect, StoreFull
from recollect.app.restore_backup import replace_by_backup, restore_backup
from synced_devices import settings_of

if sys.platform == "win32":
    pytest.skip("needs a limit on file sizes", allow_module_level=True)

import resource


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """Let no file grow beyond *limit* bytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def test_a_full_disk_stops_a_backup_and_a_restore_and_leaves_nothing_behind(tmp_path: Path) -> None:
    settings, backups, new = settings_of(tmp_path, "a"), tmp_path / "backups", tmp_path / "new"
    with LocalRecollect(settings) as rec:
        rec.ingest("Deploys happen on Fridays.", scope="global")
        with full_disk(100_000), pytest.raises(StoreFull, match=str(backups)):
            rec.maintenance.backup(backups)
        assert not list(backups.iterdir())
        assert not rec.maintenance.backups(backups)
        copy = Path(rec.maintenance.backup(backups).backup.path)

    with full_disk(100_000), pytest.raises(StoreFull, match=str(new)):
        restore_backup(settings_of(tmp_path, "none"), copy, new / "memory.db")
    with full_disk(100_000), pytest.raises(StoreFull, match="nothing was changed"):
        replace_by_backup(settings, copy)

    assert not list(new.iterdir())
    with LocalRecollect(settings) as rec:
        assert rec.search("deploys")
        assert rec.maintenance.verify().ok


def test_a_sync_that_failed_says_so_until_it_succeeds(tmp_path: Path) -> None:
    with LocalRecollect(settings_of(tmp_path, "a")) as rec:
        rec.sync.init(str(tmp_path / "shared"))
        rec.documents.put(["app"], "large", random.Random(7).randbytes(1_000_000).hex(), text="")
    with LocalRecollect(settings_of(tmp_path, "a")) as rec:  # with an empty write-ahead log
        with full_disk(800_000), pytest.raises(StoreFull, match="shared"):
            rec.sync.run()
        failed = rec.sync.status()
        rec.sync.run()

        assert [problem for problem in failed.problems if "no space left" in problem]
        assert failed.unsent
        assert not rec.sync.status().problems
        assert not rec.sync.status().unsent
        assert not list((tmp_path / "shared").rglob("*.partial-*"))
