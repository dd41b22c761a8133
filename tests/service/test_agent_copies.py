"""Copies of an agent go their own way; branches come together again, and nothing is guessed."""

from pathlib import Path
from typing import Any

import pytest

from agents import explained, rich_agent, rows
from recollect import (
    AlreadyExists,
    BlockChange,
    InvalidInput,
    LocalRecollect,
    NotFound,
    TooLarge,
)
from support import FakeClock


@pytest.fixture
def ada(memory: LocalRecollect, clock: FakeClock, path: Path) -> str:
    """An agent with something of everything."""
    return rich_agent(memory, clock, path).name


def branched(memory: LocalRecollect, *labels: str) -> None:
    """Make an agent `main` with some blocks, and its branch `side`."""
    memory.agents.create("main", default_blocks=False)
    for label in labels:
        memory.blocks.create(label, f"{label} at first", agent="main")
    memory.agents.branch("main", "side")


# ── clones ──────────────────────────────────────────────────────────────────────────────────────


def test_a_clone_has_blocks_of_its_own_whose_history_begins_anew(
    memory: LocalRecollect, ada: str
) -> None:
    clone = memory.agents.clone(ada, "byron")

    memory.blocks.set(clone, "persona", "I am another.")
    assert memory.blocks.get(ada, "persona").value == "I am Ada.\nI like engines."
    first, _ = memory.blocks.history(clone, "persona")
    assert (first.version, first.value) == (1, "I am Ada.\nI like engines.")
    assert first.reason == "cloned from ada"
    assert (clone.system_prompt, clone.model) == ("Be exact.", "gpt-x")
    assert memory.blocks.get(clone, "notes").metadata == {"k": [1]}
    assert memory.maintenance.verify().ok


def test_a_clone_shares_what_was_shared(memory: LocalRecollect, ada: str) -> None:
    memory.agents.clone(ada, "byron")

    memory.blocks.set(ada, "human", "Charles")
    assert memory.blocks.get("byron", "human").value == "Charles"


def test_a_clone_has_the_archive_with_evidence_and_a_link_to_the_original(
    memory: LocalRecollect, ada: str
) -> None:
    original = memory.archive.search(ada, "looms")[0].memory

    memory.agents.clone(ada, "byron")

    copy = memory.archive.search("byron", "looms")[0].memory
    assert copy.id != original.id
    assert copy.evidence[0].source_id == original.evidence[0].source_id
    assert copy.observed_at == original.observed_at
    links = [(one.relation, one.to_id) for one in explained(memory, copy.id).links]
    assert links == [("derived_from", original.id)]
    assert [one.reason for one in explained(memory, copy.id).changes] == ["cloned from ada"]
    moved = memory.archive.search("byron", "Cambridge")[0].memory
    assert {one.relation for one in explained(memory, moved.id).links} == {
        "derived_from",
        "supersedes",
    }


def test_a_clone_has_the_conversations_only_if_asked(memory: LocalRecollect, ada: str) -> None:
    memory.agents.clone(ada, "silent")
    memory.agents.clone(ada, "talking", conversations=True)

    assert memory.conversations.list(agent="silent") == []
    assert [len(memory.conversations.messages(said)) for said in memory.conversations.list(agent="talking")] == [1, 4]
    assert memory.conversations.search("London", agent="talking")
    assert memory.maintenance.verify().ok


def test_deleting_the_original_leaves_the_clone_whole(memory: LocalRecollect, ada: str) -> None:
    memory.agents.clone(ada, "byron", conversations=True)

    memory.agents.delete(ada)

    assert memory.archive.search("byron", "looms")[0].memory.evidence
    assert memory.maintenance.verify().ok


def test_deleting_a_clone_leaves_the_original_whole(memory: LocalRecollect, ada: str) -> None:
    memory.agents.clone(ada, "byron", conversations=True)

    memory.agents.delete("byron")

    assert memory.archive.search(ada, "looms")[0].memory.evidence
    assert memory.maintenance.verify().ok


def test_a_clone_needs_a_free_name(memory: LocalRecollect, ada: str, tmp_path: Path) -> None:
    before = rows(memory, tmp_path)

    with pytest.raises(AlreadyExists, match="'ada'"):
        memory.agents.clone(ada, "ada")

    assert rows(memory, tmp_path) == before


# ── branches ────────────────────────────────────────────────────────────────────────────────────


