"""Two machines of one image: their stores are at the same path, and look like one device."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect import LocalRecollect
from store_bytes import files_with_word
from support import FakeClock
from synced_devices import SyncedDevice, make_device, settings_of

PATHS = ("a", "shared")  # of the store, and of its copy of the shared folder


class ClonedMachines:
    """Two machines with the same paths, a third device, and what carries files between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clocks = {"first": FakeClock(), "second": FakeClock()}
        for number, clock in enumerate(self.clocks.values(), start=3):
            clock.issued = number * 1_000_000
        image = make_device(folder, "a", 1)
        image.rec.ingest("The image has this.", scope="global")
        image.sync()
        image.rec.close()
        for name in self.clocks:
            for path in PATHS:
                shutil.copytree(folder / path, folder / f"{name}-{path}")
        shutil.copytree(folder / "shared", folder / "shared-b")
        for path in PATHS:
            shutil.rmtree(folder / path)
        self.other = make_device(folder, "b", 2, folder / "shared-b")

    @contextmanager
    def running(self, name: str) -> Iterator[SyncedDevice]:
        """Be on one of the machines, where store and shared folder have the paths of both."""
        for path in PATHS:
            (self.folder / f"{name}-{path}").rename(self.folder / path)
        rec = LocalRecollect(settings_of(self.folder, "a"), clock=self.clocks[name])
        yield SyncedDevice("a", self.folder, self.clocks[name], rec)
        rec.close()
        for path in PATHS:
            (self.folder / path).rename(self.folder / f"{name}-{path}")

    def on(self, name: str, work: Callable[[LocalRecollect], Any]) -> Any:
        with self.running(name) as device:
            result = work(device.rec)
            device.sync()
            return result

    def carry(self) -> None:
        """Let all copies of the folder have the same files, as a cloud service does in the end."""
        copies = [self.folder / name for name in ("first-shared", "second-shared", "shared-b")]
        owners: dict[str, Path] = {}
        for copy in copies:
            for folder in sorted(copy.glob("device-*")):
                newest = owners.get(folder.name)
                if newest is None or written_at(folder) > written_at(newest):
                    owners[folder.name] = folder
        kept = self.folder / "kept"
        for name, folder in owners.items():
            shutil.copytree(folder, kept / name)
        for copy in copies:
            for folder in copy.glob("device-*"):
                shutil.rmtree(folder)
            shutil.copytree(kept, copy, dirs_exist_ok=True)
        shutil.rmtree(kept)


def written_at(folder: Path) -> int:
    return max((path.stat().st_mtime_ns for path in folder.glob("*.sync")), default=0)


def test_both_go_on_as_devices_of_their_own_and_nothing_is_lost(tmp_path: Path) -> None:
    world = ClonedMachines(tmp_path)
    forgotten = world.on("first", lambda rec: rec.ingest("The zebrafish is here.", scope="global"))
    world.on("second", lambda rec: rec.ingest("The second has that.", scope="global"))
    world.other.sync()
    for _ in range(6):
        world.carry()
        for name in world.clocks:
            world.on(name, lambda rec: None)
        world.other.sync()
    world.on("second", lambda rec: rec.forget(forgotten.id))
    for _ in range(4):
        world.carry()
        for name in world.clocks:
            world.on(name, lambda rec: None)
        world.other.sync()

    rows, ids = world.other.rows(), set()
    assert any("The second has that." in row for row in rows)
    for name in world.clocks:
        with world.running(name) as device:
            assert device.rows() == rows
            assert not device.rec.sync.status().problems
            ids.add(device.rec.sync.status().device)
            assert not files_with_word(device.rec.path, "zebrafish")
    assert len(ids) == 2
    world.other.rec.close()
