"""Two machines, an export there and an import here: what only one side changed is taken over."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import (
    Imported,
    LocalRecollect,
    MemoryExplanation,
    NotFound,
    RevisionConflict,
    Status,
)
from recollect.domain.tombstone import DeletedKind
from store_bytes import files_with_word
from support import FakeClock, open_memory


class Machines:
    """Two stores that started from the same export."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clocks = (FakeClock(), FakeClock())
        self.clocks[1].issued = 1_000_000  # ids of two machines never collide
        self.here = open_memory(folder / "here.db", clock=self.clocks[0], words_only=True)
        self.there = open_memory(folder / "there.db", clock=self.clocks[1], words_only=True)

    def advance(self) -> None:
        for clock in self.clocks:
            clock.advance(hours=1)

    def carry(self, source: LocalRecollect, target: LocalRecollect) -> Imported:
        self.advance()
        path = self.folder / "all.jsonl"
        source.export(path)
        return target.import_(path, trust=True)

    def copy_there(self) -> Imported:
        return self.carry(self.here, self.there)

    def come_back(self) -> Imported:
        return self.carry(self.there, self.here)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    machines = Machines(tmp_path)
    yield machines
    machines.here.close()
    machines.there.close()


def rows_of(rec: LocalRecollect, path: Path) -> list[dict[str, object]]:
    rec.export(path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row.get("table") not in (None, "retrievals")]


def test_a_promotion_and_a_block_edit_of_the_other_machine_come_back(machines: Machines) -> None:
    here, there = machines.here, machines.there
    candidate = here.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    notes = here.blocks.create("notes", "one\n", scope="global")
    machines.copy_there()
    machines.advance()
    there.promote(candidate.id)
    there.blocks.set(None, notes.id, "one\ntwo\n")

    imported = machines.come_back()

    assert here.memories.get(candidate.id).status is Status.ACTIVE
    assert here.blocks.get(None, notes.id).value == "one\ntwo\n"
    assert [entry.value for entry in here.blocks.history(None, notes.id)] == ["one\n", "one\ntwo\n"]
    assert imported.merged == {"memories": 1, "blocks": 1}
    assert imported.conflicts == ()
    assert machines.come_back().merged == {}
    folder = machines.folder
    assert rows_of(here, folder / "a") == rows_of(there, folder / "b")


def test_both_machines_keep_what_they_did_to_different_records(machines: Machines) -> None:
    here, there = machines.here, machines.there
    first = here.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    second = here.ingest("Tests run at night.", scope="global", status="inbox")
    machines.copy_there()
    machines.advance()
    here.promote(first.id)
    there.reject(second.id, "outdated")
    there.ingest("The build takes an hour.", scope="global")

    machines.come_back()
    machines.copy_there()

    for rec in (here, there):
        assert rec.memories.get(first.id).status is Status.ACTIVE
        assert rec.memories.get(second.id).status is Status.ARCHIVED
        assert rec.search("how long does the build take?")
        assert rec.maintenance.verify().ok


def test_two_decisions_that_disagree_go_back_to_the_inbox_with_both_reasons(
    machines: Machines,
) -> None:
    here, there = machines.here, machines.there
    candidate = here.ingest("Deploys happen on Fridays.", scope="global", status="inbox")
    machines.copy_there()
    machines.advance()
    here.promote(candidate.id, reason="I did it")
    there.reject(candidate.id, "not any more")

    imported = machines.come_back()

    assert here.memories.get(candidate.id).status is Status.INBOX
    explanation = here.explain(candidate.id)
    assert isinstance(explanation, MemoryExplanation)
    reason = "two decisions disagree: promoted (I did it); rejected (not any more)"
    assert reason in [change.reason for change in explanation.changes]
    assert any("two decisions disagree" in line for line in imported.conflicts)
    machines.copy_there()
    assert there.memories.get(candidate.id).status is Status.INBOX


def test_edits_of_different_lines_of_a_block_are_merged(machines: Machines) -> None:
    here, there = machines.here, machines.there
    notes = here.blocks.create("notes", "tea\nbread\nsalt\n", scope="global")
    machines.copy_there()
    machines.advance()
    here.blocks.set(None, notes.id, "green tea\nbread\nsalt\n")
    there.blocks.set(None, notes.id, "tea\nbread\nsea salt\n")

    machines.come_back()
    machines.copy_there()

    for rec in (here, there):
        assert rec.blocks.get(None, notes.id).value == "green tea\nbread\nsea salt\n"
        values = [entry.value for entry in rec.blocks.history(None, notes.id)]
        assert "tea\nbread\nsea salt\n" in values
        assert "green tea\nbread\nsalt\n" in values
        assert rec.maintenance.verify().ok


