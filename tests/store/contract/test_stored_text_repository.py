"""Texts over all tables: found, read again and overwritten, also in the index."""

from dataclasses import replace
from typing import Any

import pytest

from recollect import Change, Project, Relation
from recollect.domain.agent_run import Run
from recollect.domain.block import BlockProposal
from recollect.domain.change import ChangeKind
from recollect.domain.conversation import Pin
from recollect.domain.job import Job, JobKind
from recollect.domain.link import Link, LinkEnd
from recollect.domain.model_usage import ModelCall
from recollect.domain.provenance import MentionedDate, Provenance
from recollect.domain.scope import ItemKind
from recollect.domain.skill import SkillOrigin
from recollect.store.protocol import Store, Tables
from recollect.store.repositories.stored_texts import COLUMNS
from recollect.store.values import ItemWithWord, StoredFile, StoredSkill, TextCell
from store_records import (
    ANNA,
    GLOBAL,
    TALK,
    Keep,
    block,
    block_version,
    document,
    event,
    matching_ids,
    message,
    say,
    source,
    summary,
)
from support import START


def cells_of(store: Store, table: str) -> list[TextCell]:
    with store.read() as tables:
        return list(tables.texts.cells(table))


@pytest.mark.usefixtures("stored_agents")
def test_the_texts_of_a_table_are_listed_row_by_row_without_the_empty_ones(store: Store) -> None:
    say(store, message(0, "zebra", tool_calls=({"id": "c"},)), message(1, "horse"))

    assert cells_of(store, "messages") == [
        TextCell("messages", ("c1 m0",), "content", "zebra"),
        TextCell("messages", ("c1 m0",), "tool_calls", '[{"id":"c"}]', is_json=True),
        TextCell("messages", ("c1 m1",), "content", "horse"),
    ]
    assert {(cell.column, cell.text) for cell in cells_of(store, "agents")} == {
        ("name", "anna"),
        ("name", "ben"),
    }


ZEBRA: dict[str, Any] = {"metadata": {"k": "zebra"}}


def write_agent_with_zebras(tables: Tables) -> None:
    """Write an agent and what it has, with the word zebra in each text."""
    anna = replace(ANNA, name="zebra", description="zebra", system_prompt="zebra", **ZEBRA)
    tables.projects.add_project(Project(id="p1", name="zebra", created_at=START))
    tables.agents.add(anna)
    talk = replace(TALK, title="zebra", **ZEBRA)
    tables.conversations.add(talk)
    items: dict[str, Any] = {"parts": ({"t": "zebra"},), "tool_calls": ({"n": "zebra"},)}
    tables.messages.add(talk, message(0, "zebra", **items, payload={"item": "zebra"}, **ZEBRA))
    tables.conversations.add_summary(summary("s1", "zebra"))
    tables.conversations.add_pin(
        Pin(id="pin", conversation_id="c1", kind="note", content="zebra", pinned_at=START)
    )
    shared = block("b1", "notes", "zebra", description="zebra", **ZEBRA)
    tables.blocks.add(shared)
    tables.blocks.add_version(replace(block_version(shared), reason="zebra"))
    tables.blocks.add_proposal(
        BlockProposal(
            id="bp",
            block_id="b1",
            label="notes",
            scope=shared.scope,
            owner_id="a1",
            author="anna",
            base_version=1,
            base_value="",
            current_value="",
            value="zebra",
            reason="zebra",
            decision="zebra",
            proposed_at=START,
        )
    )


def write_capture_with_zebras(tables: Tables) -> None:
    """Write a capture, a skill, a file and a document, with the word zebra in each text."""
    tables.sources.add(source("src", "raw", title="zebra", uri="zebra", **ZEBRA))
    tables.sources.add_event(
        event("e1", title="zebra", uri="zebra", outcome="zebra", error="zebra", source_id="src")
    )
    tables.jobs.add(
        Job(
            id="j1",
            event_id="e1",
            kind=JobKind.EXTRACT,
            payload={"k": "zebra"},
            error="zebra",
            run_at=START,
            created_at=START,
            updated_at=START,
        )
    )
    tables.runs.add(
        Run(
            id="r1",
            conversation_id="c1",
            max_steps=1,
            first_position=0,
            error="zebra",
            started_at=START,
            updated_at=START,
        )
    )
    tables.jobs.add_call(
        ModelCall(id="mc", event_id="e1", model="m", purpose="p", error="zebra", asked_at=START)
    )
    tables.skills.save(
        StoredSkill(
            id="sk",
            name="zebra",
            description="zebra",
            origin=SkillOrigin.GLOBAL,
            project_id=None,
            path="/s",
            content="zebra",
            sha256="h",
            metadata={"k": "zebra"},
        ),
        START,
    )
    tables.files.save(StoredFile("f1", "p1", "zebra.py", "zebra", "h"), START)
    tables.documents.add(document("doc", "zebra", text="zebra"))


