"""The shared folder: keys, damaged files, copies of a store, and who may write where."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import InvalidInput, LocalRecollect, StoreError, StoreUnavailable
from recollect.store.sqlite.sync.sync_folder import MANIFEST
from synced_devices import SyncedDevice, make_device, settings_of, settle

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def files_of(device: SyncedDevice) -> list[Path]:
    status = device.rec.sync.status()
    return sorted(Path(status.folder, f"device-{status.device}").glob("*.sync"))


def test_the_files_hold_no_words(pair: Pair) -> None:
    a, _ = pair
    a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")

    a.sync()

    assert files_of(a)
    for path in files_of(a):
        assert b"zebrafish" not in path.read_bytes()


def test_a_device_without_the_key_is_told_where_to_put_it(tmp_path: Path) -> None:
    make_device(tmp_path, "a", 1).rec.close()
    settings = replace(settings_of(tmp_path, "b"), key_file=str(tmp_path / "empty.key"))

    with LocalRecollect(settings) as rec, pytest.raises(StoreError, match=r"empty\.key"):
        rec.sync.init(str(tmp_path / "shared"))


def test_a_passphrase_shares_the_key(tmp_path: Path) -> None:
    with LocalRecollect(settings_of(tmp_path, "a")) as rec:
        rec.sync.init(str(tmp_path / "shared"), passphrase="correct horse")
        rec.ingest("Deploys happen on Fridays.", scope="global")
        rec.sync.run()
    settings = replace(settings_of(tmp_path, "b"), key_file=str(tmp_path / "b.key"))
    with LocalRecollect(settings) as rec:
        with pytest.raises(StoreError, match="passphrase"):
            rec.sync.init(str(tmp_path / "shared"), passphrase="wrong")
        rec.sync.init(str(tmp_path / "shared"), passphrase="correct horse")
        rec.sync.run()

        assert rec.search("deploys")


def test_a_file_that_was_altered_is_refused_and_named(pair: Pair) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.sync()
    [path] = files_of(a)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    report = b.sync()

    assert path.name in report.waiting[0]
    assert not b.rec.search("deploys")


def test_half_a_file_waits_for_its_other_half(pair: Pair) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.sync()
    [path] = files_of(a)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert b.sync().waiting

    path.write_bytes(content)
    report = b.sync()

    assert report.waiting == ()
    assert b.rec.search("deploys")


def test_a_file_of_another_chain_is_refused(pair: Pair) -> None:
    a, b = pair
    for number in range(3):
        a.rec.ingest(f"Deploy number {number} is done.", scope="global")
        a.sync()
    first, second, third = files_of(a)
    b.sync()
    a.rec.ingest("Another deploy is done.", scope="global")
    a.sync()
    fourth = files_of(a)[3]
    shutil.copy(second, fourth)

    report = b.sync()

    assert "renamed" in report.waiting[0]
    assert third.exists()
    assert first.exists()


def test_a_device_never_writes_to_the_folder_of_another(pair: Pair) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.sync()
    before = [path.read_bytes() for path in files_of(a)]

    b.sync()
    b.rec.ingest("Tests run at night.", scope="global")
    b.sync()

    assert [path.read_bytes() for path in files_of(a)] == before


def test_only_the_files_with_a_forgotten_text_are_written_anew(pair: Pair) -> None:
    a, b = pair
    secret = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    a.sync()
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.sync()
    first, second = files_of(a)
    a.rec.forget(secret.id)

    report = a.sync()

    assert report.files_rewritten == 1
    assert not first.exists()
    assert second.exists()
    assert b.sync().waiting == ()
    assert b.rec.search("deploys")


def test_the_receipt_of_forget_names_the_shared_folder(pair: Pair) -> None:
    a, _ = pair
    memory = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")

    receipt = a.rec.forget(memory.id)

    assert any(a.rec.sync.status().folder in line for line in receipt.kept)


def test_a_copy_of_a_store_is_another_device(pair: Pair, tmp_path: Path) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    settle(a, b)
    a.rec.close()
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    a.rec = LocalRecollect(settings_of(tmp_path, "a"), clock=a.clock)
    copy = SyncedDevice(
        "copy", tmp_path, b.clock, LocalRecollect(settings_of(tmp_path, "copy"), clock=b.clock)
    )
    copy.rec.ingest("The copy has this.", scope="global")
    a.rec.ingest("The original has that.", scope="global")

    settle(a, b, copy)

    assert a.rows() == b.rows() == copy.rows()
    assert len({device.rec.sync.status().device for device in (a, b, copy)}) == 3
    copy.rec.close()


def test_a_restored_store_gets_what_it_lacks_and_publishes_under_a_new_name(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    memory = a.rec.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    settle(a, b)
    a.rec.close()
    shutil.copytree(tmp_path / "a", tmp_path / "backup")
    a.rec = LocalRecollect(settings_of(tmp_path, "a"), clock=a.clock)
    a.rec.promote(memory.id)
    a.rec.ingest("Said after the backup.", scope="global")
    settle(a, b)
    former = a.rec.sync.status().device
    a.rec.close()
    shutil.rmtree(tmp_path / "a")
    shutil.copytree(tmp_path / "backup", tmp_path / "a")
    a.rec = LocalRecollect(settings_of(tmp_path, "a"), clock=a.clock)
    a.rec.ingest("Said after the restore.", scope="global")

    settle(a, b)

    assert a.rows() == b.rows()
    assert a.rec.search("said after the backup")
    assert b.rec.search("said after the restore")
    assert former not in [peer.device for peer in b.rec.sync.status().peers]


def test_sync_says_what_is_missing(tmp_path: Path, rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="sync init"):
        rec.sync.run()
    assert not rec.sync.status().is_set_up
    with pytest.raises(InvalidInput, match="holds the store itself"):
        rec.sync.init(str(rec.path.parent))


def test_a_folder_that_is_not_there_is_reported(pair: Pair, tmp_path: Path) -> None:
    a, _ = pair
    (tmp_path / "shared" / MANIFEST).rename(tmp_path / "elsewhere")

    with pytest.raises(InvalidInput, match="not available"):
        a.sync()
    assert a.rec.sync.status().problems


def test_a_store_whose_folder_cannot_be_written_does_not_stop_the_server(
    pair: Pair, tmp_path: Path
) -> None:
    a, _ = pair
    lock = tmp_path / "a" / "memory.db.sync-lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # nothing can be written there

    with pytest.raises(StoreUnavailable, match="cannot write"):
        a.rec.sync.run()
    assert a.rec.sync.run_if_due() is None


def test_the_server_syncs_when_it_is_due(pair: Pair) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.rec.sync.run_if_due()
    b.rec.sync.run_if_due()

    assert b.rec.search("deploys")
    assert b.rec.sync.run_if_due() is None
    b.clock.advance(minutes=2)
    assert b.rec.sync.run_if_due() is not None


def test_a_store_of_the_current_folder_is_set_up_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = replace(settings_of(tmp_path, "a"), db="memory.db")

    with LocalRecollect(settings) as rec:
        rec.sync.init("shared")

        assert rec.sync.run().waiting == ()