def test_edits_of_the_same_line_become_a_version_and_a_proposal(machines: Machines) -> None:
    here, there = machines.here, machines.there
    notes = here.blocks.create("notes", "tea\n", scope="global")
    machines.copy_there()
    machines.advance()
    here.blocks.set(None, notes.id, "coffee\n")
    there.blocks.set(None, notes.id, "water\n")

    imported = machines.come_back()

    assert here.blocks.get(None, notes.id).value == "coffee\n"
    assert "water\n" in [entry.value for entry in here.blocks.history(None, notes.id)]
    [proposal] = here.blocks.proposals()
    assert proposal.value == "water\n"
    assert "-coffee" in proposal.diff
    assert any("waits as a proposal" in line for line in imported.conflicts)
    here.blocks.accept(proposal.id)
    assert here.blocks.get(None, notes.id).value == "water\n"


def test_two_values_of_a_fact_both_stay_and_are_linked(machines: Machines) -> None:
    here, there = machines.here, machines.there
    mine = here.upsert_profile_fact("editor", "vim")
    theirs = there.upsert_profile_fact("editor", "emacs")

    machines.come_back()

    assert here.memories.get(mine.id).status is Status.ACTIVE
    assert here.memories.get(theirs.id).status is Status.CONTRADICTED
    explanation = here.explain(theirs.id)
    assert isinstance(explanation, MemoryExplanation)
    links = [(link.relation.value, link.to_id) for link in explanation.links]
    assert links == [("contradicts", mine.id)]


def test_a_memory_that_was_corrected_on_both_machines_shows_both_as_a_conflict(
    machines: Machines,
) -> None:
    here, there = machines.here, machines.there
    memory = here.ingest("Deploys happen on Fridays.", scope="global")
    machines.copy_there()
    mine = here.memories.edit(memory.id, content="Deploys happen on Mondays.")
    theirs = there.memories.edit(memory.id, content="Deploys happen on Tuesdays.")

    imported = machines.come_back()

    [conflict] = here.memories.conflicts()
    assert {conflict.memory.id, conflict.other.id} == {mine.id, theirs.id}
    assert any(theirs.id in line for line in imported.conflicts)
    here.memories.settle_conflict(mine.id, theirs.id)
    machines.come_back()
    assert not here.memories.conflicts()
    assert here.maintenance.verify().ok


def test_what_was_forgotten_here_does_not_come_back(machines: Machines) -> None:
    here = machines.here
    secret = here.ingest("The zebrafish code is 4711.", scope="global")
    machines.copy_there()
    here.forget(secret.id)

    machines.come_back()

    with pytest.raises(NotFound):
        here.memories.get(secret.id)
    assert files_with_word(here.path, "zebrafish") == []
    again = here.ingest("The zebrafish code is 4711.", scope="global")  # a person may say it again
    machines.copy_there()
    assert machines.there.memories.get(again.id).status is Status.ACTIVE


def test_what_was_forgotten_there_is_forgotten_here(machines: Machines) -> None:
    here, there = machines.here, machines.there
    secret = here.ingest("The zebrafish code is 4711.", scope="global")
    agent = here.agents.create("coder")
    talk = here.conversations.start(agent="coder")
    here.conversations.append(talk, "user", "My axolotl is called Bo.")
    notes = here.blocks.create("notes", "A quagga.", scope="global")
    machines.copy_there()
    there.forget(secret.id)
    there.conversations.delete(talk.id)
    there.blocks.delete(None, notes.id)
    there.agents.delete("coder")

    imported = machines.come_back()

    assert imported.deleted["memory"] == 1
    for word in ("zebrafish", "axolotl", "quagga"):
        assert files_with_word(here.path, word) == [], word
    with pytest.raises(NotFound):
        here.agents.get(agent.id)
    with here._store.read() as tables:
        kinds = {tombstone.kind for tombstone in tables.tombstones.all()}
        assert tables.tombstones.still_here() == []
    assert kinds >= {DeletedKind.MEMORY, DeletedKind.CONVERSATION, DeletedKind.AGENT}
    assert here.maintenance.verify().ok


