"""A process that is killed while it replaces a store leaves the old store or the new one."""

import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from killed_process import run_until_killed
from recollect import LocalRecollect
from recollect.app.restore_backup import replace_by_backup, restore_backup
from recollect.app.store_encryption import decrypt_store, encrypt_store, rekey_store
from recollect.config import Settings
from recollect.store.sqlite.encryption import is_encrypted
from support import file_store

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]
STATEMENT = "The zebrafish tank is in Berlin."


def settings_in(folder: Path) -> Settings:
    return Settings(
        db=str(folder / "memory.db"),
        embedding_backend="none",
        key_file=str(folder / "store.key"),
        keyring=False,
    )


def restore_in_place(settings: Settings) -> object:
    [copy] = settings.db_path.parent.glob("backups/*.db")
    return replace_by_backup(settings, copy)


@pytest.mark.parametrize("command", [encrypt_store, rekey_store, decrypt_store, restore_in_place])
def test_the_store_is_whole_whenever_its_conversion_is_killed(
    tmp_path: Path, command: Callable[[Settings], object], kills: int
) -> None:
    pristine = tmp_path / "pristine"
    pristine.mkdir()
    settings = settings_in(pristine)
    with LocalRecollect(settings) as rec:
        for number in range(20):
            rec.ingest(f"{STATEMENT} Tank {number} is the same.", scope="global")
        file_store(rec).snapshot("test")
        before = rec.maintenance.status().memories_by_status
        rec.maintenance.backup(pristine / "backups")
    if command in (rekey_store, decrypt_store):
        encrypt_store(settings)

    def attempt(kill_at: int) -> tuple[int, Path]:
        folder = tmp_path / f"attempt-{kill_at}"
        shutil.copytree(pristine, folder)
        return run_until_killed(lambda: command(settings_in(folder)), kill_at), folder

    total, _ = attempt(0)
    assert total > kills
    outcomes = set()
    for kill_at in sorted(random.Random(7).sample(range(1, total), kills - 10)) + list(
        range(total - 400, total, 40)
    ):
        _, folder = attempt(kill_at)
        after = settings_in(folder)
        with LocalRecollect(after) as rec:
            assert rec.maintenance.verify().ok, kill_at
            assert rec.maintenance.status().memories_by_status == before
            assert rec.search("zebrafish tank")
        outcomes.add(is_encrypted(after.db_path))
        assert not list(folder.glob("*.partial-*"))
        with LocalRecollect(replace(after, db=str(folder / "memory.db.before-test"))) as copy:
            assert copy.search("zebrafish tank")
        shutil.rmtree(folder)

    if command is rekey_store:
        assert outcomes == {True}
    else:
        assert outcomes == ({False} if command is restore_in_place else {False, True})


def back_up(settings: Settings) -> object:
    with LocalRecollect(settings) as rec:
        return rec.maintenance.backup(settings.db_path.parent / "backups")


def restore_beside(settings: Settings) -> object:
    [copy] = settings.db_path.parent.glob("backups/*.db")
    return restore_backup(settings, copy, settings.db_path.with_name("new.db"))


@pytest.mark.parametrize("command", [back_up, restore_beside])
def test_a_killed_backup_or_restore_leaves_a_whole_copy_or_none(
    tmp_path: Path, command: Callable[[Settings], object], kills: int
) -> None:
    pristine = tmp_path / "pristine"
    pristine.mkdir()
    settings = settings_in(pristine)
    with LocalRecollect(settings) as rec:
        rec.ingest(STATEMENT, scope="global")
    encrypt_store(settings)
    if command is restore_beside:
        back_up(settings)

    def attempt(kill_at: int) -> tuple[int, Path]:
        folder = tmp_path / f"attempt-{kill_at}"
        shutil.copytree(pristine, folder)
        return run_until_killed(lambda: command(settings_in(folder)), kill_at), folder

    total, _ = attempt(0)
    assert total > kills
    for kill_at in random.Random(7).sample(range(1, total), kills):
        _, folder = attempt(kill_at)
        after = settings_in(folder)
        new = folder / "new.db"
        if command is restore_beside:
            if not new.exists():
                restore_beside(after)
            with LocalRecollect(replace(after, db=str(new))) as copy:
                assert copy.maintenance.verify().ok, kill_at
                assert copy.search("zebrafish tank")
        with LocalRecollect(after) as rec:
            backups = folder / "backups"
            for backup in rec.maintenance.backups(backups):
                restore_backup(after, Path(backup.path), folder / "restored.db")
            rec.maintenance.backup(backups, keep="1d")
            assert len(rec.maintenance.backups(backups)) == 1, kill_at
        assert not list(folder.rglob("*.partial-*")), kill_at
        shutil.rmtree(folder)
