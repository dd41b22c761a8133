"""Two devices and a shared folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Status
from recollect.domain.sync_report import record_name
from recollect.store.transfer.record_kinds import ALIASES, KINDS
from synced_devices import SyncedDevice, make_device, settle, words_in_folder

Pair = tuple[SyncedDevice, SyncedDevice]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def test_a_memory_reaches_the_other_device(pair: Pair) -> None:
    a, b = pair
    memory = a.rec.ingest("Deploys happen on Fridays.", project="site", tags=["infra"])

    settle(a, b)

    assert b.rec.memories.get(memory.id).content == "Deploys happen on Fridays."
    assert b.rec.search("when do deploys happen?", project="site")
    assert a.rows() == b.rows()
    assert b.rec.maintenance.verify().ok


def test_a_decision_and_a_block_edit_come_back(pair: Pair) -> None:
    a, b = pair
    candidate = a.rec.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    notes = a.rec.blocks.create("notes", "one\n", scope="global")
    settle(a, b)
    b.rec.promote(candidate.id)
    b.rec.blocks.set(None, notes.id, "one\ntwo\n")

    settle(a, b)

    assert a.rec.memories.get(candidate.id).status is Status.ACTIVE
    assert a.rec.blocks.get(None, notes.id).value == "one\ntwo\n"
    assert a.rows() == b.rows()


def test_two_decisions_that_disagree_go_back_to_the_inbox(pair: Pair) -> None:
    a, b = pair
    candidate = a.rec.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    settle(a, b)
    a.rec.promote(candidate.id, reason="I did it")
    b.rec.reject(candidate.id, "not any more")

    settle(a, b)

    assert a.rows() == b.rows()
    for device in pair:
        assert device.rec.memories.get(candidate.id).status is Status.INBOX
        changes = device.rec.explain(candidate.id).changes  # type: ignore[union-attr]
        reason = changes[-1].reason
        assert "I did it" in reason
        assert "not any more" in reason


def test_the_same_project_agent_and_source_of_both_devices_become_one(pair: Pair) -> None:
    a, b = pair
    for device in pair:
        device.rec.ingest("Deploys happen on Fridays.", project="site")
        device.rec.agents.create("coder")
        device.rec.ingest(f"The {device.name} server is in Berlin.", project="site")

    settle(a, b)

    assert a.rows() == b.rows()
    for device in pair:
        assert len(device.rec.agents.list()) == 1
        assert device.rec.search("where is the a server?", project="site")
        assert device.rec.search("where is the b server?", project="site")
        assert device.rec.maintenance.verify().ok


def test_what_is_forgotten_leaves_every_store_and_every_file(pair: Pair) -> None:
    a, b = pair
    secret = a.rec.ingest("The zebrafish tank is in Berlin.", scope="global")
    a.rec.ingest("Deploys happen on Fridays.", scope="global")
    settle(a, b)

    b.rec.forget(secret.id)
    settle(a, b)

    assert a.rows() == b.rows()
    assert not any("zebrafish" in row for row in a.rows())
    assert a.rec.search("deploys")
    assert "zebrafish" not in words_in_folder(a)


def test_a_conversation_continued_on_both_devices_has_all_messages(pair: Pair) -> None:
    a, b = pair
    a.rec.agents.create("coder")
    talk = a.rec.conversations.start(agent="coder")
    a.rec.conversations.append(talk.id, "user", "Where is the database?")
    settle(a, b)
    for device in pair:
        device.rec.conversations.append(talk.id, "user", f"from {device.name} one")
        device.rec.conversations.append(talk.id, "assistant", f"from {device.name} two")

    settle(a, b)

    assert a.rows() == b.rows()
    texts = [message.content for message in a.rec.conversations.messages(talk.id)]
    assert len(texts) == 5


@pytest.mark.parametrize("words", ["Deploys happen on Tuesdays.", "Deploys happen on Mondays."])
def test_a_memory_that_was_corrected_on_both_devices_shows_both_words_as_a_conflict(
    pair: Pair, words: str
) -> None:
    a, b = pair
    memory = a.rec.ingest("Deploys happen on Fridays.", scope="global")
    settle(a, b)
    ours = a.rec.memories.edit(memory.id, content="Deploys happen on Mondays.")
    theirs = b.rec.memories.edit(memory.id, content=words)

    reports = [device.sync() for device in (a, b)]
    settle(a, b)

    assert a.rows() == b.rows()
    conflicts = [pair.memory.id for pair in a.rec.memories.conflicts()]
    if words == ours.content:  # both say the same
        assert not conflicts
        return
    assert conflicts == [ours.id]
    assert any(theirs.id in line for line in reports[1].conflicts)
    a.rec.memories.settle_conflict(ours.id, theirs.id)
    settle(a, b)
    assert b.rec.memories.get(theirs.id).status is Status.SUPERSEDED
    assert not b.rec.memories.conflicts()


def test_two_memories_that_replace_one_on_the_same_device_are_no_conflict(pair: Pair) -> None:
    a, b = pair
    ids = [a.rec.ingest(f"Part {number} of the rule.", scope="global").id for number in range(3)]
    settle(a, b)
    for memory_id in ids[1:]:
        a.rec.link(memory_id, "supersedes", ids[0])

    settle(a, b)

    assert not b.rec.memories.conflicts()


def test_every_kind_of_record_has_a_name_for_people() -> None:
    for kind in (*KINDS, ALIASES):
        for count in (1, 2):
            assert "_" not in record_name(kind, count)
    assert record_name("memories") == "memory"
    assert record_name("views", 2) == "views"
