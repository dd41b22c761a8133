"""Two records that become one, both stored here: what both of them own is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.sqlite.store import SqliteTables
from recollect.store.sqlite.sync.apply_revision import Revision, RevisionApplier, RevisionOutcome
from synced_devices import SyncedDevice, make_device


@pytest.fixture
def device(tmp_path: Path) -> Iterator[SyncedDevice]:
    made = make_device(tmp_path, "a", 1)
    yield made
    made.rec.close()


def make_one(device: SyncedDevice, kind: str, main_id: str, alias: str) -> list[str]:
    """Receive that two records are one, from a device where they had the same name."""
    row = {"kind": kind, "id": alias, "main_id": main_id}
    revision = Revision(
        kind="aliases",
        id=f"{kind} {alias}",
        vector={"0" * 16: 1},
        clock=1,
        origin="0" * 16,
        rows={"aliases": [row]},
    )

    def apply(tables: SqliteTables) -> list[str]:
        applier = RevisionApplier(tables, device.clock)
        assert applier.apply(revision) is RevisionOutcome.CHANGED
        applier.finish()
        return applier.conflicts

    return device.rec.sync._store.write(apply)


def test_agents_that_become_one_keep_facts_conversations_and_messages(
    device: SyncedDevice,
) -> None:
    rec = device.rec
    agents, facts, talks, blocks = [], [], [], []
    for name in ("first", "second"):
        agents.append(rec.agents.create(name).id)
        facts.append(rec.ingest(f"The {name} editor is in use.", scope="agent", agent=name).id)
        blocks.append(rec.blocks.create("notes", f"{name} notes", agent=name).id)
        talks.append(rec.conversations.start(agent=name, key="thread").id)
        for number in range(2):
            rec.conversations.append(talks[-1], "user", f"{name} {number}")
    set_key = "UPDATE memories SET \"key\" = 'editor' WHERE id IN (?, ?)"
    rec.sync._store.write(lambda tables: tables.connection.db.execute(set_key, facts).get)
    rec.maintenance.rebuild()

    conflicts = make_one(device, "agents", *agents)

    assert [rec.memories.get(fact).status for fact in facts] == ["contradicted", "active"]
    assert any(facts[0] in line and facts[1] in line for line in conflicts)
    assert rec.blocks.get("first", "notes").value == "first notes"
    assert any(blocks[1] in line for line in conflicts)
    assert any("second notes" in row for row in device.rows())
    assert [len(rec.conversations.messages(talk)) for talk in talks] == [2, 2]

    make_one(device, "conversations", *talks)

    texts = [message.content for message in rec.conversations.messages(talks[0])]
    assert texts == ["first 0", "first 1", "second 0", "second 1"]
    assert rec.maintenance.verify().ok


def test_a_larger_id_for_a_record_that_is_known_under_a_smaller_one_changes_nothing(
    device: SyncedDevice,
) -> None:
    ids = sorted(device.rec.agents.create(name).id for name in ("first", "second", "third"))
    make_one(device, "agents", ids[0], ids[2])
    device.sync()

    make_one(device, "agents", ids[1], ids[2])

    assert device.rec.sync.status().unsent == 0


def test_two_blocks_that_become_one_are_found_by_the_words_of_both(device: SyncedDevice) -> None:
    rec = device.rec
    first, second = (
        rec.blocks.create(label, f"The {label} tank is in Berlin.", scope="global")
        for label in ("zebrafish", "octopus")
    )

    make_one(device, "blocks", first.id, second.id)

    assert [block.id for block in rec.blocks.list()] == [first.id]
    assert rec.blocks.proposals()[0].value == "The octopus tank is in Berlin."
    rec.agents.create("keeper")
    rec.blocks.attach("keeper", first)
    assert [hit.block.id for hit in rec.blocks.search("zebrafish", agent="keeper")] == [first.id]
    assert rec.maintenance.verify().ok