def test_a_tombstone_holds_no_words(machines: Machines, tmp_path: Path) -> None:
    here = machines.here
    secret = here.ingest("The zebrafish code is 4711.", scope="global")
    here.forget(secret.id)
    rows = [row for row in rows_of(here, tmp_path / "a") if row["table"] == "tombstones"]

    assert {row["kind"] for row in rows} == {"memory", "source"}
    assert all(set(row) == {"table", "kind", "id", "sha256", "deleted_at"} for row in rows)
    assert b"zebrafish" not in (tmp_path / "a").read_bytes()


def test_a_source_that_an_edited_memory_quotes_survives_the_deletion_of_the_original(
    machines: Machines,
) -> None:
    here, there = machines.here, machines.there
    original = here.ingest("Staging listens on port 5433.", scope="global")
    machines.copy_there()
    machines.advance()
    edited = here.memories.edit(original.id, content="Staging listens on port 6000.")
    here.link(edited.id, "related_to", here.ingest("Staging is in Oslo.", scope="global").id)
    there.forget(original.id)

    machines.come_back()

    assert here.maintenance.verify().ok
    with open_memory(machines.folder / "empty.db", words_only=True) as empty:
        assert machines.carry(here, empty).conflicts == ()
        assert empty.memories.get(edited.id).evidence == here.memories.get(edited.id).evidence
        assert empty.maintenance.verify().ok
    [left_out] = machines.copy_there().conflicts
    assert edited.id in left_out, "a person deleted its source there"
    machines.come_back()
    assert machines.carry(here, here).conflicts == ()
    assert here.memories.get(edited.id).status is Status.ACTIVE


def test_a_deleted_agent_does_not_come_back_nor_what_belonged_to_it(machines: Machines) -> None:
    here = machines.here
    here.agents.create("coder")
    here.blocks.set("coder", "persona", "I like zebrafish.\n")
    talk = here.conversations.start(agent="coder")
    here.blocks.create("scratch", "zebrafish here", conversation=talk.id)
    here.conversations.append(talk.id, "user", "The zebrafish is hungry.")
    here.conversations.pin(talk.id, "zebrafish")
    here.ingest("The zebrafish is fed at noon.", agent="coder", scope="agent")
    machines.copy_there()

    here.agents.delete("coder")
    shared = [block.id for block in here.blocks.list()]
    machines.come_back()
    machines.copy_there()

    for rec in (here, machines.there):
        assert rec.agents.list() == []
        assert [block.id for block in rec.blocks.list()] == shared
        rows = rows_of(rec, machines.folder / "rows.jsonl")
        assert not {"agents", "conversations", "pins"} & {row["table"] for row in rows}
        assert {row["block_id"] for row in rows if row["table"] == "block_history"} == {*shared}
        assert not any("zebrafish" in str(row) for row in rows)
        assert rec.maintenance.verify().ok


def test_a_deleted_message_and_a_deleted_document_do_not_come_back(machines: Machines) -> None:
    here, there = machines.here, machines.there
    conversation = here.conversations.start()
    message = here.conversations.append(conversation.id, "user", "The code is 4711.")
    here.documents.put(("notes",), "code", {"text": "4711"})
    machines.copy_there()
    here.conversations.delete_message(message.id)
    here.documents.delete(("notes",), "code")
    machines.come_back()
    machines.copy_there()

    for rec in (here, there):
        assert rec.conversations.messages(conversation.id) == []
        assert rec.documents.get(("notes",), "code") is None


def test_messages_that_come_back_make_an_older_revision_of_their_conversation_stale(
    machines: Machines,
) -> None:
    here, there = machines.here, machines.there
    talk = here.conversations.start(agent="anna", key="thread-1")
    here.conversations.append(talk, "user", "one")
    machines.copy_there()
    read = here.conversations.get(talk)
    there.conversations.append(talk, "assistant", "two")

    imported = machines.come_back()

    assert imported.conflicts == ()
    with pytest.raises(RevisionConflict):
        here.conversations.append(talk, "user", "three", expected_revision=read.revision)
    current = here.conversations.get(talk)
    assert machines.come_back().added == {}
    assert here.conversations.get(talk) == current, "the same file again changes nothing"
    here.conversations.append(talk, "user", "three", expected_revision=current.revision)
    contents = [message.content for message in here.conversations.messages(talk)]
    assert contents == ["one", "two", "three"]
