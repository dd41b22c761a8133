"""An encrypted store: who opens it, what its files hold, and what a wrong key says."""

import os
import shutil
import stat
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import apsw
import pytest

from older_stores import older_store
from quick_keys import SHIPPED_COST, quick_keys
from recollect import LocalRecollect, StoreBusy, StoreKeyMissing, StoreUnavailable
from recollect.app.local_recollect import key_places
from recollect.app.restore_backup import restore_backup
from recollect.app.store_encryption import (
    decrypt_store,
    encrypt_store,
    encrypted_files,
    rekey_store,
)
from recollect.config import Settings
from recollect.errors import ImportRefused, InvalidInput
from recollect.store.key_places import KeyPlace, KeyPlaces, wrapped_keys_file
from recollect.store.sqlite.btree_reader import BtreeReader
from recollect.store.sqlite.database_image import PAGE_SIZE, DatabaseImage
from recollect.store.sqlite.encryption import find_key, is_encrypted
from recollect.store.sqlite.replace_file import change_key, copy_under_key
from recollect.store.sqlite.table_layout import SCHEMA_SHAPE
from recollect.store.store_key import StoreKey, parse_key, unwrap_key, wrap_key
from store_bytes import files_with_word
from support import FakeClock, file_store

WORDS = ("zebrafish", "quagga", "axolotl")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "store"
    folder.mkdir()
    return Settings(
        db=str(folder / "memory.db"),
        embedding_backend="none",
        key_file=str(tmp_path / "keys" / "store.key"),
        keyring=False,
    )


@pytest.fixture
def encrypted(settings: Settings) -> Settings:
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    encrypt_store(settings)
    return settings


def test_the_files_of_an_encrypted_store_hold_no_word_of_it(encrypted: Settings) -> None:
    path = encrypted.db_path
    with LocalRecollect(encrypted) as rec:
        rec.ingest("A quagga is a zebra of the plains.", scope="global")
        rec.blocks.create("notes", "An axolotl keeps its gills.", scope="global")
        assert rec._store.file is not None
        rec._store.file.snapshot("test")
        rec.export(path.parent / "memory.db.export.jsonl".replace("memory.db", "all"))
        while_open = [files_with_word(path, word) for word in WORDS]
        hits = rec.search("where is the zebrafish tank?")

    assert "Berlin" in hits[0].memory.content
    assert while_open == [[], [], []]
    for file in path.parent.iterdir():
        assert not any(word.encode() in file.read_bytes() for word in WORDS), file
    assert all(file.is_encrypted for file in encrypted_files(path))


@pytest.mark.parametrize("name", ["memory.db", "mem[1]*?.db"])
def test_encrypting_leaves_no_plain_copy_beside_the_store(settings: Settings, name: str) -> None:
    settings = replace(settings, db=str(settings.db_path.with_name(name)))
    path = settings.db_path
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
        assert rec._store.file is not None
        rec._store.file.snapshot("test")
    assert files_with_word(path, "zebrafish") == [name, f"{name}.before-test"]

    report = encrypt_store(settings)

    assert report.snapshots == 1
    assert files_with_word(path, "zebrafish") == []
    assert stat.S_IMODE(settings.key_file_path.stat().st_mode) == 0o600


def test_a_missing_key_names_the_three_places(encrypted: Settings) -> None:
    missing = replace(encrypted, key_file=f"{encrypted.key_file}.gone")

    with pytest.raises(StoreKeyMissing) as raised:
        LocalRecollect(missing)

    text = str(raised.value)
    assert f"(1) the key file {missing.key_file} does not exist" in text
    assert "(2) the OS keyring is not used" in text
    assert f"(3) no passphrase: {encrypted.db_path}.keys has no wrapped key" in text


def test_a_key_file_that_others_can_read_is_refused(encrypted: Settings) -> None:
    encrypted.key_file_path.chmod(0o644)

    with pytest.raises(StoreUnavailable, match="chmod 600"):
        LocalRecollect(encrypted)