def test_a_branch_remembers_where_it_left(memory: LocalRecollect, ada: str) -> None:
    branch = memory.agents.branch(ada, "side")

    origin = branch.metadata["branched_from"]
    persona = memory.blocks.get(ada, "persona")
    assert (origin["agent_id"], origin["name"]) == (memory.agents.get(ada).id, "ada")
    assert origin["blocks"]["persona"]["block_id"] == persona.id
    assert origin["blocks"]["persona"]["version"] == persona.version
    assert [len(memory.conversations.messages(said)) for said in memory.conversations.list(agent=branch)] == [1, 4]
    assert memory.maintenance.verify().ok


def test_a_branch_at_a_message_has_what_had_been_said_then(memory: LocalRecollect, ada: str) -> None:
    first = memory.conversations.list(agent=ada)[-1]
    message = memory.conversations.messages(first)[2]

    for name, at in {
        "by message": message,
        "by id": message.id,
        "by position": (first, 2),
    }.items():
        memory.agents.branch(ada, name, at=at)  # type: ignore[arg-type]
        [said] = memory.conversations.list(agent=name)
        assert [one.position for one in memory.conversations.messages(said)] == [0, 1, 2]
        assert said.ended_at is None
        assert memory.conversations.summaries(said)[0].last_position == 1
    assert memory.maintenance.verify().ok


def test_a_branch_does_not_know_a_summary_of_what_came_later(memory: LocalRecollect, ada: str) -> None:
    first = memory.conversations.list(agent=ada)[-1]

    memory.agents.branch(ada, "side", at=(first, 0))

    [said] = memory.conversations.list(agent="side")
    assert memory.conversations.summaries(said) == []
    assert [one.position for one in memory.conversations.messages_in_context(said)] == [0]


def test_a_branch_at_a_conversation_has_it_whole_and_nothing_later(
    memory: LocalRecollect, ada: str
) -> None:
    first = memory.conversations.list(agent=ada)[-1]

    memory.agents.branch(ada, "side", at=first)

    [said] = memory.conversations.list(agent="side")
    assert len(memory.conversations.messages(said)) == 4


@pytest.mark.parametrize("at", ["nothing", 7, ("nothing", 0)])
def test_a_branch_at_nothing_is_refused(at: Any, memory: LocalRecollect, ada: str) -> None:
    with pytest.raises(NotFound):
        memory.agents.branch(ada, "side", at=at)


def test_a_branch_at_what_another_agent_heard_is_refused(memory: LocalRecollect, ada: str) -> None:
    said = memory.conversations.start(agent="somebody")
    message = memory.conversations.append(said, "user", "hello")

    with pytest.raises(InvalidInput, match="not said to agent 'ada'"):
        memory.agents.branch(ada, "side", at=message)


# ── merges ──────────────────────────────────────────────────────────────────────────────────────


def test_a_block_only_they_changed_is_taken_and_one_only_we_changed_stays(
    memory: LocalRecollect,
) -> None:
    branched(memory, "theirs", "ours", "neither")
    memory.blocks.set("side", "theirs", "changed there")
    memory.blocks.set("main", "ours", "changed here")
    heard: list[BlockChange] = []
    memory.engine.on_block_change(heard.append)

    result = memory.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("theirs",), ())
    assert {one.label: one.value for one in memory.blocks.list("main")} == {
        "theirs": "changed there",
        "ours": "changed here",
        "neither": "neither at first",
    }
    last = memory.blocks.history("main", "theirs")[-1]
    assert (last.version, last.reason) == (2, "merged from side")
    assert [change.label for change in heard] == ["theirs"]
    assert memory.blocks.get("side", "theirs").value == "changed there"
    assert memory.maintenance.verify().ok


