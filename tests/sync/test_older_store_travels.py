"""A store of an earlier version is encrypted, synced, backed up and restored on another device."""

from dataclasses import replace
from pathlib import Path

import pytest

from older_stores import STATEMENTS, older_store
from recollect import LocalRecollect
from recollect.app.restore_backup import restore_backup
from recollect.app.store_encryption import encrypt_store
from recollect.config import Settings
from sample_queries import QUESTIONS, answers, answers_as_bytes, in_part, opened, populate
from store_bytes import files_with_word
from support import FakeClock

pytestmark = pytest.mark.kill


def device_settings(folder: Path, name: str) -> Settings:
    (folder / name).mkdir(exist_ok=True)
    return Settings(
        db=str(folder / name / "memory.db"),
        key_file=str(folder / name / "store.key"),
        keyring=False,
    )


def test_both_devices_answer_with_the_same_bytes(tmp_path: Path, exhaustive: bool) -> None:
    here, there = device_settings(tmp_path, "here"), device_settings(tmp_path, "there")
    clock = FakeClock()
    with opened(tmp_path / "present.db", clock) as rec:
        populate(rec, clock)
    older_store(tmp_path / "present.db", here.db_path, clock, schema=STATEMENTS)
    encrypt_store(here)
    shared = str(tmp_path / "shared")

    with LocalRecollect(here, clock=clock) as rec:
        rec.sync.init(shared, passphrase="correct horse")
        rec.sync.run()
    with LocalRecollect(there, clock=clock) as rec:
        rec.sync.init(shared, passphrase="correct horse")
        rec.sync.run()
    encrypt_store(there)
    with LocalRecollect(there, clock=clock) as rec:
        backup = rec.maintenance.backup(tmp_path / "backups").backup
    restored = replace(there, db=str(tmp_path / "there" / "restored.db"))
    restore_backup(there, Path(backup.path), restored.db_path)

    told = []
    for settings in (here, restored):
        with LocalRecollect(settings, clock=clock) as rec:
            rec.drain()
            assert rec.maintenance.verify().ok
            told.append(answers_as_bytes(answers(rec, in_part(0, exhaustive=exhaustive))))
    assert len(QUESTIONS) >= 200
    assert told[0] == told[1]
    assert not files_with_word(here.db_path, "Terraform")
    assert not files_with_word(restored.db_path, "Terraform")
    for path in (tmp_path / "shared").rglob("*.sync"):
        assert b"terraform" not in path.read_bytes().lower()
