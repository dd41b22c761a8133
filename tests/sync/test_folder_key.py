"""A new key of the shared folder: who has it goes on, and no file is left under the former key."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import LocalRecollect, RecollectError, StoreError
from recollect.store.key_places import KeyPlaces, read_key_file
from recollect.store.sqlite.sync.sync_folder import (
    MANIFEST,
    SharedFolder,
    open_folder,
    parse_revision,
)
from recollect.store.store_key import StoreKey
from recollect.store.transfer.record_kinds import FIRST_KINDS
from support import FakeClock
from synced_devices import SyncedDevice, settings_of, settle

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Two devices, each with a key file of its own, which have exchanged something."""
    devices = [join(tmp_path, name, number) for number, name in enumerate("ab", start=1)]
    for device in devices:
        device.rec.ingest(f"Device {device.name} is in Berlin.", scope="global")
    settle(*devices)
    yield devices[0], devices[1]
    for device in devices:
        device.rec.close()


def join(folder: Path, name: str, number: int) -> SyncedDevice:
    settings = replace(settings_of(folder, name), key_file=str(folder / f"{name}.key"))
    if name != "a":
        give_keys(folder, "a", name)
    clock = FakeClock()
    clock.issued = number * 1_000_000
    rec = LocalRecollect(settings, clock=clock)
    rec.sync.init(str(folder / "shared"))
    return SyncedDevice(name, folder, clock, rec)


def give_keys(folder: Path, giver: str, taker: str) -> None:
    path = folder / f"{taker}.key"
    path.write_bytes((folder / f"{giver}.key").read_bytes())
    path.chmod(0o600)


def readable_files(folder: Path, key: StoreKey) -> list[str]:
    """Return the files of all devices that *key* opens."""
    shared = SharedFolder(folder / "shared", key)
    names = []
    for device in shared.devices():
        for file in shared.files(device):
            try:
                list(shared.read(file))
            except RecollectError:
                continue
            names.append(str(file.path))
    return names


def test_a_device_without_the_new_key_is_told_so_and_goes_on_when_it_has_it(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    [former] = read_key_file(tmp_path / "a.key")
    setup = a.rec.sync.rekey()
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.sync()

    with pytest.raises(StoreError, match=rf"new key {setup.key_id}.*b\.key"):
        b.sync()
    assert setup.key_id in b.rec.sync.status().problems[0]
    assert len(readable_files(tmp_path, former)) == 1  # that of b

    give_keys(tmp_path, "a", "b")
    device = b.rec.sync.status().device
    settle(a, b)

    assert readable_files(tmp_path, former) == []
    assert a.rows() == b.rows()
    assert b.rec.search("when do deploys happen?")
    assert b.rec.sync.status().device == device
    assert b.rec.sync.status().key_id == setup.key_id
    assert not b.rec.sync.status().problems


def test_a_manifest_that_names_the_former_key_again_is_refused_until_there_is_a_new_key(
    pair: Pair, tmp_path: Path
) -> None:
    """Whoever has the former key, and can write the folder, could read everything again."""
    a, b = pair
    [former] = read_key_file(tmp_path / "a.key")
    earlier = (tmp_path / "shared" / MANIFEST).read_bytes()
    a.rec.sync.rekey()
    give_keys(tmp_path, "a", "b")
    settle(a, b)
    (tmp_path / "shared" / MANIFEST).write_bytes(earlier)
    a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")

    for device in pair:
        with pytest.raises(StoreError, match=rf"names the key {former.id}, which.*sync rekey"):
            device.sync()
        assert former.id in device.rec.sync.status().problems[0]
    assert readable_files(tmp_path, former) == []

    a.rec.sync.rekey()
    give_keys(tmp_path, "a", "b")
    settle(a, b)

    assert b.rec.search("zebrafish")
    assert readable_files(tmp_path, former) == []


def test_a_passphrase_brings_the_new_key_and_the_device_stays_the_same(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    device = b.rec.sync.status().device
    a.rec.sync.rekey(passphrase="correct horse")

    b.rec.sync.init(str(tmp_path / "shared"), passphrase="correct horse")
    settle(a, b)

    assert b.rec.sync.status().device == device
    assert a.rows() == b.rows()


def test_a_device_that_joins_with_the_new_key_alone_gets_everything(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    setup = a.rec.sync.rekey()
    give_keys(tmp_path, "a", "b")
    settle(a, b)
    (tmp_path / "a.key").write_text(setup.recovery_key)

    c = join(tmp_path, "c", 3)
    settle(a, b, c)

    assert c.rows() == a.rows() == b.rows()
    c.rec.close()


def test_deletions_come_first_in_a_file_that_replaces_others(pair: Pair, tmp_path: Path) -> None:
    a, _ = pair
    secret = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    a.sync()
    a.rec.forget(secret.id)
    a.sync()

    a.rec.sync.rekey()

    folder = open_folder(tmp_path / "shared", KeyPlaces(key_file=tmp_path / "a.key"))
    [file] = folder.files(a.rec.sync.status().device)
    lines = list(folder.read(file))[1:]
    kinds = [parse_revision(line, file).kind for line in lines]
    count = sum(kind in FIRST_KINDS for kind in kinds)
    assert count >= 1
    assert FIRST_KINDS.issuperset(kinds[:count])
    assert FIRST_KINDS.isdisjoint(kinds[count:])
    assert b"zebrafish" not in b"".join(lines)