def test_the_recovery_key_alone_opens_the_store(settings: Settings) -> None:
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    recovery = encrypt_store(settings).recovery_key
    settings.key_file_path.unlink()
    settings.key_file_path.write_text(f"found in the safe:\n{recovery.upper()}\n")
    settings.key_file_path.chmod(0o600)

    with LocalRecollect(settings) as rec:
        assert rec.search("zebrafish")


def test_a_passphrase_opens_the_store_and_another_does_not(settings: Settings) -> None:
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    encrypt_store(settings, KeyPlace.PASSPHRASE, new_passphrase="correct horse")
    assert not settings.key_file_path.exists()
    assert wrapped_keys_file(settings.db_path).exists()

    with LocalRecollect(replace(settings, passphrase="correct horse")) as rec:
        assert rec.search("zebrafish")
    with pytest.raises(StoreKeyMissing, match="the passphrase does not open"):
        LocalRecollect(replace(settings, passphrase="wrong"))

    changed = rekey_store(
        replace(settings, passphrase="correct horse"),
        KeyPlace.PASSPHRASE,
        new_passphrase="battery",
    )
    assert changed.is_encrypted
    with pytest.raises(StoreKeyMissing):
        LocalRecollect(replace(settings, passphrase="correct horse"))
    LocalRecollect(replace(settings, passphrase="battery")).close()


def test_a_passphrase_also_opens_the_snapshots_and_exports_of_the_store(
    settings: Settings, tmp_path: Path
) -> None:
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
        file_store(rec).snapshot("test")
    encrypt_store(settings, KeyPlace.PASSPHRASE, new_passphrase="correct horse")
    known = replace(settings, passphrase="correct horse")

    rekey_store(known, KeyPlace.PASSPHRASE, new_passphrase="battery")
    known = replace(settings, passphrase="battery")
    with LocalRecollect(known) as rec:
        rec.export(tmp_path / "all.jsonl")
        assert rec.import_(tmp_path / "all.jsonl").trusted
    report = decrypt_store(known)

    assert report.snapshots == 1
    assert not wrapped_keys_file(settings.db_path).exists()
    for name in ("memory.db", "memory.db.before-test"):
        with LocalRecollect(replace(settings, db=str(settings.db_path.with_name(name)))) as rec:
            assert rec.search("zebrafish")


@pytest.mark.parametrize("place", [KeyPlace.FILE, KeyPlace.PASSPHRASE])
def test_after_rekey_old_exports_and_backups_of_a_passphrase_still_open(
    settings: Settings, tmp_path: Path, place: KeyPlace
) -> None:
    with LocalRecollect(settings) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    encrypt_store(settings, KeyPlace.PASSPHRASE, new_passphrase="correct horse")
    old = replace(settings, passphrase="correct horse")
    with LocalRecollect(old) as rec:
        rec.export(tmp_path / "all.jsonl")
        backup = Path(rec.maintenance.backup(tmp_path / "backups").backup.path)
    restored = tmp_path / "restored.db"

    rekey_store(old, place, new_passphrase="battery")
    new = replace(settings, passphrase="battery" if place is KeyPlace.PASSPHRASE else "")
    with LocalRecollect(new) as rec:
        assert rec.import_(tmp_path / "all.jsonl").trusted
    restore_backup(new, backup, restored)
    report = restore_backup(replace(old, key_file="none.key"), backup, tmp_path / "another.db")

    assert not report.was_compared  # the old passphrase does not open the current store
    with LocalRecollect(replace(new, db=str(restored))) as rec:
        assert rec.search("zebrafish")


