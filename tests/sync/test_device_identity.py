"""Which store is which device: after a copy, a move, and a change of the machine's name."""

import platform
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.store import store_fingerprint
from recollect.text.forgotten_words import MARKER
from synced_devices import SyncedDevice, make_device, settings_of, settle

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def test_a_copy_publishes_a_redacted_record_that_the_original_published_in_a_later_file(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    for number in range(3):
        a.rec.ingest(f"Deploy number {number} is done.", scope="global")
        a.sync()
    memory = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global", status="inbox")
    settle(a, b)
    a.rec.close()
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    a.rec = LocalRecollect(settings_of(tmp_path, "a"), clock=a.clock)
    copy = SyncedDevice(
        "copy", tmp_path, a.clock, LocalRecollect(settings_of(tmp_path, "copy"), clock=a.clock)
    )
    copy.rec.promote(memory.id, reason=f"{MARKER} said so")

    copy.sync()
    copy.rec.close()
    b.sync()

    assert b.rec.memories.get(memory.id).status == "active"


def test_a_new_name_of_the_machine_makes_no_new_device(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    settle(a, b)
    former = a.rec.sync.status().device
    monkeypatch.setattr(platform, "node", lambda: "renamed")
    monkeypatch.setattr(socket, "gethostname", lambda: "renamed")

    settle(a, b)

    assert a.rec.sync.status().device == former


def test_a_store_that_was_moved_stays_the_same_device(pair: Pair, tmp_path: Path) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    settle(a, b)
    former = a.rec.sync.status().device

    for place in ("moved", "moved again"):
        a.rec.close()
        (tmp_path / a.name).rename(tmp_path / place)
        a.name = place
        a.rec = LocalRecollect(settings_of(tmp_path, place), clock=a.clock)
        a.rec.ingest(f"The store is {place}.", scope="global")
        settle(a, b)

    assert a.rec.sync.status().device == former
    assert [peer.device for peer in b.rec.sync.status().peers] == [former]
    assert b.rec.search("the store is moved again")


def test_a_copy_at_the_same_path_of_another_machine_is_another_device(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    settle(a, b)
    former = a.rec.sync.status().device
    monkeypatch.setattr(store_fingerprint, "machine_id", lambda: "another machine")

    a.sync()

    assert a.rec.sync.status().device != former
    assert former in [peer.device for peer in a.rec.sync.status().peers]
