"""Which store is which device: after a copy, a move, and a change of the machine's name."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
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