def test_the_keyring_of_the_system_is_asked_after_the_key_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords: dict[tuple[str, str], str] = {}
    keyring = ModuleType("keyring")
    keyring.get_password = lambda *names: passwords.get(names)  # type: ignore[attr-defined]
    keyring.set_password = lambda service, user, text: passwords.update(  # type: ignore[attr-defined]
        {(service, user): text}
    )
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    with_keyring = replace(settings, keyring=True)
    LocalRecollect(with_keyring).close()

    report = encrypt_store(with_keyring, KeyPlace.KEYRING)

    assert report.key_place == "OS keyring (recollect)"
    assert not settings.key_file_path.exists()
    LocalRecollect(with_keyring).close()
    passwords.clear()
    with pytest.raises(StoreKeyMissing, match=r"\(2\) the OS keyring: 0 keys, none fits"):
        LocalRecollect(with_keyring)


@pytest.mark.skipif(sys.platform == "win32", reason="removes the folder of an open file")
def test_no_error_of_a_conversion_names_the_key(encrypted: Settings, tmp_path: Path) -> None:
    key, target = StoreKey.generate(), tmp_path / "gone" / "copy.db"
    [old] = KeyPlaces(key_file=encrypted.key_file_path, uses_keyring=False).candidates(
        encrypted.db_path
    )

    with pytest.raises(StoreUnavailable) as raised:
        copy_under_key(encrypted.db_path, old, target, key)

    shown = "".join(traceback.format_exception(raised.value))
    assert str(target) in shown
    assert "hexkey" not in shown
    assert key.raw.hex() not in shown


def test_after_rekey_the_old_key_does_not_open_the_store(encrypted: Settings) -> None:
    old = find_key(encrypted.db_path, KeyPlaces(key_file=encrypted.key_file_path))
    assert old is not None
    rekey_store(encrypted)

    LocalRecollect(encrypted).close()
    encrypted.key_file_path.write_text(old.text)
    with pytest.raises(StoreKeyMissing):
        LocalRecollect(encrypted)


def test_decrypting_gives_back_a_plain_store(encrypted: Settings) -> None:
    decrypt_store(encrypted)

    assert not is_encrypted(encrypted.db_path)
    with LocalRecollect(encrypted) as rec:
        assert rec.search("zebrafish")
        assert rec.maintenance.verify().ok
    with pytest.raises(InvalidInput, match="is not encrypted"):
        decrypt_store(encrypted)


