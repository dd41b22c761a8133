"""What a device does with files of others that it cannot read or store as a whole."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.sqlite.sync import publish, sync_folder
from recollect.store.sqlite.sync.apply_revision import Revision
from synced_devices import SyncedDevice, make_device

Trio = tuple[SyncedDevice, SyncedDevice, SyncedDevice]


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Trio]:
    devices = [make_device(tmp_path, name, number + 1) for number, name in enumerate("abc")]
    yield devices[0], devices[1], devices[2]
    for device in devices:
        device.rec.close()


@pytest.mark.parametrize(
    "change",
    [
        {"schema": None},
        {"schema": "new"},
        {"device": None},
        {"number": "first"},
        {"previous": None},
        {"replaces": ["000001"]},
        {"replaces": {"first": ""}},
    ],
    ids=str,
)
def test_a_malformed_head_is_reported_and_the_files_of_others_are_read(
    trio: Trio, change: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, c = trio
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    b.rec.ingest("Tests run at night.", scope="global")
    write_head = sync_folder._head_line

    def malformed(head: sync_folder.FileHead) -> bytes:
        fields = {**json.loads(write_head(head)), **change}
        kept = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(kept).encode() + b"\n"

    with monkeypatch.context() as patch:
        patch.setattr(sync_folder, "_head_line", malformed)
        a.rec.sync.run()
        own = a.rec.sync.status().device
    b.sync()

    report = c.sync()

    assert c.rec.search("tests at night")
    assert [line for line in report.waiting if own in line and "first line" in line]


@pytest.mark.parametrize("lacks", ["content", "evidence"])
def test_a_record_that_does_not_fit_is_reported_until_a_later_revision_of_it_arrives(
    trio: Trio, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = trio
    bad = a.rec.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    good = a.rec.ingest("Tests run at night.", scope="global")
    write_line = sync_folder.revision_line

    def incomplete(revision: Revision) -> bytes:
        fields = json.loads(write_line(revision))
        if revision.id == bad.id:
            fields["rows"].pop(lacks, None)
            fields["rows"]["memories"][0].pop(lacks, None)
        return json.dumps(fields).encode() + b"\n"

    with monkeypatch.context() as patch:
        patch.setattr(publish, "revision_line", incomplete)
        a.sync()

    report = b.sync()

    assert b.rec.memories.get(good.id).content == "Tests run at night."
    [problem] = report.waiting
    for part in (a.rec.sync.status().device, "000001.sync", f"memories {bad.id}"):
        assert part in problem
    assert b.rec.sync.status().problems == report.waiting

    a.rec.promote(bad.id)
    a.sync()
    assert b.sync().waiting == ()
    assert b.rec.memories.get(bad.id).status == "active"
    assert b.rec.sync.status().problems == ()
