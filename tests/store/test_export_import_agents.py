"""Agents, blocks, conversations, skills and files are exported and imported without loss."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import AlreadyExists, ImportRefused, LocalRecollect
from recollect.domain.conversation import CompactionMode, Summary
from recollect.domain.skill import SkillOrigin
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.protocol import Tables
from recollect.store.values import OpenFileWindow, StoredFile, StoredSkill
from support import START, FakeClock, open_memory

TEXT = st.text(min_size=1, max_size=20).filter(str.strip)
NAME = st.sampled_from(["anna", "ben"])
VERB = st.sampled_from(
    ["agent", "edit", "say", "tell", "ticket", "project", "pin", "delete", "end"]
)


def elsewhere(tmp_path: Path) -> LocalRecollect:
    """Open a store of another machine, which has its own ids."""
    clock = FakeClock()
    clock.issued = 1_000_000
    return open_memory(tmp_path / "other.db", clock=clock)


def skill(skill_id: str, content: str) -> StoredSkill:
    return StoredSkill(
        id=skill_id,
        name="pdf",
        description="d",
        origin=SkillOrigin.GLOBAL,
        project_id=None,
        path="/s",
        content=content,
        sha256=content,
        metadata={},
    )


def filled(rec: LocalRecollect, clock: FakeClock) -> None:
    """Fill a store with records of every kind."""
    for name in ("anna", "ben"):
        agent = rec.agents.create(name, model="m", system_prompt=f"You are {name}.")
        rec.blocks.set(name, "persona", f"kind {name}")
        clock.advance(minutes=1)
        rec.blocks.set(name, "persona", f"kinder {name}", by="agent", reason="learnt")
        talk = rec.conversations.start(agent=name, project="site", title="t")
        rec.conversations.append_many(
            talk,
            [
                {"role": "user", "content": f"zebra of {name}"},
                {"role": "assistant", "tool_calls": [{"id": "c"}]},
                {"role": "tool", "content": [{"type": "text", "text": "é"}], "tool_call_id": "c"},
            ],
        )
        rec.blocks.set(name, "ticket", "ABC-1", conversation=talk)
        rec.conversations.pin(talk, "a note")
        rec.archive.insert(name, f"zebra passage of {name}", tags=["t"])
    rec.blocks.set("anna", "human", "likes tea")
    rec.blocks.set("ben", "project", "uses pnpm", project="site")
    alone = rec.conversations.start()
    rec.conversations.append(alone, "user", "zebra alone")
    rec.agents.pin("ben", "local", project="site")
    summary = Summary(
        id="s",
        conversation_id=talk.id,
        mode=CompactionMode.ALL,
        content="summed up",
        first_position=0,
        last_position=0,
        tokens=1,
        made_by="extract",
        created_at=START,
    )

    def write(tables: Tables) -> None:
        tables.conversations.add_summary(summary)
        tables.messages.mark_summarized([rec.conversations.messages(talk)[0].id], "s")
        tables.skills.load(agent.id, tables.skills.save(skill("sk", "a skill"), START), START)
        tables.files.save(StoredFile("f", None, "/f", "zebra file", "h"), START)
        window = OpenFileWindow(
            file_id="f",
            project_id=None,
            path="/f",
            root="/",
            first_line=0,
            last_line=2,
            last_accessed_at=START,
        )
        tables.files.open(agent.id, window)

    rec._store.write(write)  # what no verb does yet
    rec.conversations.search("zebra", agent="anna")


def test_a_whole_store_is_imported_byte_for_byte_and_once(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    filled(rec, clock)
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    rec.export(first)
    with elsewhere(tmp_path) as other:
        imported = other.import_(first, trust=True)
        other.export(second)
        again = other.import_(first, trust=True)
        other.drain()

        assert first.read_bytes() == second.read_bytes()
        assert imported.conflicts == again.conflicts == ()
        assert again.added == {}
        assert other.maintenance.verify().ok
        for name in ("anna", "ben"):
            assert other.agents.get(name) == rec.agents.get(name)
            assert other.blocks.list(name, project="site") == rec.blocks.list(name, project="site")
            assert other.blocks.history(name, "persona") == rec.blocks.history(name, "persona")
            for ours, theirs in zip(
                other.conversations.search("zebra", agent=name, mode="fts"),
                rec.conversations.search("zebra", agent=name, mode="fts"),
                strict=True,
            ):
                assert (ours.message, ours.score) == (theirs.message, theirs.score)
            assert len(other.archive.search(name, "zebra")) == 1
        [talk] = other.conversations.list(agent="ben")
        assert len(other.conversations.messages_in_context(talk)) == 2
        assert other.conversations.summaries(talk) == rec.conversations.summaries(talk)
        assert other.conversations.pins(talk) == rec.conversations.pins(talk)


@pytest.mark.fuzz
@settings(max_examples=30)
@given(steps=st.lists(st.tuples(VERB, NAME, TEXT), max_size=14))
def test_export_import_export_gives_the_same_bytes(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "1.jsonl"), Path(folder, "2.jsonl")
        clock = FakeClock()
        with open_memory(Path(folder, "a.db"), clock=clock, words_only=True) as rec:
            for verb, name, text in steps:
                clock.advance(minutes=1)
                play(rec, verb, name, text)
            rec.export(first)
            assert rec.maintenance.verify().ok
        with elsewhere(Path(folder)) as other:
            imported = other.import_(first, trust=True)
            other.export(second)
            verified = other.maintenance.verify()

        assert first.read_bytes() == second.read_bytes()
        assert imported.conflicts == ()
        assert verified.ok, verified.problems


def play(rec: LocalRecollect, verb: str, name: str, text: str) -> None:
    """Run one step; a step that is not allowed is skipped."""
    exists = name in {agent.name for agent in rec.agents.list()}
    talks = [talk for talk in rec.conversations.list(agent=name) if talk.ended_at is None]
    talk = talks[0] if exists and talks else None
    match verb:
        case "agent" if not exists:
            rec.agents.create(name, description=text)
        case "edit" if exists and "human" in {block.label for block in rec.blocks.list(name)}:
            rec.blocks.append(name, "human", text)
        case "say":
            talk = talk or rec.conversations.start(agent=name)
            rec.conversations.append(talk, "user", text)
        case "tell":
            rec.conversations.append(rec.conversations.start(), "assistant", [text])
        case "ticket" if talk:
            rec.blocks.set(name, "ticket", text, conversation=talk)
        case "project":
            rec.blocks.set(None, "project", text, project="p")
        case "pin" if talk:
            rec.conversations.pin(talk, text)
        case "delete" if exists:
            rec.agents.delete(name)
        case "end" if talk:
            rec.conversations.end(talk)


def test_an_agent_of_the_same_name_gets_the_conversations_and_keeps_its_own_blocks(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    filled(rec, clock)
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    with elsewhere(tmp_path) as other:
        ours = other.agents.create("anna", system_prompt="You are Ann.")
        other.blocks.set("anna", "persona", "rude anna")
        other.blocks.set("anna", "human", "likes coffee")
        talk = other.conversations.start(agent="anna")
        other.conversations.append(talk, "user", "zebra of here")
        imported = other.import_(exported, trust=True)
        again = other.import_(exported, trust=True)
        found = other.conversations.search("zebra", agent="anna", mode="fts")

        assert [agent.name for agent in other.agents.list()] == ["ben", "anna"]
        assert other.agents.get("anna").id == ours.id
        assert {hit.message.content for hit in found} == {"zebra of anna", "zebra of here"}
        assert other.blocks.get("anna", "persona").value == "rude anna"
        assert [version.value for version in other.blocks.history("anna", "persona")] == [
            "",
            "rude anna",
        ]
        assert other.blocks.get("anna", "human").value == "likes coffee"
        assert "likes tea" in [
            block.value for block in other.blocks.list()
        ]  # not lost, not attached
        assert other.blocks.get("ben", "persona").value == "kinder ben"
        conflicts = "\n".join(imported.conflicts)
        differs = "blocks persona: differs here in unconfirmed_author, value, version, kept"
        assert differs in conflicts
        assert "block human: the agent has one of that label here" in conflicts
        assert again.added == {}
        assert other.maintenance.verify().ok
        assert len(other.archive.search("anna", "zebra")) == 1


@pytest.mark.parametrize("what", ["system_prompt", "model", "description", "metadata"])
def test_fields_of_an_agent_that_differ_are_reported(
    rec: LocalRecollect, tmp_path: Path, what: str
) -> None:
    fields = {"metadata": {"k": "theirs"}} if what == "metadata" else {what: "theirs"}
    rec.agents.create("anna", default_blocks=False, **fields)
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    with elsewhere(tmp_path) as other:
        other.agents.create("anna", default_blocks=False)
        imported = other.import_(exported, trust=True)

    assert imported.conflicts


@pytest.mark.parametrize("what", ["description", "limit", "history"])
def test_fields_of_a_block_that_differ_are_reported(
    rec: LocalRecollect, tmp_path: Path, what: str
) -> None:
    rec.agents.create("anna", default_blocks=False)
    rec.blocks.create("notes", "first", agent="anna")
    rec.blocks.set("anna", "notes", "same")
    if what != "history":
        changed: Any = {what: "theirs" if what == "description" else 50}
        rec.blocks.update("anna", "notes", **changed)
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    with elsewhere(tmp_path) as other:
        other.agents.create("anna", default_blocks=False)
        other.blocks.create("notes", "same", agent="anna")
        imported = other.import_(exported, trust=True)

    assert imported.conflicts


def test_the_other_text_of_a_block_that_changed_in_two_stores_is_a_version_and_is_reported(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.agents.create("anna")
    start, back = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    rec.export(start)
    with elsewhere(tmp_path) as other:
        other.import_(start, trust=True)
        other.blocks.set("anna", "persona", "theirs")
        other.export(back)
    rec.blocks.set("anna", "persona", "ours")
    imported = rec.import_(back, trust=True)

    assert rec.blocks.get("anna", "persona").value == "ours"
    values = [version.value for version in rec.blocks.history("anna", "persona")]
    assert values == ["", "ours", "theirs", "ours"]
    assert len(imported.conflicts) == 1
    assert rec.maintenance.verify().ok


def test_a_conversation_that_continued_in_two_stores_does_not_prevent_the_import(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "said before")
    start, back = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    rec.export(start)
    with elsewhere(tmp_path) as other:
        other.import_(start, trust=True)
        other.conversations.append(talk.id, "user", "said there")
        other.ingest("a memory made there")
        other.export(back)
    rec.conversations.append(talk, "user", "said here")
    imported = rec.import_(back, trust=True)

    assert imported.conflicts
    assert imported.added["memories"] == 1
    assert "said here" in [message.content for message in rec.conversations.messages(talk)]
    assert rec.maintenance.verify().ok


def test_a_block_without_its_history_is_refused(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.agents.create("anna")
    rows = [row for row in rec._store.export_rows() if row["table"] != "block_history"]
    with elsewhere(tmp_path) as other:
        try:
            work = UnfinishedWork(kind=WorkKind.IMPORT, started_at=START)
            other._store.import_rows(rows, work)
        except ImportRefused:
            return

        assert other.maintenance.verify().ok


def test_an_import_is_found_by_its_words_and_its_meaning(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    filled(rec, clock)
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    with elsewhere(tmp_path) as other:
        other.import_(exported, trust=True)
        before = other.maintenance.status().waiting
        other.drain()

        assert before == other.maintenance.status().embedded["scripted"]
        assert other.conversations.search("zebra of anna", agent="anna", mode="vector")
        assert [hit.block.label for hit in other.blocks.search("kinder", agent="anna")] == [
            "persona"
        ]


def test_an_export_has_no_row_of_an_agent_that_was_deleted(
    rec: LocalRecollect, clock: FakeClock, tmp_path: Path
) -> None:
    filled(rec, clock)
    anna = rec.agents.get("anna")
    rec.agents.delete(anna)
    exported = tmp_path / "e.jsonl"
    rec.export(exported)

    lines = [line for line in exported.read_text().splitlines() if '"tombstones"' not in line]
    assert anna.id not in "\n".join(lines)
    with pytest.raises(AlreadyExists):
        rec.agents.create("ben")
    tables = {json.loads(line).get("table") for line in exported.read_text().splitlines()}
    assert {"agents", "blocks", "messages", "skills", "files", "agent_files"} <= tables
