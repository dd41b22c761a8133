"""Files of the shared folder that somebody deleted: their records are sent again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from synced_devices import SyncedDevice, make_device, settle, words_in_folder

Trio = tuple[SyncedDevice, SyncedDevice, SyncedDevice]


@pytest.fixture
def trio(tmp_path: Path) -> Iterator[Trio]:
    devices = [make_device(tmp_path, name, number + 1) for number, name in enumerate("abc")]
    yield devices[0], devices[1], devices[2]
    for device in devices:
        device.rec.close()


def publish(device: SyncedDevice, *texts: str) -> list[Path]:
    """Publish each text in a file of its own; return all files of the device."""
    for text in texts:
        device.rec.ingest(text, scope="global")
        device.sync()
    status = device.rec.sync.status()
    return sorted(Path(status.folder, f"device-{status.device}").glob("*.sync"))


def test_a_lost_file_is_named_by_the_others_until_its_device_has_sent_it_again(trio: Trio) -> None:
    a, b, _ = trio
    files = publish(a, "Deploys happen on Fridays.", "Tests run at night.", "Lunch is at noon.")
    files[1].unlink()

    [problem] = b.sync().waiting
    assert str(files[1]) in problem
    assert not b.rec.search("tests at night")

    assert a.sync().files_resent == 1
    assert b.sync().waiting == ()
    assert b.rec.search("tests at night")
    assert a.sync().files_resent == 0


def test_a_device_that_has_read_a_lost_file_changes_nothing(trio: Trio) -> None:
    a, b, c = trio
    files = publish(a, "Deploys happen on Fridays.", "Tests run at night.")
    settle(a, b)
    b.rec.memories.edit(b.rec.search("deploys")[0].memory.id, content="Deploys happen on Mondays.")
    files[0].unlink()

    a.sync()
    report = b.sync()
    settle(a, b, c)

    assert report.received == {}
    assert b.rec.sync.versions() == []
    assert a.exported() == b.exported() == c.exported()


def test_the_newest_file_of_a_device_may_be_lost_too(trio: Trio) -> None:
    a, b, c = trio
    publish(a, "Deploys happen on Fridays.", "Tests run at night.")[-1].unlink()

    settle(a, b, c)

    assert b.rec.search("tests at night")
    assert a.exported() == b.exported() == c.exported()


def test_a_file_that_comes_back_after_it_was_sent_again_is_removed(trio: Trio) -> None:
    a, b, _ = trio
    files = publish(a, "Deploys happen on Fridays.", "Tests run at night.")
    content = files[0].read_bytes()
    files[0].unlink()
    a.sync()

    files[0].write_bytes(content)
    settle(a, b)

    assert not files[0].exists()
    assert b.rec.search("deploys")


def test_what_was_deleted_since_is_not_sent_again(trio: Trio) -> None:
    a, b, _ = trio
    files = publish(a, "The zebrafish tank is in Berlin.", "Tests run at night.")
    files[0].unlink()
    a.rec.forget(a.rec.search("zebrafish")[0].memory.id)

    settle(a, b)

    assert "zebrafish" not in words_in_folder(a)
    assert b.rec.sync.status().problems == ()


def test_a_device_that_joins_does_not_wait_for_files_that_were_replaced_twice(
    trio: Trio, tmp_path: Path
) -> None:
    a, _, _ = trio
    publish(a, "The zebrafish tank is in Berlin.", "Tests run at night.")
    for word in ("zebrafish", "night"):
        a.rec.forget(a.rec.search(word)[0].memory.id)
        a.sync()
    a.rec.sync.rekey()
    publish(a, "Lunch is at noon.")

    late = make_device(tmp_path, "d", 4)
    report = late.sync()
    late.rec.close()

    assert report.waiting == ()


@pytest.mark.parametrize("changes_key", [False, True])
def test_a_damaged_file_that_is_to_be_written_anew_is_sent_again_instead(
    trio: Trio, *, changes_key: bool
) -> None:
    a, b, c = trio
    files = publish(a, "The zebrafish tank is in Berlin.", "Tests run at night.")
    b.sync()
    files[0].write_bytes(files[0].read_bytes()[:-100])
    a.rec.forget(a.rec.search("zebrafish")[0].memory.id)
    if changes_key:
        a.rec.sync.rekey()

    settle(a, b, c)

    assert not files[0].exists()
    assert "zebrafish" not in words_in_folder(a)
    assert c.rec.search("tests at night")
    assert a.exported() == b.exported() == c.exported()
    assert [device.rec.sync.status().problems for device in trio] == [(), (), ()]


def test_a_later_file_with_an_earlier_revision_does_not_count(trio: Trio) -> None:
    """A file that was written anew has a higher number than a change that was sent before."""
    a, b, c = trio
    a.rec.documents.put(["app"], "city", {"text": "Berlin"})
    files = publish(a, "The zebrafish tank is in Berlin.")
    a.rec.documents.put(["app"], "city", {"text": "Oslo"})
    a.rec.forget(a.rec.search("zebrafish")[0].memory.id)
    a.sync()  # the second file has Oslo, the third replaces the first and has Berlin
    files[0].with_name("000002.sync").unlink()

    settle(a, b, c)

    document = b.rec.documents.get(["app"], "city")
    assert document is not None
    assert document.value == {"text": "Oslo"}
    assert a.exported() == b.exported() == c.exported()
