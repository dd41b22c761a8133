"""Forgetting follows the words through every table, and leaves everything else as it was."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import LocalRecollect, NotFound, Retrieval
from store_bytes import files_with_word
from support import open_memory

WORD = "quetzalcoatl"
SECRET = f"The launch is called {WORD}"
FILLER = [f"Ordinary sentence number {n} about gardens and weather." for n in range(12)]


def rows(path: Path) -> dict[str, list[Any]]:
    """Return every row of every table that holds what people and models wrote."""
    tables = "memories evidence messages summaries pins conversations blocks block_history views"
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    contents = {
        name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in tables.split()
    }
    db.close()
    return contents


def talk_about_it(rec: LocalRecollect, title: str = "planning") -> str:
    """Have a conversation in which the statement and its echoes occur; return its id."""
    talk = rec.conversations.start(agent="anna", project="p", title=title)
    arguments = json.dumps({"note": f"{SECRET}\nin May", "tags": [WORD.upper()]})
    call = {"id": "c1", "type": "function", "function": {"name": "save", "arguments": arguments}}
    rec.conversations.append_many(
        talk,
        [
            {"role": "user", "content": f"Good morning. {SECRET}. Please plan the week."},
            {"role": "assistant", "content": f"Noted: the launch is  called “{WORD}”!"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": json.dumps({"saved": SECRET}), "tool_call_id": "c1"},
            *({"role": "user", "content": text} for text in FILLER),
        ],
    )
    rec.conversations.pin(talk, f"Remember {WORD}")
    rec.conversations.compact(talk, force=True, mode="all", keep_last=2)
    rec.conversations.append(talk, "user", f"And is {WORD} on Friday? Bring cake.")
    return talk.id


def test_the_words_go_from_messages_summaries_questions_views_and_records(path: Path) -> None:
    with open_memory(path) as rec:
        talk = talk_about_it(rec)
        rec.conversations.end(talk, capture=True)
        rec.drain()
        memory = rec.ingest(f"{SECRET}.", project="p", type="decision")
        asked = rec.search(f"when is {WORD}?", project="p")[0].retrieval_id or ""
        rec.conversations.search(WORD, agent="anna")
        rec.views.save("soon", f"{WORD} date")
        rec.drain()
        assert files_with_word(path, WORD)

        receipt = rec.forget(memory.id)

        messages = rec.conversations.messages(talk, limit=50)
        logged = rec.explain(asked)
        assert files_with_word(path, WORD) == []
        assert messages[0].content == "Good morning. [forgotten] Please plan the week."
        assert messages[-1].content == "[forgotten] Bring cake."
        assert [message.content for message in messages[4:16]] == FILLER
        assert json.loads(messages[2].tool_calls[0]["function"]["arguments"])["tags"]
        assert isinstance(logged, Retrieval)
        assert logged.query == ""
        assert receipt.removed["messages redacted"] == 5
        assert receipt.removed["summaries redacted"] == 1
        assert receipt.removed["views"] == 1
        assert rec.maintenance.verify().ok
        assert rec.conversations.search(WORD, agent="anna") == []
        assert rec.conversations.search("cake", agent="anna")


def test_a_dry_run_says_what_would_go_and_changes_nothing(path: Path) -> None:
    with open_memory(path) as rec:
        talk_about_it(rec)
        memory = rec.ingest(f"{SECRET}.", project="p")
        before = rows(path)

        preview = rec.forget(memory.id, dry_run=True)

        assert preview.dry_run
        assert rows(path) == before
        assert preview.removed["memories"] == 1
        assert preview.removed["messages redacted"] == 5
        done = rec.forget(memory.id).removed
        assert {name: done[name] for name in preview.removed if "redacted" in name} == {
            name: count for name, count in preview.removed.items() if "redacted" in name
        }


OTHERS: Mapping[str, str] = {
    "another statement": "The launch party is in Lisbon.",
    "another launch": "The launch is called Falcon in Spain.",
    "common words": "We called the bank about the launch.",
    "part of a longer word": f"pre{WORD}ian pottery is old",
}


def test_other_memories_messages_blocks_and_questions_stay_as_they_were(path: Path) -> None:
    with open_memory(path) as rec:
        talk = rec.conversations.start(agent="ben", project="q")
        for text in OTHERS.values():
            rec.ingest(text, project="q")
            rec.conversations.append(talk, "user", text)
            rec.search(text, project="q")
        rec.blocks.create("notes", "The launch is called off if it rains.", agent="ben")
        rec.views.save("party", "launch party")
        rec.drain()
        asked = rec.search("launch party", project="q")[0].retrieval_id or ""
        before = rows(path)
        memory = rec.ingest(f"{SECRET}.", project="p")
        rec.search(WORD, project="p")

        rec.forget(memory.id)

        assert rows(path) == before
        assert rec.explain(asked).query == "launch party"  # type: ignore[union-attr]


def test_words_that_an_active_memory_says_too_stay_and_it_is_named(path: Path) -> None:
    with open_memory(path) as rec:
        talk = talk_about_it(rec)
        memory = rec.ingest(f"{SECRET}.", project="p")
        other = rec.ingest(f"{SECRET}, and it is in May.", project="p")

        receipt = rec.forget(memory.id)

        assert any(other.id in line for line in receipt.kept)
        assert SECRET in rec.conversations.messages(talk, limit=1)[0].content
        assert rec.memories.get(other.id) == other
        rec.forget(other.id)
        assert files_with_word(path, WORD) == []


def test_candidates_of_the_same_words_go_too(path: Path) -> None:
    with open_memory(path) as rec:
        memory = rec.ingest(f"{SECRET}.", project="p")
        candidate = rec.ingest(f"{SECRET}.", project="p", status="inbox")
        elsewhere = rec.ingest(f"{SECRET}.", project="q", status="inbox")

        receipt = rec.forget(memory.id)

        assert receipt.removed["memories"] == 2
        assert any(elsewhere.id in line for line in receipt.kept)
        with pytest.raises(NotFound):
            rec.memories.get(candidate.id)


def test_a_block_loses_the_sentence_in_every_version(path: Path) -> None:
    with open_memory(path) as rec:
        rec.agents.create("anna")
        rec.blocks.create("notes", f"Be kind. {SECRET}.", agent="anna")
        rec.blocks.set("anna", "notes", f"Be kind. {SECRET}. Be brief.")
        memory = rec.ingest(f"{SECRET}.", project="p")

        rec.forget(memory.id)

        assert SECRET not in rec.blocks.get("anna", "notes").value
        assert rec.blocks.get("anna", "notes").value.startswith("Be kind.")
        assert files_with_word(path, SECRET.lower()) == []
        assert rec.maintenance.verify().ok


def test_a_deleted_conversation_leaves_no_trace_in_questions_views_and_captures(
    path: Path,
) -> None:
    with open_memory(path) as rec:
        talk = talk_about_it(rec, title=f"about {WORD}")
        rec.conversations.end(talk, capture=True)
        rec.drain()
        rec.search(f"when is {WORD}?", project="p")
        rec.conversations.search("cake", agent="anna")
        rec.context_for(f"prepare {WORD}", project="p", conversation=talk)
        rec.views.save("soon", f"{WORD} date")
        other = rec.conversations.start(agent="anna", project="p")
        rec.conversations.append(other, "user", "Bring cake on Friday.")
        kept = rec.search("cake", project="p")

        receipt = rec.conversations.delete(talk)

        assert files_with_word(path, WORD) == []
        assert receipt.removed["views"] == 1
        assert receipt.removed["retrieval queries blanked"] >= 1
        assert rec.conversations.messages(other, limit=5)[0].content == "Bring cake on Friday."
        assert rec.maintenance.verify().ok
        assert kept is not None


def test_a_memory_learnt_from_a_deleted_conversation_stays_with_its_quote_alone(
    path: Path,
) -> None:
    with open_memory(path) as rec:
        talk = rec.conversations.start(agent="anna", project="p")
        lines = [f"My cat is called {WORD}.", "We use pnpm for builds in this project."]
        rec.conversations.append(talk, "user", f"Good morning. {lines[0]} {lines[1]}")
        rec.conversations.end(talk, capture=True)
        rec.drain()
        [learnt] = [
            item.memory for item in rec.inbox.list(everywhere=True) if "pnpm" in item.memory.content
        ]
        rec.promote(learnt.id)

        receipt = rec.conversations.delete(talk)

        assert any(learnt.id in line and "stays with its quote" in line for line in receipt.kept)
        assert rec.memories.get(learnt.id).evidence[0].quote == lines[1]
        assert files_with_word(path, WORD) == []
        assert files_with_word(path, "good morning") == []
        assert rec.maintenance.verify().ok


def test_a_forgotten_file_leaves_no_trace_in_questions(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "plan.md").write_text(f"# Plan\n\n{SECRET}, in May.\n")
    (folder / "other.md").write_text("# Other\n\nBring cake.\n")
    with open_memory(path) as rec:
        rec.files.index(project=folder)
        rec.files.search(f"what is {WORD}?", project=folder)
        rec.files.search("cake", project=folder)
        rec.drain()
        assert files_with_word(path, WORD)

        receipt = rec.files.forget(["plan.md"], project=folder)

        assert receipt.removed["files"] == 1
        assert receipt.removed["retrieval queries blanked"] >= 1
        assert any("on disk" in line for line in receipt.kept)
        assert files_with_word(path, WORD) == []
        assert rec.files.search("cake", project=folder)
        assert rec.maintenance.verify().ok


def test_a_document_does_not_keep_a_distinctive_word_and_many_are_named(path: Path) -> None:
    for count in (1, 5):
        with open_memory(path.with_name(f"{count}.db")) as rec:
            memory = rec.ingest("The zebra codename is Quaxilon.", project="p", type="decision")
            talk = rec.conversations.start(agent="anna")
            message = rec.conversations.append(talk, "user", "Ask Quaxilon about lunch.")
            for number in range(count):
                note = {"note": f"Call Quaxilon on Monday {number}"}
                rec.documents.put(("notes",), f"n{number}", note)

            receipt = rec.forget(memory.id)

            [stored] = rec.conversations.messages(talk)
            document = rec.documents.get(("notes",), "n0")
            texts = [stored.content, str(document and document.value)]
            named = [line for line in receipt.kept if line.startswith("document notes/n")]
            assert stored.id == message.id
            if count == 1:
                assert ("Quaxilon" in "".join(texts), named) == (False, []), texts
            else:
                assert len(named) == count
