"""The export of what is synced: the same bytes on all devices, and importable like any other."""

import json
from pathlib import Path

import pytest

from recollect.store.transfer.record_kinds import OMITTED, SYNCED_TABLES
from support import open_memory
from synced_devices import SyncedDevice, make_device, settle


@pytest.fixture
def device(tmp_path: Path) -> SyncedDevice:
    return make_device(tmp_path, "a", 1)


def fill(device: SyncedDevice) -> None:
    checkout = device.folder / "checkout"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    device.rec.ingest("Deploys happen on Fridays.", scope="repo", repo=str(checkout))
    device.rec.search("deploys")
    device.rec.capture_session("user: I like tea.\nassistant: Yes.", project="site")


def test_it_has_no_table_and_no_column_that_belongs_to_a_device(device: SyncedDevice) -> None:
    fill(device)

    rows = [json.loads(row) for row in device.rows()[1:-1]]

    assert {"memories", "repos", "sources"} <= {row["table"] for row in rows} <= SYNCED_TABLES
    assert not any(OMITTED.get(row["table"], frozenset()) & row.keys() for row in rows)
    device.rec.close()


def test_memories_are_ordered_by_id_and_not_by_their_arrival(tmp_path: Path) -> None:
    a, b = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    b.rec.ingest("Deploys happen on Fridays.", scope="global")
    a.rec.ingest("The office is in Graz.", scope="global")

    settle(a, b)

    memories = [json.loads(row) for row in a.rows() if '"table":"memories"' in row]
    assert [row["id"] for row in memories] == sorted(row["id"] for row in memories)
    assert a.exported() == b.exported()
    a.rec.close()
    b.rec.close()


def test_it_is_imported_like_any_other_export(device: SyncedDevice, tmp_path: Path) -> None:
    fill(device)
    device.exported()

    with open_memory(tmp_path / "other.db", words_only=True) as other:
        other.import_(device.folder / "a.jsonl", trust=True)
        other.export(tmp_path / "again.jsonl", synced=True)

        assert other.maintenance.verify().ok
        assert (tmp_path / "again.jsonl").read_bytes() == device.exported()
    device.rec.close()