def write_memory_with_zebras(store: Store, keep: Keep) -> None:
    dates = (MentionedDate("zebra", START.date()),)
    memory = keep(
        "zebra",
        title="zebra",
        summary="zebra",
        rationale="zebra",
        alternatives=("zebra",),
        metadata={"k": "zebra"},
        provenance=Provenance(author="zebra", dates=dates),
    )
    change = Change(
        id="ch",
        memory_id=memory.id,
        kind=ChangeKind.CREATED,
        before=None,
        after=memory.status,
        by="user",
        reason="zebra",
        at=START,
    )
    link = Link(
        id="li",
        from_id=memory.id,
        relation=Relation.APPLIES_TO,
        to_kind=LinkEnd.PROJECT,
        to_id="p1",
        note="zebra",
        created_at=START,
    )
    store.write(lambda tables: tables.memories.add_change(change))
    store.write(lambda tables: tables.links.add(link))


def test_every_text_of_every_table_is_listed_read_again_and_overwritten(
    store: Store, keep: Keep
) -> None:
    store.write(write_agent_with_zebras)
    store.write(write_capture_with_zebras)
    write_memory_with_zebras(store, keep)

    for table, (_, columns) in COLUMNS.items():
        cells = [cell for cell in cells_of(store, table) if "zebra" in cell.text]
        assert {cell.column for cell in cells} == set(columns), table
        redacted = [cell.with_text(cell.text.replace("zebra", "horse")) for cell in cells]
        with store.read() as tables:
            assert [tables.texts.current(cell) for cell in redacted] == cells
        store.write(lambda tables, redacted=redacted: tables.texts.overwrite(redacted))  # type: ignore[misc]

        assert [cell for cell in cells_of(store, table) if "horse" in cell.text] == redacted
        assert not any("zebra" in cell.text for cell in cells_of(store, table))


def test_an_overwritten_text_is_what_is_read_and_found_from_then_on(
    store: Store, keep: Keep
) -> None:
    memory = keep("the zebra sleeps", title="night", rationale="seen", tags=("x",))
    other = keep("a giraffe")
    [content] = [cell for cell in cells_of(store, "memories") if cell.text == memory.content]
    with store.read() as tables:
        assert tables.texts.current(content.with_text("former")) == content

    store.write(lambda tables: tables.texts.overwrite([content.with_text("the … sleeps")]))

    with store.read() as tables:
        changed = tables.memories.get(memory.id)
        assert changed is not None
        assert (changed.content, changed.title, changed.rationale) == (
            "the … sleeps",
            "night",
            "seen",
        )
        assert tables.memories.get(other.id) == other
        assert tables.texts.current(content) == content.with_text("the … sleeps")
        gone = TextCell("memories", ("unknown",), "content", "x")
        assert tables.texts.current(gone) is None
        assert tables.texts.current(TextCell("memories", (memory.id,), "summary", "x")) is None
    assert matching_ids(store, "zebra") == []
    assert matching_ids(store, "sleep") == [memory.id]
    assert store.check()[1] == []


@pytest.mark.usefixtures("stored_agents")
def test_items_are_found_by_any_form_of_a_word(store: Store, keep: Keep) -> None:
    memory = keep("two zebras")
    say(store, message(0, "a zebra"), message(1, "a horse"))

    with store.read() as tables:
        items = tables.texts.items_with("zebra", limit=9)
        assert sorted(items, key=lambda item: item.kind) == [
            ItemWithWord(ItemKind.MEMORY, memory.id, None),
            ItemWithWord(ItemKind.MESSAGE, "c1 m0", "c1"),
        ]
        assert len(tables.texts.items_with("zebra", limit=1)) == 1
        assert tables.texts.items_with("walrus", limit=9) == []
        assert tables.texts.items_with("!", limit=9) == []
        among = tables.texts.messages_among(["c1 m0", "c1 m1", memory.id], ["c1"])
        assert among == {"c1 m0", "c1 m1"}
        assert tables.texts.messages_among(["c1 m0"], ["other"]) == set()


def test_the_contents_of_all_sources_are_listed(store: Store, keep: Keep) -> None:
    memories = [keep("one"), keep("two", scope=GLOBAL.scope)]

    with store.read() as tables:
        assert list(tables.texts.sources()) == [
            (memory.evidence[0].source_id, memory.content) for memory in memories
        ]
