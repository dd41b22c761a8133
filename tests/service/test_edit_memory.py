"""A person corrects a memory: its quotes and its original stay."""

import pytest

from recollect import (
    IllegalTransition,
    InvalidInput,
    LocalRecollect,
    Memory,
    MemoryExplanation,
    NotFound,
)

TOKEN = "ghp_" + "a1B2" * 9


def explained(rec: LocalRecollect, memory: Memory) -> MemoryExplanation:
    explanation = rec.explain(memory.id)
    assert isinstance(explanation, MemoryExplanation)
    return explanation


def test_an_edited_memory_is_active_and_keeps_the_quote_of_the_original(
    words_only: LocalRecollect,
) -> None:
    original = words_only.ingest("The API listens on port 8080.", project="site")

    edited = words_only.memories.edit(
        original.id, content="The API listens on port 9090.", reason="moved"
    )

    assert (edited.content, edited.status) == ("The API listens on port 9090.", "active")
    assert [piece.quote for piece in edited.evidence] == ["The API listens on port 8080."]
    assert edited.owner == original.owner
    assert words_only.memories.get(original.id).status == "superseded"
    assert words_only.memories.get(original.id).content == original.content
    last = explained(words_only, edited).changes[-1]
    assert (last.by, last.reason) == ("user", "moved")
    assert [hit.memory.id for hit in words_only.search("API port", project="site")] == [edited.id]


def test_undo_of_an_edit_restores_the_original_with_its_status(words_only: LocalRecollect) -> None:
    active = words_only.ingest("Releases are on Monday.")
    candidate = words_only.ingest("Releases are on Friday.", status="inbox")

    edits = [
        words_only.memories.edit(memory.id, content=f"{memory.content} Always.")
        for memory in (active, candidate)
    ]
    undone = words_only.inbox.undo([edit.id for edit in edits])

    assert [memory.status for memory in undone] == ["archived", "archived"]
    assert words_only.memories.get(active.id).status == "active"
    assert words_only.memories.get(candidate.id).status == "inbox"


def test_an_edit_of_a_named_fact_and_its_undo_keep_one_active_fact(
    words_only: LocalRecollect,
) -> None:
    fact = words_only.upsert_profile_fact("editor", "vim")

    edited = words_only.memories.edit(fact.id, content="helix")
    assert words_only.memories.get(edited.id).status == "active"
    words_only.undo(edited.id)

    assert words_only.memories.get(fact.id).status == "active"


def test_type_tags_and_scope_can_be_corrected(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("Use tabs.", tags=["a"])

    edited = words_only.memories.edit(
        memory.id, type="decision", tags=["style", "style"], scope="project", project="site"
    )

    assert (edited.type, edited.tags, edited.scope) == ("decision", ("style",), "project")
    assert words_only.memories.list(project="site", scopes="project") == [edited]
    assert words_only.memories.list(scopes="global") == []


def test_what_contradicted_the_original_contradicts_the_edited_memory(
    words_only: LocalRecollect,
) -> None:
    memory = words_only.ingest("The port is 8080.")
    rival = words_only.ingest("The port is 9090.")
    words_only.link(rival.id, "contradicts", memory.id)

    edited = words_only.memories.edit(memory.id, content="The port is 8081.")

    (pair,) = words_only.memories.conflicts()
    assert {pair.memory.id, pair.other.id} == {edited.id, rival.id}


def test_a_secret_in_an_edit_is_redacted(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The token is in the vault.")

    edited = words_only.memories.edit(memory.id, content=f"The token is {TOKEN}.")

    assert TOKEN not in edited.content
    assert [mark.field for mark in edited.redactions] == ["content"]


def test_an_edit_that_cannot_be_made_says_why_and_changes_nothing(
    words_only: LocalRecollect,
) -> None:
    memory = words_only.ingest("Use tabs.")
    edited = words_only.memories.edit(memory.id, content="Use spaces.")

    with pytest.raises(IllegalTransition, match="superseded by now and cannot be edited"):
        words_only.memories.edit(memory.id, content="Use neither.")
    with pytest.raises(InvalidInput, match="nothing is different"):
        words_only.memories.edit(edited.id, content="Use spaces.")
    with pytest.raises(InvalidInput, match="the content is empty"):
        words_only.memories.edit(edited.id, content="  ")
    with pytest.raises(InvalidInput, match="scope project needs"):
        words_only.memories.edit(edited.id, scope="project")
    with pytest.raises(NotFound):
        words_only.memories.edit("nothing", content="x")

    assert [memory.content for memory in words_only.memories.list()] == ["Use spaces."]


def test_forgetting_an_edited_memory_leaves_no_word_of_it(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The door code is walnut.")
    edited = words_only.memories.edit(memory.id, content="The door code is walnut hazel.")

    words_only.forget(edited.id)  # the original goes with the words it rests on

    everywhere = words_only.memories.list(
        everywhere=True, statuses=["active", "superseded", "archived", "inbox"]
    )
    assert everywhere == []
