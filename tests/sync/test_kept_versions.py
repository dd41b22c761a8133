"""What loses when two devices changed the same thing is kept, and can be put back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput, NotFound
from recollect.store.sqlite.store import SqliteTables
from support import file_store
from synced_devices import SyncedDevice, make_device, settle, words_in_folder

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def change_agents(pair: Pair) -> None:
    """Let both devices change the same agent; b is the later one."""
    a, b = pair
    a.rec.agents.create("coder", system_prompt="Be brief.")
    settle(a, b)
    a.rec.agents.update("coder", system_prompt="Answer in short sentences.", model="small")
    b.clock.advance(seconds=30)
    b.rec.agents.update("coder", system_prompt="Answer in full sentences.")
    settle(a, b)


def test_the_settings_of_an_agent_that_lost_are_kept_on_both_devices_and_restored(
    pair: Pair,
) -> None:
    change_agents(pair)
    a, b = pair

    [version] = a.rec.sync.versions()

    assert a.rec.sync.versions() == b.rec.sync.versions()
    assert b.rec.sync.status().versions == 1
    assert a.rec.agents.get("coder").system_prompt == "Answer in full sentences."
    assert version.name == "coder"
    assert version.values == {"model": "small", "system_prompt": "Answer in short sentences."}
    assert version.current["system_prompt"] == "Answer in full sentences."

    replaced = b.rec.sync.restore_version(version.id)
    settle(a, b)

    assert replaced.values == {"model": "", "system_prompt": "Answer in full sentences."}
    for device in pair:
        assert device.rec.agents.get("coder").system_prompt == "Answer in short sentences."
        assert device.rec.agents.get("coder").model == "small"
        assert [kept.id for kept in device.rec.sync.versions()] == [replaced.id]
    a.rec.sync.restore_version(replaced.id)
    settle(a, b)
    assert b.rec.agents.get("coder").system_prompt == "Answer in full sentences."
    assert a.rows() == b.rows()


def test_a_document_that_lost_is_found_by_its_words_again_after_it_is_restored(
    pair: Pair,
) -> None:
    a, b = pair
    a.rec.documents.put(["app"], "city", {"text": "Berlin"})
    settle(a, b)
    a.rec.documents.put(["app"], "city", {"text": "Lisbon"})
    b.clock.advance(seconds=30)
    b.rec.documents.put(["app"], "city", {"text": "Oslo"})
    settle(a, b)
    [version] = a.rec.sync.versions()

    a.rec.sync.restore_version(version.id)
    settle(a, b)

    for device in pair:
        document = device.rec.documents.get(["app"], "city")
        assert document is not None
        assert document.value == {"text": "Lisbon"}
        hits = device.rec.documents.search(["app"], query="Lisbon")
        assert hits[0].matched_words
        assert device.rec.maintenance.verify().ok


def test_a_saved_search_that_lost_is_restored_and_a_version_is_discarded_everywhere(
    pair: Pair,
) -> None:
    a, b = pair
    a.rec.views.save("deploys", "deploy")
    b.rec.views.save("deploys", "deployment")
    settle(a, b)
    [version] = b.rec.sync.versions()
    lost = version.values["query"]

    replaced = b.rec.sync.restore_version(version.id)
    settle(a, b)
    assert {view.query for view in a.rec.views.list()} == {lost}

    a.rec.sync.discard_version(replaced.id)
    settle(a, b)
    assert a.rec.sync.versions() == b.rec.sync.versions() == []
    with pytest.raises(NotFound, match="sync versions"):
        b.rec.sync.restore_version(replaced.id)


def test_a_version_goes_with_its_record_and_leaves_every_file(pair: Pair) -> None:
    a, b = pair
    a.rec.agents.create("coder")
    settle(a, b)
    a.rec.agents.update("coder", description="Knows zebrafish.")
    b.clock.advance(seconds=30)
    b.rec.agents.update("coder", description="Knows tanks.")
    settle(a, b)
    assert any("zebrafish" in row for row in a.rows())

    b.rec.agents.delete("coder")
    settle(a, b)

    assert a.rows() == b.rows()
    assert a.rec.sync.versions() == b.rec.sync.versions() == []
    assert not any("zebrafish" in row for row in a.rows())
    assert "zebrafish" not in words_in_folder(a)


def test_forgotten_words_leave_a_version_too(pair: Pair) -> None:
    a, b = pair
    memory = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    a.rec.documents.put(["app"], "note", {"text": "plain"})
    settle(a, b)
    a.rec.documents.put(["app"], "note", {"text": "about the zebrafish"})
    b.clock.advance(seconds=30)
    b.rec.documents.put(["app"], "note", {"text": "about something else"})
    settle(a, b)
    assert "zebrafish" in str(b.rec.sync.versions())

    b.rec.forget(memory.id)
    settle(a, b)

    assert a.rows() == b.rows()
    for device in pair:
        assert len(device.rec.sync.versions()) == 1
        assert "zebrafish" not in str(device.rec.sync.versions())


def test_a_name_that_another_agent_has_by_now_is_refused(pair: Pair) -> None:
    a, b = pair
    a.rec.agents.create("coder")
    settle(a, b)
    for device, name in ((a, "writer"), (b, "tester")):
        rename_agent(device, name)
        b.clock.advance(seconds=30)
    settle(a, b)
    [version] = a.rec.sync.versions()
    a.rec.agents.create(str(version.values["name"]))

    with pytest.raises(InvalidInput, match="name"):
        a.rec.sync.restore_version(version.id)

    assert [kept.id for kept in a.rec.sync.versions()] == [version.id]


def rename_agent(device: SyncedDevice, name: str) -> None:
    def write(tables: SqliteTables) -> None:
        tables.connection.db.execute("UPDATE agents SET name = ?", (name,))

    file_store(device.rec).write(write)