def test_a_store_that_is_open_elsewhere_is_not_converted(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.replace_file.LOCK_MS", 10)
    with (
        LocalRecollect(settings) as rec,
        pytest.raises(StoreBusy, match="is open in another program"),
    ):
        encrypt_store(settings)
    with LocalRecollect(settings) as rec:
        rec.ingest("It still works.", scope="global")
    assert not is_encrypted(settings.db_path)


@pytest.mark.parametrize("open_file", ["memory.db", "memory.db.before-test"])
@pytest.mark.parametrize("convert", [rekey_store, decrypt_store])
def test_a_refused_conversion_changes_no_file(
    encrypted: Settings,
    monkeypatch: pytest.MonkeyPatch,
    convert: Callable[[Settings], object],
    open_file: str,
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.replace_file.LOCK_MS", 10)
    path = encrypted.db_path
    with LocalRecollect(encrypted) as rec:
        file_store(rec).snapshot("a")
        file_store(rec).snapshot("test")
    files = [path, path.with_name("memory.db.before-a"), path.with_name("memory.db.before-test")]
    key_file = encrypted.key_file_path.read_bytes()
    keys = KeyPlaces(key_file=encrypted.key_file_path, uses_keyring=False)

    with (
        LocalRecollect(replace(encrypted, db=str(path.with_name(open_file)))),
        pytest.raises(StoreBusy, match="nothing was changed"),
    ):
        convert(encrypted)

    assert encrypted.key_file_path.read_bytes() == key_file
    assert [find_key(file, keys) for file in files] == [find_key(path, keys)] * 3
    assert all(is_encrypted(file) for file in files)


def test_an_encrypted_export_is_read_with_the_key_only(encrypted: Settings, tmp_path: Path) -> None:
    with LocalRecollect(encrypted) as rec:
        rec.export(tmp_path / "all.jsonl.gz")
        rec.export(tmp_path / "plain.jsonl", plain=True)
    other = replace(encrypted, db=str(tmp_path / "other.db"))

    with LocalRecollect(other) as rec:
        imported = rec.import_(tmp_path / "all.jsonl.gz", trust=True)
        assert imported.added["memories"] == 1
        with pytest.raises(ImportRefused, match="is a store, not an export"):
            rec.import_(encrypted.db_path)
    assert b"zebrafish" in (tmp_path / "plain.jsonl").read_bytes()
    without = replace(other, key_file=str(tmp_path / "none.key"))
    with LocalRecollect(without) as rec, pytest.raises(StoreKeyMissing):
        rec.import_(tmp_path / "all.jsonl.gz", trust=True)


def test_an_encrypted_exchange_is_read_with_the_key_only(
    encrypted: Settings, tmp_path: Path
) -> None:
    path, packed = tmp_path / "exchange.json", tmp_path / "exchange.json.gz"
    with LocalRecollect(encrypted) as rec:
        for file in (path, packed):
            rec.engine.export_exchange(file)
    other = replace(encrypted, db=str(tmp_path / "other.db"))
    stranger = replace(other, key_file=str(tmp_path / "none.key"))

    assert b"zebrafish" not in path.read_bytes()
    with LocalRecollect(stranger) as rec, pytest.raises(StoreKeyMissing, match="three places"):
        rec.engine.import_exchange(path)
    with LocalRecollect(other) as rec:
        for file, reason in ((path, None), (packed, "already imported")):
            [entry] = rec.engine.import_exchange(file, trust=True).entries
            assert (entry.status.value, entry.reason) == ("accepted", reason)
        assert rec.search("zebrafish")


def test_an_altered_encrypted_export_is_refused(encrypted: Settings, tmp_path: Path) -> None:
    export = tmp_path / "all.jsonl"
    with LocalRecollect(encrypted) as rec:
        rec.export(export)
        content = bytearray(export.read_bytes())
        content[-2000] ^= 1
        export.write_bytes(content)

        with pytest.raises(ImportRefused, match="altered or damaged"):
            rec.import_(export, trust=True)


def test_an_agent_of_an_encrypted_store_is_exported_only_if_plain_is_asked_for(
    encrypted: Settings, tmp_path: Path
) -> None:
    with LocalRecollect(encrypted) as rec:
        rec.agents.create("coder")
        with pytest.raises(InvalidInput, match="plain"):
            rec.agents.export("coder", tmp_path / "coder.json")
        rec.agents.export("coder", tmp_path / "coder.json", plain=True)

    assert (tmp_path / "coder.json").exists()


def test_forgetting_in_an_encrypted_store_leaves_no_remains_behind_its_key(
    encrypted: Settings,
) -> None:
    with LocalRecollect(encrypted) as rec:
        for number in range(60):
            rec.ingest(f"The quagga number {number} grazes." * 20, scope="global")
        for hit in rec.search("quagga", limit=20):
            rec.forget(hit.memory.id)
        for memory in rec.search("zebrafish"):
            rec.forget(memory.memory.id)
    key = find_key(encrypted.db_path, KeyPlaces(key_file=encrypted.key_file_path))
    assert key is not None
    db = apsw.Connection(str(encrypted.db_path))
    db.execute("PRAGMA cipher = 'aegis'")
    db.execute(f"PRAGMA key = 'raw:{key.raw.hex()}'")

    assert b"zebrafish" not in db.serialize("main")
    db.close()


def test_what_can_be_read_of_a_damaged_encrypted_store_is_rescued_encrypted(
    encrypted: Settings,
) -> None:
    path = encrypted.db_path
    with LocalRecollect(encrypted) as rec:
        for number in range(200):
            rec.ingest(f"The axolotl number {number} has gills. " * 5, scope="global")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    with LocalRecollect(encrypted) as rec:
        assert not rec.maintenance.verify().ok
        assert rec.damage is not None
        assert rec.damage.rescued["memories"] > 150
        source = file_store(rec)._source
        assert source is not None
        copies = list(source.path.parent.iterdir())
        assert len(copies) > 0
        assert not any(b"axolotl" in copy.read_bytes() for copy in copies)


def test_a_damaged_page_of_the_list_of_tables_loses_no_row_of_an_encrypted_store(
    encrypted: Settings,
) -> None:
    path = encrypted.db_path
    with LocalRecollect(encrypted) as rec:
        rec.ingest("The axolotl has gills.", scope="global")
    key = find_key(path, KeyPlaces(key_file=encrypted.key_file_path))
    reader = BtreeReader(DatabaseImage(path, key=key))
    assert [*reader.rows(1, SCHEMA_SHAPE)]
    content = bytearray(path.read_bytes())
    content[(max(reader.tree_pages) - 1) * PAGE_SIZE + 100] ^= 1
    path.write_bytes(content)

    with LocalRecollect(encrypted) as rec:
        assert rec.damage is not None
        assert "the list of tables is damaged" in rec.damage.describe()
        assert [hit.memory.content for hit in rec.search("axolotl")] == ["The axolotl has gills."]


def test_what_the_log_of_a_damaged_encrypted_store_holds_is_rescued_too(
    encrypted: Settings, tmp_path: Path
) -> None:
    """The process was killed before the log was moved into the file."""
    copy = tmp_path / "copy" / "memory.db"
    copy.parent.mkdir()
    with LocalRecollect(encrypted) as rec:
        for number in range(50):
            rec.ingest(f"The axolotl number {number} has gills. " * 5, scope="global")
        for name in ("", "-wal"):
            shutil.copy(f"{encrypted.db_path}{name}", f"{copy}{name}")
    content = bytearray(copy.read_bytes())
    content[len(content) - PAGE_SIZE // 2] ^= 1  # the last page, which the log does not have
    copy.write_bytes(content)

    pages = DatabaseImage(copy, key=find_key(copy, key_places(encrypted)))

    assert any(
        b"number 49 has gills" in bytes(pages.page(n)) for n in range(1, pages.page_count + 1)
    )
    assert pages.page_count > len(content) // PAGE_SIZE


def test_an_encrypted_store_of_an_older_version_is_migrated_and_its_snapshot_is_encrypted(
    settings: Settings, tmp_path: Path
) -> None:
    with LocalRecollect(replace(settings, db=str(tmp_path / "new.db"))) as rec:
        rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    path = older_store(tmp_path / "new.db", settings.db_path, FakeClock(), schema=9)
    key = StoreKey.generate()
    KeyPlaces(key_file=settings.key_file_path).save(path, key, KeyPlace.FILE)
    change_key(path, None, key)

    with LocalRecollect(settings) as rec:
        assert rec.search("zebrafish")

    [snapshot] = path.parent.glob("memory.db.before-*")
    assert is_encrypted(snapshot)
    assert files_with_word(path, "zebrafish") == []


def test_the_text_of_a_key_is_checked_and_a_wrapped_key_needs_its_passphrase() -> None:
    key = StoreKey.generate()
    changed = key.text[:-1] + ("a" if key.text[-1] != "a" else "b")

    assert parse_key(f" {key.text.upper()} ") == key
    with pytest.raises(InvalidInput):
        parse_key(changed)
    assert key.raw.hex() not in repr(key)
    with quick_keys(SHIPPED_COST):
        wrapped = wrap_key(key, "correct horse")
    assert wrapped["scrypt"] == {"n": 32_768, "r": 8, "p": 1}  # 32 MB for each guess
    assert unwrap_key(wrapped, "correct horse") == key
    assert unwrap_key(wrapped, "correct house") is None
    assert unwrap_key({**wrapped, "key": os.urandom(32).hex()}, "correct horse") is None
