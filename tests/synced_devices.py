"""Stores on several devices that share a folder, for tests of sync."""

import json
from dataclasses import dataclass
from pathlib import Path

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.sync_report import SyncReport
from recollect.store.sqlite.sync.sync_folder import open_folder
from support import FakeClock

# Tables whose rows belong to a device; columns that do are removed below.
LOCAL_TABLES = frozenset(
    {"retrievals", "ingestion_events", "jobs", "unsettled", "model_calls", "runs", "run_calls"}
)
LOCAL_COLUMNS = {"repos": "root", "skills": "path"}


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

    def rows(self) -> list[str]:
        """
        Return the lines of an export in their order, without what belongs to the device.

        Memories are exported in the order in which they arrived, which is another on each device;
        here they are sorted.
        """
        path = self.folder / f"{self.name}.jsonl"
        self.rec.export(path)
        rows: list[str] = []
        memories: list[str] = []
        for line in path.read_text().splitlines():
            row = json.loads(line)
            table = row.get("table")
            if table and table not in LOCAL_TABLES:
                row.pop(LOCAL_COLUMNS.get(table, ""), None)
                lines = memories if table == "memories" else rows
                lines.append(json.dumps(row, sort_keys=True))
        return rows + sorted(memories)


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
