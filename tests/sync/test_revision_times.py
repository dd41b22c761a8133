"""The time of a revision decides which value counts: only a person's change gets a new one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.clock import to_micros
from recollect.store.sqlite.store import SqliteTables
from recollect.store.sqlite.sync.apply_revision import Revision, RevisionApplier
from recollect.store.sqlite.sync.sync_state import KnownRevision, SyncState
from synced_devices import SyncedDevice, make_device


@pytest.fixture
def device(tmp_path: Path) -> Iterator[SyncedDevice]:
    made = make_device(tmp_path, "a", 1)
    yield made
    made.rec.close()


def receive(device: SyncedDevice, origin: str, clock: int, query: str) -> None:
    row = {"name": "deploys", "query": query, "asking": "{}", "created_at": 1, "updated_at": clock}
    revision = Revision(
        kind="views",
        id="deploys",
        vector={origin * 16: 1},
        clock=clock,
        origin=origin * 16,
        rows={"views": [row]},
    )
    device.rec.sync._store.write(
        lambda tables: RevisionApplier(tables, device.clock).apply(revision)
    )


def stored_revision(device: SyncedDevice) -> KnownRevision:
    def read(tables: SqliteTables) -> KnownRevision:
        revision = SyncState(tables.connection.db).revision("views", "deploys")
        assert revision is not None
        return revision

    return device.rec.sync._store.write(read)


def test_a_merge_is_published_with_the_time_of_the_later_revision(device: SyncedDevice) -> None:
    clock = to_micros(device.clock.now())
    receive(device, "b", clock + 20, "later")
    receive(device, "c", clock + 10, "earlier")
    device.clock.advance(hours=1)

    report = device.sync()

    published = stored_revision(device)
    assert report.sent["views"] == 1
    assert len(published.vector) == 3
    assert published.clock == clock + 20
    assert device.rec.views.list()[0].query == "later"


def test_a_change_after_a_merge_gets_a_time_of_its_own(device: SyncedDevice) -> None:
    clock = to_micros(device.clock.now())
    receive(device, "b", clock + 20, "later")
    receive(device, "c", clock + 10, "earlier")
    device.clock.advance(hours=1)
    device.rec.views.save("deploys", "by hand")

    device.sync()

    assert stored_revision(device).clock > clock + 20
