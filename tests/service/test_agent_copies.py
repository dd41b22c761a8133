"""Copies of an agent go their own way; branches come together again, and nothing is guessed."""

from pathlib import Path
from typing import Any

import pytest

from agents import explained, rich_agent, rows
from recollect import (
    AlreadyExists,
    BlockChange,
    InvalidInput,
    NotFound,
    Recollect,
    TooLarge,
)
from support import FakeClock


@pytest.fixture
def ada(memory: Recollect, clock: FakeClock, path: Path) -> str:
    """An agent with something of everything."""
    return rich_agent(memory, clock, path).name


def branched(memory: Recollect, *labels: str) -> None:
    """Make an agent `main` with some blocks, and its branch `side`."""
    memory.create_agent("main", default_blocks=False)
    for label in labels:
        memory.create_block(label, f"{label} at first", agent="main")
    memory.branch_agent("main", "side")


# ── clones ──────────────────────────────────────────────────────────────────────────────────────


def test_a_clone_has_blocks_of_its_own_whose_history_begins_anew(
    memory: Recollect, ada: str
) -> None:
    clone = memory.clone_agent(ada, "byron")

    memory.set_block(clone, "persona", "I am another.")
    assert memory.block(ada, "persona").value == "I am Ada.\nI like engines."
    first, _ = memory.block_history(clone, "persona")
    assert (first.version, first.value) == (1, "I am Ada.\nI like engines.")
    assert first.reason == "cloned from ada"
    assert (clone.system_prompt, clone.model) == ("Be exact.", "gpt-x")
    assert memory.block(clone, "notes").metadata == {"k": [1]}
    assert memory.verify().ok


def test_a_clone_shares_what_was_shared(memory: Recollect, ada: str) -> None:
    memory.clone_agent(ada, "byron")

    memory.set_block(ada, "human", "Charles")
    assert memory.block("byron", "human").value == "Charles"


def test_a_clone_has_the_archive_with_evidence_and_a_link_to_the_original(
    memory: Recollect, ada: str
) -> None:
    original = memory.archival_search(ada, "looms")[0].memory

    memory.clone_agent(ada, "byron")

    copy = memory.archival_search("byron", "looms")[0].memory
    assert copy.id != original.id
    assert copy.evidence[0].source_id == original.evidence[0].source_id
    assert copy.observed_at == original.observed_at
    links = [(one.relation, one.to_id) for one in explained(memory, copy.id).links]
    assert links == [("derived_from", original.id)]
    assert [one.reason for one in explained(memory, copy.id).changes] == ["cloned from ada"]
    moved = memory.archival_search("byron", "Cambridge")[0].memory
    assert {one.relation for one in explained(memory, moved.id).links} == {
        "derived_from",
        "supersedes",
    }


def test_a_clone_has_the_conversations_only_if_asked(memory: Recollect, ada: str) -> None:
    memory.clone_agent(ada, "silent")
    memory.clone_agent(ada, "talking", conversations=True)

    assert memory.conversations(agent="silent") == []
    assert [len(memory.messages(said)) for said in memory.conversations(agent="talking")] == [1, 4]
    assert memory.search_messages("London", agent="talking")
    assert memory.verify().ok


def test_deleting_the_original_leaves_the_clone_whole(memory: Recollect, ada: str) -> None:
    memory.clone_agent(ada, "byron", conversations=True)

    memory.delete_agent(ada)

    assert memory.archival_search("byron", "looms")[0].memory.evidence
    assert memory.verify().ok


def test_deleting_a_clone_leaves_the_original_whole(memory: Recollect, ada: str) -> None:
    memory.clone_agent(ada, "byron", conversations=True)

    memory.delete_agent("byron")

    assert memory.archival_search(ada, "looms")[0].memory.evidence
    assert memory.verify().ok


def test_a_clone_needs_a_free_name(memory: Recollect, ada: str, tmp_path: Path) -> None:
    before = rows(memory, tmp_path)

    with pytest.raises(AlreadyExists, match="'ada'"):
        memory.clone_agent(ada, "ada")

    assert rows(memory, tmp_path) == before


# ── branches ────────────────────────────────────────────────────────────────────────────────────


