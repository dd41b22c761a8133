"""Backups: written beside writers, verified, thinned out, restored, and never trusted blindly."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Backup, InvalidInput, LocalRecollect
from recollect.app.restore_backup import preview_restore, replace_by_backup, restore_backup
from recollect.app.store_encryption import decrypt_store, encrypt_store, rekey_store
from recollect.config import Settings
from recollect.domain.backup import KeepRule, TableDifference
from recollect.errors import AlreadyExists, ImportRefused, StoreBusy, StoreDamaged, StoreKeyMissing
from recollect.service.backup_manifest import manifest_of, signed_part
from recollect.store.key_places import KeyPlace
from recollect.store.sqlite.compare_stores import ROWS_SHOWN
from recollect.store.sqlite.encryption import is_encrypted
from support import FakeClock


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "store").mkdir()
    return Settings(
        db=str(tmp_path / "store" / "memory.db"),
        embedding_backend="none",
        key_file=str(tmp_path / "store.key"),
        keyring=False,
        backup_folder=str(tmp_path / "backups"),
        backup_every_hours=24,
    )


def written_backup(settings: Settings, statement: str = "The zebrafish is in Berlin.") -> Path:
    with LocalRecollect(settings) as rec:
        rec.ingest(statement, scope="global")
        return Path(rec.maintenance.backup().backup.path)


def test_a_backup_is_restored_into_a_new_file(settings: Settings, tmp_path: Path) -> None:
    copy = written_backup(settings)
    with LocalRecollect(settings) as rec:
        rec.ingest("The quagga came later.", scope="global")

    report = restore_backup(settings, copy, tmp_path / "new.db")

    [row] = report.differences["memories"].rows
    assert (row.in_backup, row.in_store) == (None, "The quagga came later.")
    assert report.differences["memories"] == TableDifference(only_in_store=1, rows=(row,))
    with LocalRecollect(replace(settings, db=str(tmp_path / "new.db"))) as rec:
        assert rec.search("zebrafish")
        assert not rec.search("quagga")
        assert rec.maintenance.verify().ok
    with pytest.raises(AlreadyExists):
        restore_backup(settings, copy, tmp_path / "new.db")


def test_a_store_whose_name_has_wildcards_finds_and_thins_out_its_backups(
    settings: Settings, tmp_path: Path
) -> None:
    clock, odd = FakeClock(), replace(settings, db=str(tmp_path / "store" / "mem[1]*?.db"))
    with LocalRecollect(odd, clock=clock) as rec:
        for _ in range(3):
            rec.ingest(f"It is {clock.moment}.", scope="global")
            rec.maintenance.backup(keep="2d")
            clock.advance(days=1)

        assert len(rec.maintenance.backups()) == 2
        assert rec.engine.back_up_if_due() is not None
        assert rec.engine.back_up_if_due() is None


def test_a_dry_run_writes_nothing_and_says_what_would_change(settings: Settings) -> None:
    copy = written_backup(settings)
    with LocalRecollect(settings) as rec:
        rec.ingest("The quagga came later.", scope="global")
    before = sorted(path.name for path in settings.db_path.parent.iterdir())

    report = preview_restore(settings, manifest_of(copy), settings.db_path)

    assert report.dry_run
    assert report.differences["memories"].only_in_store == 1
    assert sorted(path.name for path in settings.db_path.parent.iterdir()) == before


def test_without_a_store_or_a_backup_the_report_and_the_error_say_so(
    settings: Settings, tmp_path: Path
) -> None:
    copy = written_backup(settings)
    elsewhere = replace(settings, db=str(tmp_path / "none.db"))

    assert preview_restore(settings, copy, settings.db_path).was_compared
    assert not preview_restore(elsewhere, copy, elsewhere.db_path).was_compared
    assert not restore_backup(elsewhere, copy, elsewhere.db_path).was_compared
    with pytest.raises(InvalidInput, match=r"contains no backup \(\*.backup.json\)"):
        preview_restore(settings, tmp_path, settings.db_path)


def test_replacing_the_store_keeps_the_former_one(settings: Settings) -> None:
    copy = written_backup(settings)
    with LocalRecollect(settings) as rec:
        rec.ingest("The quagga came later.", scope="global")

    report = replace_by_backup(settings, copy)

    with LocalRecollect(settings) as rec:
        assert not rec.search("quagga")
    with LocalRecollect(replace(settings, db=report.replaced)) as former:
        assert former.search("quagga")


def test_no_restore_overwrites_the_copy_that_an_earlier_one_kept(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.replace_file.LOCK_MS", 10)
    copy = written_backup(settings)
    with LocalRecollect(settings) as rec:
        rec.ingest("The quagga came later.", scope="global")
    kept = replace_by_backup(settings, copy).replaced

    with LocalRecollect(settings), pytest.raises(StoreBusy, match="nothing was changed"):
        replace_by_backup(settings, copy)
    names = sorted(path.name for path in settings.db_path.parent.glob("*.before-*"))
    second = replace_by_backup(settings, copy).replaced

    assert names == [Path(kept).name]
    assert second != kept
    with LocalRecollect(replace(settings, db=kept)) as former:
        assert former.search("quagga")


def test_replacing_never_leaves_a_plain_file_of_an_encrypted_store_or_backup(
    settings: Settings,
) -> None:
    plain_copy = written_backup(settings)
    encrypt_store(settings)
    key_file = settings.key_file_path.read_bytes()
    encrypted_copy = written_backup(replace(settings, backup_folder=f"{settings.backup_folder}2"))

    first = replace_by_backup(settings, plain_copy, trust=True).replaced
    rekey_store(settings)
    second = replace_by_backup(settings, encrypted_copy).replaced
    assert all(is_encrypted(Path(name)) for name in (first, second, settings.db))
    with_old_key = replace(settings, key_file=f"{settings.key_file}.old")
    with_old_key.key_file_path.write_bytes(key_file)
    with_old_key.key_file_path.chmod(0o600)
    with pytest.raises(StoreKeyMissing):
        LocalRecollect(with_old_key)
    decrypt_store(settings)
    third = replace_by_backup(settings, encrypted_copy).replaced

    assert is_encrypted(settings.db_path)
    assert is_encrypted(Path(third))
    with LocalRecollect(settings) as rec:
        assert rec.search("zebrafish")


def tear(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[:-4096])


def flip(copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)


def remove_manifest(copy: Path) -> None:
    manifest_of(copy).unlink()


def forge_hash(copy: Path) -> None:
    """Alter stored words and make the manifest agree, as somebody without the key would."""
    content = copy.read_bytes()
    words = content.replace(b"zebrafish", b"zebraskin")
    if words == content:  # encrypted
        flip(copy)
    else:
        copy.write_bytes(words)
    fields = json.loads(manifest_of(copy).read_text())
    fields["sha256"] = hashlib.sha256(copy.read_bytes()).hexdigest()
    fields["hmac"] = "0" * len(fields["hmac"])
    assert signed_part(fields)
    manifest_of(copy).write_text(json.dumps(fields))


@pytest.mark.parametrize("harm", [tear, flip, remove_manifest, forge_hash])
@pytest.mark.parametrize("encrypts", [False, True])
def test_a_torn_or_altered_backup_is_refused(
    settings: Settings, tmp_path: Path, harm: Callable[[Path], None], *, encrypts: bool
) -> None:
    LocalRecollect(settings).close()
    if encrypts:
        encrypt_store(settings)
    copy = written_backup(settings)
    harm(copy)

    with pytest.raises((ImportRefused, StoreDamaged, StoreKeyMissing), match="backup"):
        restore_backup(settings, copy, tmp_path / "new.db")

    assert not (tmp_path / "new.db").exists()
    assert not list(tmp_path.glob("*.partial-*"))


def test_a_plain_backup_in_place_of_an_encrypted_one_is_refused_unless_it_is_trusted(
    settings: Settings, tmp_path: Path
) -> None:
    """Whoever can write the folder, and has no key, could have made it."""
    forged = written_backup(replace(settings, db=str(tmp_path / "forged.db")), "Pay to account 13.")
    LocalRecollect(settings).close()
    encrypt_store(settings)
    copy = written_backup(settings)
    forged.replace(copy)
    manifest_of(forged).replace(manifest_of(copy))
    new = tmp_path / "new.db"

    with pytest.raises(ImportRefused, match=r"not encrypted.*--trust"):
        preview_restore(settings, copy, new)
    with pytest.raises(ImportRefused, match=r"not encrypted.*--trust"):
        restore_backup(settings, copy, new)
    with pytest.raises(ImportRefused, match=r"not encrypted.*--trust"):
        replace_by_backup(settings, copy)

    with LocalRecollect(settings) as rec:
        assert not rec.search("account")
    assert not restore_backup(settings, copy, new, trust=True).backup.is_encrypted


def test_a_manifest_that_names_another_file_lets_nobody_delete_or_restore_that_file(
    settings: Settings, tmp_path: Path
) -> None:
    clock = FakeClock()
    with LocalRecollect(settings, clock=clock) as rec:
        first = Path(rec.maintenance.backup().backup.path)
        letter = first.with_name("letter.txt")
        letter.write_text("Dear Ann")
        fields = json.loads(manifest_of(first).read_text())
        manifest_of(first).write_text(json.dumps({**fields, "path": letter.name}))

        clock.advance(days=1)
        report = rec.maintenance.backup(keep="1d")

    assert report.deleted == (str(first),)
    assert letter.read_text() == "Dear Ann"


def test_a_backup_whose_files_were_moved_and_renamed_is_restored(
    settings: Settings, tmp_path: Path
) -> None:
    copy = written_backup(settings)
    moved = tmp_path / "elsewhere" / "before the trip.db"
    moved.parent.mkdir()
    copy.rename(moved)
    manifest_of(copy).rename(manifest_of(moved))

    assert restore_backup(settings, moved, tmp_path / "new.db").backup.path == str(moved)


def test_the_backup_of_an_encrypted_store_needs_its_key(settings: Settings, tmp_path: Path) -> None:
    LocalRecollect(settings).close()
    encrypt_store(settings)
    copy = written_backup(settings)
    rekey_store(settings)

    assert is_encrypted(copy)
    assert b"zebrafish" not in copy.read_bytes() + manifest_of(copy).read_bytes()
    restore_backup(settings, copy, tmp_path / "new.db")  # by the old key in the key file
    with LocalRecollect(replace(settings, db=str(tmp_path / "new.db"))) as rec:
        assert rec.search("zebrafish")
    settings.key_file_path.unlink()
    with pytest.raises(StoreKeyMissing):
        restore_backup(settings, copy, tmp_path / "other.db")


def test_a_passphrase_opens_a_backup_on_another_machine(settings: Settings, tmp_path: Path) -> None:
    LocalRecollect(settings).close()
    encrypt_store(settings, KeyPlace.PASSPHRASE, new_passphrase="correct horse")
    known = replace(settings, passphrase="correct horse")
    copy = written_backup(known)
    elsewhere = replace(known, db=str(tmp_path / "elsewhere" / "memory.db"), key_file="none.key")

    restore_backup(elsewhere, copy, elsewhere.db_path)

    with LocalRecollect(elsewhere) as rec:
        assert rec.search("zebrafish")


def backup_at(moment: datetime) -> Backup:
    return Backup(
        path=moment.isoformat(),
        store="s",
        created_at=moment,
        schema=1,
        bytes=1,
        sha256="",
        rows={},
        is_encrypted=False,
    )


def test_the_newest_backup_of_each_day_week_and_month_is_kept() -> None:
    now = datetime(2026, 5, 8, 12, tzinfo=UTC)
    backups = [backup_at(now - timedelta(hours=6 * number)) for number in range(4 * 500)]

    outdated = {backup.path for backup in KeepRule.parse("7d, 4w, 12m").outdated(backups)}
    kept = [backup for backup in backups if backup.path not in outdated]

    days = {backup.created_at.date() for backup in kept}
    assert kept[0] == backups[0]
    assert len(days) == len(kept)
    assert {now.date() - timedelta(days=number) for number in range(7)} <= days
    assert min(days) > now.date() - timedelta(days=366)
    assert 18 <= len(kept) <= 23
    for text in ("", "7", "0d", "7y", "7d,,4w"):
        with pytest.raises(InvalidInput):
            KeepRule.parse(text)


def test_backups_of_the_future_do_not_push_out_the_one_that_was_just_made(
    settings: Settings,
) -> None:
    """The clock was a year ahead for some days, and is right again."""
    clock = FakeClock()
    with LocalRecollect(settings, clock=clock) as rec:
        clock.advance(days=365)
        for _ in range(3):
            rec.maintenance.backup(keep="2d")
            clock.advance(days=1)
        clock.advance(days=-368)

        made = [rec.maintenance.backup(keep="2d").backup.path]
        clock.advance(days=1)
        made.append(rec.maintenance.backup(keep="2d").backup.path)

    assert all(Path(path).exists() for path in made)


def test_a_folder_is_restored_from_its_newest_backup_that_is_not_of_the_future(
    settings: Settings, tmp_path: Path
) -> None:
    """The clock was twenty years ahead for a moment."""
    clock = FakeClock()
    with LocalRecollect(settings, clock=clock) as rec:
        clock.advance(days=20 * 365)
        folder = Path(rec.maintenance.backup().backup.path).parent
        clock.advance(days=-20 * 365)
        latest = rec.maintenance.backup().backup.path

    report = restore_backup(settings, folder, tmp_path / "restored.db")

    assert report.backup.path == latest


def test_a_dry_run_names_what_would_come_go_and_change(settings: Settings) -> None:
    with LocalRecollect(settings) as rec:
        old = rec.ingest("The zebrafish is in Berlin.", scope="global")
        kept = rec.ingest("The quagga is in Paris.", scope="global")
        rec.views.save("fish", "where do they swim")
        copy = Path(rec.maintenance.backup().backup.path)
        rec.forget(old.id)
        rec.memories.edit(kept.id, content="The quagga is in Rome.")
        for number in range(12):
            rec.ingest(f"New fact number {number}.", scope="global")
        rec.views.delete("fish")

    differences = preview_restore(settings, copy, settings.db_path).differences

    memories = differences["memories"]
    rows = {row.id: (row.in_backup, row.in_store) for row in memories.rows}
    assert rows[old.id] == ("The zebrafish is in Berlin.", None)
    assert rows[kept.id][0] == "The quagga is in Paris."
    assert len(memories.rows) == ROWS_SHOWN
    assert [row.in_backup for row in differences["views"].rows] == ["fish"]


def test_the_server_makes_a_backup_when_one_is_due(settings: Settings) -> None:
    clock = FakeClock()
    with LocalRecollect(settings, clock=clock) as rec:
        first = rec.engine.back_up_if_due()
        assert first is not None
        assert rec.engine.back_up_if_due() is None
        clock.advance(hours=23)
        assert rec.engine.back_up_if_due() is None
        clock.advance(hours=2)
        assert rec.engine.back_up_if_due() is not None
        assert len(rec.maintenance.backups()) == 2


def test_a_scheduled_backup_that_fails_is_tried_again_later(
    settings: Settings, tmp_path: Path
) -> None:
    clock = FakeClock()
    (tmp_path / "backups").write_text("a file, not a folder")
    with LocalRecollect(settings, clock=clock) as rec:
        assert rec.engine.back_up_if_due() is None
        (tmp_path / "backups").unlink()
        assert rec.engine.back_up_if_due() is None
        clock.advance(minutes=11)
        assert rec.engine.back_up_if_due() is not None


def test_a_server_writes_backups_to_its_own_folder_only(settings: Settings, tmp_path: Path) -> None:
    with LocalRecollect(settings, readable_folders=[]) as rec:
        with pytest.raises(InvalidInput, match="its own folder only"):
            rec.maintenance.backup(tmp_path / "anywhere")
        assert rec.maintenance.backup().kept == 1
    with (
        LocalRecollect(replace(settings, backup_folder="")) as rec,
        pytest.raises(InvalidInput, match="no folder for backups"),
    ):
        rec.maintenance.backup()


def test_a_manifest_with_values_of_other_types_is_refused_and_does_not_stop_backups(
    settings: Settings, tmp_path: Path
) -> None:
    clock = FakeClock()
    with LocalRecollect(settings, clock=clock) as rec:
        copy = Path(rec.maintenance.backup().backup.path)
        manifest = manifest_of(copy)
        fields = json.loads(manifest.read_text())
        changes = [{name: None} for name in fields] + [
            {"rows": []},
            {"rows": {"memories": "many"}},
            {"bytes": float("inf")},
            {"created_at": "2026-05-08T12:00:00"},
            {"wrapped_keys": [1]},
            {"hmac": "ü"},
            {"path": "a\0b"},
        ]
        for content in [json.dumps(fields | change) for change in changes] + ["[]", "[" * 200_000]:
            manifest.write_text(content)
            with pytest.raises(ImportRefused, match=r"is damaged: .*Use another backup"):
                restore_backup(settings, copy, tmp_path / "new.db")
            assert rec.maintenance.backups() == []
        clock.advance(hours=25)
        assert rec.engine.back_up_if_due() is not None
        manifest.write_text(json.dumps(fields | {"created_at": "9999-12-31T23:59:59+00:00"}))
        clock.advance(hours=25)
        assert rec.engine.back_up_if_due() is not None