def test_a_block_both_changed_is_a_conflict_and_nothing_is_written_for_it(
    memory: LocalRecollect,
) -> None:
    branched(memory, "plan", "other")
    memory.blocks.set("main", "plan", "north")
    memory.blocks.set("side", "plan", "south")
    memory.blocks.set("side", "other", "taken")

    result = memory.agents.merge("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("plan", "plan at first")
    assert (conflict.ours, conflict.theirs) == ("north", "south")
    assert memory.blocks.get("main", "plan").value == "north"
    assert result.merged == ("other",)


@pytest.mark.parametrize(
    ("choice", "value", "merged"),
    [("ours", "north", ()), ("theirs", "south", ("plan",)), ("east", "east", ("plan",))],
)
def test_a_conflict_is_settled_by_what_the_caller_takes(
    choice: str, value: str, merged: tuple[str, ...], memory: LocalRecollect
) -> None:
    branched(memory, "plan")
    memory.blocks.set("main", "plan", "north")
    memory.blocks.set("side", "plan", "south")

    result = memory.agents.merge("main", "side", take={"plan": choice})

    assert (result.merged, result.conflicts) == (merged, ())
    assert memory.blocks.get("main", "plan").value == value
    assert memory.agents.merge("main", "side").conflicts == ()


def test_after_a_merge_only_what_changed_since_counts(memory: LocalRecollect) -> None:
    branched(memory, "plan")
    memory.blocks.set("side", "plan", "south")
    memory.agents.merge("main", "side")
    memory.blocks.set("side", "plan", "further south")

    result = memory.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert memory.blocks.get("main", "plan").value == "further south"


def test_a_conflict_that_nobody_settled_is_one_the_next_time_too(memory: LocalRecollect) -> None:
    branched(memory, "plan")
    memory.blocks.set("main", "plan", "north")
    memory.blocks.set("side", "plan", "south")
    memory.agents.merge("main", "side")

    result = memory.agents.merge("main", "side")

    assert [one.base for one in result.conflicts] == ["plan at first"]


def test_a_branch_takes_what_its_origin_learnt_in_the_meantime(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    branched(memory, "plan")
    clock.advance(minutes=1)
    memory.blocks.set("main", "plan", "north")
    memory.agents.merge("side", "main")
    clock.advance(minutes=1)
    memory.blocks.set("side", "plan", "north-west")

    result = memory.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert memory.blocks.get("main", "plan").value == "north-west"


def test_two_branches_of_one_agent_have_its_value_as_base(memory: LocalRecollect) -> None:
    branched(memory, "plan")
    memory.blocks.set("main", "plan", "moved on")
    memory.agents.branch("main", "late")
    memory.blocks.set("side", "plan", "south")

    result = memory.agents.merge("late", "side")

    [conflict] = result.conflicts
    assert (conflict.base, conflict.ours) == ("plan at first", "moved on")


def test_without_a_common_origin_every_difference_is_a_conflict(memory: LocalRecollect) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        memory.agents.create(name, default_blocks=False)
        memory.blocks.create("plan", value, agent=name)
        memory.blocks.create("same", "equal", agent=name)
    memory.blocks.create("more", "only there", agent="two")

    result = memory.agents.merge("one", "two")

    assert [(one.label, one.base, one.ours) for one in result.conflicts] == [
        ("plan", None, "north"),
        ("more", None, None),
    ]
    taken = memory.agents.merge("one", "two", take={"more": "theirs"})
    assert taken.merged == ("more",)
    assert memory.blocks.get("one", "more").value == "only there"


def test_a_block_made_in_the_branch_comes_along(memory: LocalRecollect) -> None:
    branched(memory, "plan")
    memory.blocks.create("found", "a lamp", agent="side", limit=50, description="Finds.")

    result = memory.agents.merge("main", "side")

    found = memory.blocks.get("main", "found")
    assert result.merged == ("found",)
    assert (found.value, found.limit, found.description) == ("a lamp", 50, "Finds.")
    assert found.id != memory.blocks.get("side", "found").id


def test_a_block_deleted_there_stays_here(memory: LocalRecollect) -> None:
    branched(memory, "plan")
    memory.blocks.delete("side", "plan")

    result = memory.agents.merge("main", "side")

    assert memory.blocks.get("main", "plan").value == "plan at first"
    assert any("no longer has a block 'plan'" in note for note in result.notes)


def test_a_block_deleted_here_stays_so_unless_it_was_changed_there(memory: LocalRecollect) -> None:
    branched(memory, "plan", "note")
    memory.blocks.delete("main", "plan")
    memory.blocks.delete("main", "note")
    memory.blocks.set("side", "note", "changed there")

    result = memory.agents.merge("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("note", "note at first")
    assert (conflict.ours, conflict.theirs) == (None, "changed there")
    assert any("'plan' was deleted here" in note for note in result.notes)
    assert memory.blocks.list("main") == []
    memory.agents.merge("main", "side", take={"note": "theirs"})
    assert memory.blocks.get("main", "note").value == "changed there"


def test_a_read_only_block_is_left_as_it_is(memory: LocalRecollect) -> None:
    branched(memory, "rules")
    memory.blocks.set("side", "rules", "other rules")
    memory.blocks.update("main", "rules", read_only=True)

    result = memory.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == ((), ())
    assert any("read-only" in note for note in result.notes)


def test_a_value_over_our_limit_stops_the_whole_merge(memory: LocalRecollect, tmp_path: Path) -> None:
    branched(memory, "plan", "other")
    memory.blocks.set("side", "other", "changed")
    memory.blocks.set("side", "plan", "x" * 30)
    memory.blocks.update("main", "plan", limit=20)
    before = rows(memory, tmp_path)

    with pytest.raises(TooLarge):
        memory.agents.merge("main", "side")

    assert rows(memory, tmp_path) == before


def test_passages_we_lack_are_added_with_their_evidence(memory: LocalRecollect, ada: str) -> None:
    memory.agents.branch(ada, "side")
    new = memory.archive.insert("side", "Byron wrote about darkness.", tags=["poem"])
    memory.archive.insert("side", "punched cards come from LOOMS")
    memory.archive.insert(ada, "Only here.")

    result = memory.agents.merge(ada, "side")

    assert result.passages_added == 1
    copy = memory.archive.search(ada, "darkness")[0].memory
    assert (copy.agent_id, copy.tags) == (memory.agents.get(ada).id, ("poem",))
    assert copy.evidence[0].quote == "Byron wrote about darkness."
    links = [(one.relation, one.to_id) for one in explained(memory, copy.id).links]
    assert links == [("derived_from", new.id)]
    assert memory.agents.merge(ada, "side").passages_added == 0
    assert memory.maintenance.verify().ok


def test_conversations_stay_where_they_are_and_the_notes_say_so(
    memory: LocalRecollect, ada: str
) -> None:
    memory.agents.branch(ada, "side")

    result = memory.agents.merge(ada, "side")

    assert any("2 conversations of agent 'side' stay" in note for note in result.notes)
    assert len(memory.conversations.list(agent=ada)) == 2


def test_a_dry_run_reports_the_same_and_changes_nothing(
    memory: LocalRecollect, ada: str, tmp_path: Path
) -> None:
    memory.agents.branch(ada, "side")
    memory.blocks.set("side", "persona", "changed")
    memory.archive.insert("side", "Something new.")
    before = rows(memory, tmp_path)

    planned = memory.agents.merge(ada, "side", dry_run=True)

    assert rows(memory, tmp_path) == before
    done = memory.agents.merge(ada, "side")
    assert (planned.merged, planned.passages_added) == (done.merged, done.passages_added)
    assert (planned.merged, planned.passages_added) == (("persona",), 1)


def test_a_choice_about_no_conflict_is_refused(memory: LocalRecollect) -> None:
    branched(memory, "plan")

    with pytest.raises(InvalidInput, match="no conflict about plan"):
        memory.agents.merge("main", "side", take={"plan": "ours"})
    with pytest.raises(InvalidInput, match="take must be"):
        memory.agents.merge("main", "side", take="ours")  # type: ignore[arg-type]


def test_a_shared_block_is_not_changed_by_a_merge(memory: LocalRecollect) -> None:
    memory.agents.create("one")
    memory.agents.create("two", default_blocks=False)
    memory.blocks.create("human", "Charles", agent="two")

    result = memory.agents.merge("one", "two")

    assert [one.label for one in result.conflicts] == ["human"]
    with pytest.raises(InvalidInput, match="shared here"):
        memory.agents.merge("one", "two", take={"human": "theirs"})


def test_an_agent_is_not_merged_into_itself(memory: LocalRecollect, ada: str) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        memory.agents.merge(ada, ada)


@pytest.mark.parametrize("marks", [{"branched_from": 7, "merged": []}, {"merged": {"x": {"y": 1}}}])
def test_metadata_that_only_looks_like_an_origin_is_none(
    marks: dict[str, Any], memory: LocalRecollect
) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        memory.agents.create(name, default_blocks=False, metadata=marks)
        memory.blocks.create("plan", value, agent=name)

    assert [one.base for one in memory.agents.merge("one", "two").conflicts] == [None]