def test_a_branch_remembers_where_it_left(memory: Recollect, ada: str) -> None:
    branch = memory.branch_agent(ada, "side")

    origin = branch.metadata["branched_from"]
    persona = memory.block(ada, "persona")
    assert (origin["agent_id"], origin["name"]) == (memory.agent(ada).id, "ada")
    assert origin["blocks"]["persona"]["block_id"] == persona.id
    assert origin["blocks"]["persona"]["version"] == persona.version
    assert [len(memory.messages(said)) for said in memory.conversations(agent=branch)] == [1, 4]
    assert memory.verify().ok


def test_a_branch_at_a_message_has_what_had_been_said_then(memory: Recollect, ada: str) -> None:
    first = memory.conversations(agent=ada)[-1]
    message = memory.messages(first)[2]

    for name, at in {
        "by message": message,
        "by id": message.id,
        "by position": (first, 2),
    }.items():
        memory.branch_agent(ada, name, at=at)  # type: ignore[arg-type]
        [said] = memory.conversations(agent=name)
        assert [one.position for one in memory.messages(said)] == [0, 1, 2]
        assert said.ended_at is None
        assert memory.summaries(said)[0].last_position == 1
    assert memory.verify().ok


def test_a_branch_does_not_know_a_summary_of_what_came_later(memory: Recollect, ada: str) -> None:
    first = memory.conversations(agent=ada)[-1]

    memory.branch_agent(ada, "side", at=(first, 0))

    [said] = memory.conversations(agent="side")
    assert memory.summaries(said) == []
    assert [one.position for one in memory.messages_in_context(said)] == [0]


def test_a_branch_at_a_conversation_has_it_whole_and_nothing_later(
    memory: Recollect, ada: str
) -> None:
    first = memory.conversations(agent=ada)[-1]

    memory.branch_agent(ada, "side", at=first)

    [said] = memory.conversations(agent="side")
    assert len(memory.messages(said)) == 4


@pytest.mark.parametrize("at", ["nothing", 7, ("nothing", 0)])
def test_a_branch_at_nothing_is_refused(at: Any, memory: Recollect, ada: str) -> None:
    with pytest.raises(NotFound):
        memory.branch_agent(ada, "side", at=at)


def test_a_branch_at_what_another_agent_heard_is_refused(memory: Recollect, ada: str) -> None:
    said = memory.start_conversation(agent="somebody")
    message = memory.append_message(said, "user", "hello")

    with pytest.raises(InvalidInput, match="not said to agent 'ada'"):
        memory.branch_agent(ada, "side", at=message)


# ── merges ──────────────────────────────────────────────────────────────────────────────────────


def test_a_block_only_they_changed_is_taken_and_one_only_we_changed_stays(
    memory: Recollect,
) -> None:
    branched(memory, "theirs", "ours", "neither")
    memory.set_block("side", "theirs", "changed there")
    memory.set_block("main", "ours", "changed here")
    heard: list[BlockChange] = []
    memory.on_block_change(heard.append)

    result = memory.merge_agents("main", "side")

    assert (result.merged, result.conflicts) == (("theirs",), ())
    assert {one.label: one.value for one in memory.blocks("main")} == {
        "theirs": "changed there",
        "ours": "changed here",
        "neither": "neither at first",
    }
    last = memory.block_history("main", "theirs")[-1]
    assert (last.version, last.reason) == (2, "merged from side")
    assert [change.label for change in heard] == ["theirs"]
    assert memory.block("side", "theirs").value == "changed there"
    assert memory.verify().ok


