"""What somebody else puts into the shared folder destroys nothing and stops nothing."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput
from recollect.store.sqlite.sync.sync_folder import MANIFEST
from synced_devices import SyncedDevice, make_device, settle

Pair = tuple[SyncedDevice, SyncedDevice]
PRECIOUS = b"a file of the user " * 100
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    first.rec.ingest("Deploys happen on Fridays.", scope="global")
    second.rec.ingest("Reviews take a day.", scope="global")
    settle(first, second)
    yield first, second
    first.rec.close()
    second.rec.close()


def own_folder(device: SyncedDevice) -> Path:
    return Path(device.rec.sync.status().folder) / f"device-{device.rec.sync.status().device}"


def link_to(path: Path) -> Callable[[Path], None]:
    return lambda name: name.symlink_to(path)


def hard_link_to(path: Path) -> Callable[[Path], None]:
    return lambda name: os.link(path, name)


@pytest.mark.parametrize("make_link", [link_to, hard_link_to])
@pytest.mark.parametrize("name", ["000000.sync", "000001.sync", "000002.sync", "000009.sync"])
def test_no_file_of_the_user_is_overwritten_through_a_link(
    pair: Pair, tmp_path: Path, make_link: Callable[[Path], Callable[[Path], None]], name: str
) -> None:
    a, b = pair
    precious = tmp_path / "precious"
    precious.write_bytes(PRECIOUS)
    (own_folder(a) / name).unlink(missing_ok=True)
    make_link(precious)(own_folder(a) / name)
    memory = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")

    settle(a, b)
    a.rec.forget(memory.id)
    settle(a, b)

    assert precious.read_bytes() == PRECIOUS
    assert a.rows() == b.rows()


def test_pipes_folders_links_and_other_names_are_passed_over(pair: Pair, tmp_path: Path) -> None:
    a, b = pair
    shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "000001.sync").write_bytes(b"x")
    for device in (a, b):
        os.mkfifo(own_folder(device) / "000007.sync")
        (own_folder(device) / "000008.sync").mkdir()
        (own_folder(device) / f"{'9' * 30}.sync").write_bytes(b"x")
    (shared / f"device-{'0' * 16}").symlink_to(elsewhere)
    (shared / f"device-{'1' * 16}").symlink_to(shared / f"device-{'1' * 16}")
    (shared / f"device-{'2' * 16}").write_bytes(b"x")
    with open(os.fsencode(str(shared)) + b"/device-\xff", "wb"):
        pass  # a name that is not UTF-8
    b.rec.ingest("Builds take an hour.", scope="global")

    settle(a, b)

    assert a.rec.search("builds take an hour")
    assert not a.rec.sync.status().problems


def test_a_huge_file_with_holes_is_neither_read_nor_overwritten_to_its_end(pair: Pair) -> None:
    a, b = pair
    for device in pair:
        with (own_folder(device) / "000009.sync").open("wb") as file:
            file.truncate(1 << 42)  # overwriting it would fill the disk
    b.rec.ingest("Builds take an hour.", scope="global")

    settle(a, b)

    assert a.rec.search("builds take an hour")


@pytest.mark.parametrize("content", [b"[" * 200_000, b"{}", b"\xff", None])
def test_a_manifest_that_is_none_is_reported(
    pair: Pair, tmp_path: Path, content: bytes | None
) -> None:
    manifest = tmp_path / "shared" / MANIFEST
    manifest.unlink()
    if content is None:
        os.mkfifo(manifest)
    else:
        manifest.write_bytes(content)

    with pytest.raises(InvalidInput, match="is not a shared folder"):
        pair[0].sync()
