"""Stores on several devices that share a folder, for tests of sync."""

from dataclasses import dataclass
from pathlib import Path

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.sync_report import SyncReport
from recollect.store.sqlite.sync.sync_folder import open_folder
from support import FakeClock


@dataclass
class SyncedDevice:
    """A device: its store, which can be closed and opened again, and its clock."""

    name: str
    folder: Path
    clock: FakeClock
    rec: LocalRecollect

    def sync(self) -> SyncReport:
        self.clock.advance(seconds=1)
        return self.rec.sync.run()

    def exported(self) -> bytes:
        """Return what a synced export of this device holds."""
        path = self.folder / f"{self.name}.jsonl"
        self.rec.export(path, synced=True)
        return path.read_bytes()

    def rows(self) -> list[str]:
        """Return the lines of that export."""
        return self.exported().decode().splitlines()


def settings_of(folder: Path, name: str) -> Settings:
    return Settings(
        db=str(folder / f"{name}" / "memory.db"),
        embedding_backend="none",
        key_file=str(folder / "shared.key"),
        keyring=False,
    )


def make_device(folder: Path, name: str, number: int, shared: Path | None = None) -> SyncedDevice:
    """Return a device that has joined the shared folder."""
    clock = FakeClock()
    clock.issued = number * 1_000_000  # ids of two devices never collide
    (folder / name).mkdir(exist_ok=True)  # in a folder that exists, quick_stores makes the store
    rec = LocalRecollect(settings_of(folder, name), clock=clock)
    rec.sync.init(str(shared or folder / "shared"))
    return SyncedDevice(name, folder, clock, rec)


def settle(*devices: SyncedDevice) -> None:
    """Sync until nothing changes any more."""
    for _ in range(12):
        reports = [device.sync() for device in devices]
        if not any(report.files_read or report.files_written for report in reports):
            return
    raise AssertionError("the devices send each other changes for ever")


def words_in_folder(device: SyncedDevice) -> str:
    """Return everything that the files of all devices say."""
    path = Path(device.rec.sync.status().folder)
    folder = open_folder(path, device.rec.sync._keys)
    files = [file for name in folder.devices() for file in folder.files(name)]
    return "\n".join(line.decode() for file in files for line in folder.read(file))