def test_a_block_both_changed_is_a_conflict_and_nothing_is_written_for_it(
    memory: Recollect,
) -> None:
    branched(memory, "plan", "other")
    memory.set_block("main", "plan", "north")
    memory.set_block("side", "plan", "south")
    memory.set_block("side", "other", "taken")

    result = memory.merge_agents("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("plan", "plan at first")
    assert (conflict.ours, conflict.theirs) == ("north", "south")
    assert memory.block("main", "plan").value == "north"
    assert result.merged == ("other",)


@pytest.mark.parametrize(
    ("choice", "value", "merged"),
    [("ours", "north", ()), ("theirs", "south", ("plan",)), ("east", "east", ("plan",))],
)
def test_a_conflict_is_settled_by_what_the_caller_takes(
    choice: str, value: str, merged: tuple[str, ...], memory: Recollect
) -> None:
    branched(memory, "plan")
    memory.set_block("main", "plan", "north")
    memory.set_block("side", "plan", "south")

    result = memory.merge_agents("main", "side", take={"plan": choice})

    assert (result.merged, result.conflicts) == (merged, ())
    assert memory.block("main", "plan").value == value
    assert memory.merge_agents("main", "side").conflicts == ()


def test_after_a_merge_only_what_changed_since_counts(memory: Recollect) -> None:
    branched(memory, "plan")
    memory.set_block("side", "plan", "south")
    memory.merge_agents("main", "side")
    memory.set_block("side", "plan", "further south")

    result = memory.merge_agents("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert memory.block("main", "plan").value == "further south"


def test_a_conflict_that_nobody_settled_is_one_the_next_time_too(memory: Recollect) -> None:
    branched(memory, "plan")
    memory.set_block("main", "plan", "north")
    memory.set_block("side", "plan", "south")
    memory.merge_agents("main", "side")

    result = memory.merge_agents("main", "side")

    assert [one.base for one in result.conflicts] == ["plan at first"]


def test_a_branch_takes_what_its_origin_learnt_in_the_meantime(
    memory: Recollect, clock: FakeClock
) -> None:
    branched(memory, "plan")
    clock.advance(minutes=1)
    memory.set_block("main", "plan", "north")
    memory.merge_agents("side", "main")
    clock.advance(minutes=1)
    memory.set_block("side", "plan", "north-west")

    result = memory.merge_agents("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert memory.block("main", "plan").value == "north-west"


def test_two_branches_of_one_agent_have_its_value_as_base(memory: Recollect) -> None:
    branched(memory, "plan")
    memory.set_block("main", "plan", "moved on")
    memory.branch_agent("main", "late")
    memory.set_block("side", "plan", "south")

    result = memory.merge_agents("late", "side")

    [conflict] = result.conflicts
    assert (conflict.base, conflict.ours) == ("plan at first", "moved on")


def test_without_a_common_origin_every_difference_is_a_conflict(memory: Recollect) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        memory.create_agent(name, default_blocks=False)
        memory.create_block("plan", value, agent=name)
        memory.create_block("same", "equal", agent=name)
    memory.create_block("more", "only there", agent="two")

    result = memory.merge_agents("one", "two")

    assert [(one.label, one.base, one.ours) for one in result.conflicts] == [
        ("plan", None, "north"),
        ("more", None, None),
    ]
    taken = memory.merge_agents("one", "two", take={"more": "theirs"})
    assert taken.merged == ("more",)
    assert memory.block("one", "more").value == "only there"


def test_a_block_made_in_the_branch_comes_along(memory: Recollect) -> None:
    branched(memory, "plan")
    memory.create_block("found", "a lamp", agent="side", limit=50, description="Finds.")

    result = memory.merge_agents("main", "side")

    found = memory.block("main", "found")
    assert result.merged == ("found",)
    assert (found.value, found.limit, found.description) == ("a lamp", 50, "Finds.")
    assert found.id != memory.block("side", "found").id


def test_a_block_deleted_there_stays_here(memory: Recollect) -> None:
    branched(memory, "plan")
    memory.delete_block("side", "plan")

    result = memory.merge_agents("main", "side")

    assert memory.block("main", "plan").value == "plan at first"
    assert any("no longer has a block 'plan'" in note for note in result.notes)


def test_a_block_deleted_here_stays_so_unless_it_was_changed_there(memory: Recollect) -> None:
    branched(memory, "plan", "note")
    memory.delete_block("main", "plan")
    memory.delete_block("main", "note")
    memory.set_block("side", "note", "changed there")

    result = memory.merge_agents("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("note", "note at first")
    assert (conflict.ours, conflict.theirs) == (None, "changed there")
    assert any("'plan' was deleted here" in note for note in result.notes)
    assert memory.blocks("main") == []
    memory.merge_agents("main", "side", take={"note": "theirs"})
    assert memory.block("main", "note").value == "changed there"


def test_a_read_only_block_is_left_as_it_is(memory: Recollect) -> None:
    branched(memory, "rules")
    memory.set_block("side", "rules", "other rules")
    memory.update_block("main", "rules", read_only=True)

    result = memory.merge_agents("main", "side")

    assert (result.merged, result.conflicts) == ((), ())
    assert any("read-only" in note for note in result.notes)


def test_a_value_over_our_limit_stops_the_whole_merge(memory: Recollect, tmp_path: Path) -> None:
    branched(memory, "plan", "other")
    memory.set_block("side", "other", "changed")
    memory.set_block("side", "plan", "x" * 30)
    memory.update_block("main", "plan", limit=20)
    before = rows(memory, tmp_path)

    with pytest.raises(TooLarge):
        memory.merge_agents("main", "side")

    assert rows(memory, tmp_path) == before


def test_passages_we_lack_are_added_with_their_evidence(memory: Recollect, ada: str) -> None:
    memory.branch_agent(ada, "side")
    new = memory.archival_insert("side", "Byron wrote about darkness.", tags=["poem"])
    memory.archival_insert("side", "punched cards come from LOOMS")
    memory.archival_insert(ada, "Only here.")

    result = memory.merge_agents(ada, "side")

    assert result.passages_added == 1
    copy = memory.archival_search(ada, "darkness")[0].memory
    assert (copy.agent_id, copy.tags) == (memory.agent(ada).id, ("poem",))
    assert copy.evidence[0].quote == "Byron wrote about darkness."
    links = [(one.relation, one.to_id) for one in explained(memory, copy.id).links]
    assert links == [("derived_from", new.id)]
    assert memory.merge_agents(ada, "side").passages_added == 0
    assert memory.verify().ok


def test_conversations_stay_where_they_are_and_the_notes_say_so(
    memory: Recollect, ada: str
) -> None:
    memory.branch_agent(ada, "side")

    result = memory.merge_agents(ada, "side")

    assert any("2 conversations of agent 'side' stay" in note for note in result.notes)
    assert len(memory.conversations(agent=ada)) == 2


def test_a_dry_run_reports_the_same_and_changes_nothing(
    memory: Recollect, ada: str, tmp_path: Path
) -> None:
    memory.branch_agent(ada, "side")
    memory.set_block("side", "persona", "changed")
    memory.archival_insert("side", "Something new.")
    before = rows(memory, tmp_path)

    planned = memory.merge_agents(ada, "side", dry_run=True)

    assert rows(memory, tmp_path) == before
    done = memory.merge_agents(ada, "side")
    assert (planned.merged, planned.passages_added) == (done.merged, done.passages_added)
    assert (planned.merged, planned.passages_added) == (("persona",), 1)


def test_a_choice_about_no_conflict_is_refused(memory: Recollect) -> None:
    branched(memory, "plan")

    with pytest.raises(InvalidInput, match="no conflict about plan"):
        memory.merge_agents("main", "side", take={"plan": "ours"})
    with pytest.raises(InvalidInput, match="take must be"):
        memory.merge_agents("main", "side", take="ours")  # type: ignore[arg-type]


def test_a_shared_block_is_not_changed_by_a_merge(memory: Recollect) -> None:
    memory.create_agent("one")
    memory.create_agent("two", default_blocks=False)
    memory.create_block("human", "Charles", agent="two")

    result = memory.merge_agents("one", "two")

    assert [one.label for one in result.conflicts] == ["human"]
    with pytest.raises(InvalidInput, match="shared here"):
        memory.merge_agents("one", "two", take={"human": "theirs"})


def test_an_agent_is_not_merged_into_itself(memory: Recollect, ada: str) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        memory.merge_agents(ada, ada)


@pytest.mark.parametrize("marks", [{"branched_from": 7, "merged": []}, {"merged": {"x": {"y": 1}}}])
def test_metadata_that_only_looks_like_an_origin_is_none(
    marks: dict[str, Any], memory: Recollect
) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        memory.create_agent(name, default_blocks=False, metadata=marks)
        memory.create_block("plan", value, agent=name)

    assert [one.base for one in memory.merge_agents("one", "two").conflicts] == [None]
