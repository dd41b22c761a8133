"""Copies of an agent go their own way; branches come together again, and nothing is guessed."""

from pathlib import Path
from typing import Any

import pytest

from recollect import (
    AlreadyExists,
    BlockChange,
    InvalidInput,
    LocalRecollect,
    NotFound,
    TooLarge,
)
from stored_agents import explained, rich_agent, rows
from support import FakeClock
from tables import each_row


@pytest.fixture
def ada(rec: LocalRecollect, clock: FakeClock, path: Path) -> str:
    """An agent with something of everything."""
    return rich_agent(rec, clock, path).name


def branched(rec: LocalRecollect, *labels: str) -> None:
    """Make an agent `main` with some blocks, and its branch `side`."""
    rec.agents.create("main", default_blocks=False)
    for label in labels:
        rec.blocks.create(label, f"{label} at first", agent="main")
    rec.agents.branch("main", "side")


# ── clones ──────────────────────────────────────────────────────────────────────────────────────


def test_a_clone_has_blocks_of_its_own_whose_history_begins_anew(
    rec: LocalRecollect, ada: str
) -> None:
    clone = rec.agents.clone(ada, "byron")

    rec.blocks.set(clone, "persona", "I am another.")
    assert rec.blocks.get(ada, "persona").value == "I am Ada.\nI like engines."
    first, _ = rec.blocks.history(clone, "persona")
    assert (first.version, first.value) == (1, "I am Ada.\nI like engines.")
    assert first.reason == "cloned from ada"
    assert (clone.system_prompt, clone.model) == ("Be exact.", "gpt-x")
    assert rec.blocks.get(clone, "notes").metadata == {"k": [1]}
    assert rec.maintenance.verify().ok


def test_a_clone_shares_what_was_shared(rec: LocalRecollect, ada: str) -> None:
    rec.agents.clone(ada, "byron")

    rec.blocks.set(ada, "human", "Charles")
    assert rec.blocks.get("byron", "human").value == "Charles"


def test_a_clone_has_the_archive_with_evidence_and_a_link_to_the_original(
    rec: LocalRecollect, ada: str
) -> None:
    original = rec.archive.search(ada, "looms")[0].memory

    rec.agents.clone(ada, "byron")

    copy = rec.archive.search("byron", "looms")[0].memory
    assert copy.id != original.id
    assert copy.evidence[0].source_id == original.evidence[0].source_id
    assert copy.observed_at == original.observed_at
    links = [(one.relation, one.to_id) for one in explained(rec, copy.id).links]
    assert links == [("derived_from", original.id)]
    assert [one.reason for one in explained(rec, copy.id).changes] == ["cloned from ada"]
    moved = rec.archive.search("byron", "Cambridge")[0].memory
    assert {one.relation for one in explained(rec, moved.id).links} == {
        "derived_from",
        "supersedes",
    }


def test_a_clone_has_the_conversations_only_if_asked(rec: LocalRecollect, ada: str) -> None:
    rec.agents.clone(ada, "silent")
    rec.agents.clone(ada, "talking", conversations=True)

    assert rec.conversations.list(agent="silent") == []
    assert [
        len(rec.conversations.messages(said)) for said in rec.conversations.list(agent="talking")
    ] == [1, 4]
    assert rec.conversations.search("London", agent="talking")
    assert rec.maintenance.verify().ok


def test_deleting_the_original_leaves_the_clone_whole(rec: LocalRecollect, ada: str) -> None:
    rec.agents.clone(ada, "byron", conversations=True)

    rec.agents.delete(ada)

    assert rec.archive.search("byron", "looms")[0].memory.evidence
    assert rec.maintenance.verify().ok


def test_deleting_a_clone_leaves_the_original_whole(rec: LocalRecollect, ada: str) -> None:
    rec.agents.clone(ada, "byron", conversations=True)

    rec.agents.delete("byron")

    assert rec.archive.search(ada, "looms")[0].memory.evidence
    assert rec.maintenance.verify().ok


def test_a_clone_needs_a_free_name(rec: LocalRecollect, ada: str, tmp_path: Path) -> None:
    before = rows(rec, tmp_path)

    with pytest.raises(AlreadyExists, match="'ada'"):
        rec.agents.clone(ada, "ada")

    assert rows(rec, tmp_path) == before


# ── branches ────────────────────────────────────────────────────────────────────────────────────


def test_a_branch_remembers_where_it_left(rec: LocalRecollect, ada: str) -> None:
    branch = rec.agents.branch(ada, "side")

    origin = branch.metadata["branched_from"]
    persona = rec.blocks.get(ada, "persona")
    assert (origin["agent_id"], origin["name"]) == (rec.agents.get(ada).id, "ada")
    assert origin["blocks"]["persona"]["block_id"] == persona.id
    assert origin["blocks"]["persona"]["version"] == persona.version
    assert [
        len(rec.conversations.messages(said)) for said in rec.conversations.list(agent=branch)
    ] == [1, 4]
    assert rec.maintenance.verify().ok


def test_a_branch_at_a_message_has_what_had_been_said_then(rec: LocalRecollect, ada: str) -> None:
    first = rec.conversations.list(agent=ada)[-1]
    message = rec.conversations.messages(first)[2]

    for name, at in {
        "by message": message,
        "by id": message.id,
        "by position": (first, 2),
    }.items():
        rec.agents.branch(ada, name, at=at)  # type: ignore[arg-type]
        [said] = rec.conversations.list(agent=name)
        assert [one.position for one in rec.conversations.messages(said)] == [0, 1, 2]
        assert said.ended_at is None
        assert rec.conversations.summaries(said)[0].last_position == 1
    assert rec.maintenance.verify().ok


def test_a_branch_does_not_know_a_summary_of_what_came_later(rec: LocalRecollect, ada: str) -> None:
    first = rec.conversations.list(agent=ada)[-1]

    rec.agents.branch(ada, "side", at=(first, 0))

    [said] = rec.conversations.list(agent="side")
    assert rec.conversations.summaries(said) == []
    assert [one.position for one in rec.conversations.messages_in_context(said)] == [0]


def test_a_branch_at_a_conversation_has_it_whole_and_nothing_later(
    rec: LocalRecollect, ada: str
) -> None:
    first = rec.conversations.list(agent=ada)[-1]

    rec.agents.branch(ada, "side", at=first)

    [said] = rec.conversations.list(agent="side")
    assert len(rec.conversations.messages(said)) == 4


@each_row(
    ("at", "error"),
    [
        ("nothing", NotFound),
        (("nothing", 0), NotFound),
        (7, InvalidInput),
        (("nothing",), InvalidInput),
        (("nothing", "0"), InvalidInput),
        (("nothing", -1), InvalidInput),
        ((10**400, 0), InvalidInput),
        (({}, 0), InvalidInput),
    ],
)
def test_a_branch_at_nothing_is_refused(
    at: Any, error: type[Exception], rec: LocalRecollect, ada: str
) -> None:
    with pytest.raises(error):
        rec.agents.branch(ada, "side", at=at)


def test_a_branch_at_what_another_agent_heard_is_refused(rec: LocalRecollect, ada: str) -> None:
    said = rec.conversations.start(agent="somebody")
    message = rec.conversations.append(said, "user", "hello")

    with pytest.raises(InvalidInput, match="not said to agent 'ada'"):
        rec.agents.branch(ada, "side", at=message)


# ── merges ──────────────────────────────────────────────────────────────────────────────────────


def test_a_block_only_they_changed_is_taken_and_one_only_we_changed_stays(
    rec: LocalRecollect,
) -> None:
    branched(rec, "theirs", "ours", "neither")
    rec.blocks.set("side", "theirs", "changed there")
    rec.blocks.set("main", "ours", "changed here")
    heard: list[BlockChange] = []
    rec.engine.on_block_change(heard.append)

    result = rec.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("theirs",), ())
    assert {one.label: one.value for one in rec.blocks.list("main")} == {
        "theirs": "changed there",
        "ours": "changed here",
        "neither": "neither at first",
    }
    last = rec.blocks.history("main", "theirs")[-1]
    assert (last.version, last.reason) == (2, "merged from side")
    assert [change.label for change in heard] == ["theirs"]
    assert rec.blocks.get("side", "theirs").value == "changed there"
    assert rec.maintenance.verify().ok


def test_a_block_both_changed_is_a_conflict_and_nothing_is_written_for_it(
    rec: LocalRecollect,
) -> None:
    branched(rec, "plan", "other")
    rec.blocks.set("main", "plan", "north")
    rec.blocks.set("side", "plan", "south")
    rec.blocks.set("side", "other", "taken")

    result = rec.agents.merge("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("plan", "plan at first")
    assert (conflict.ours, conflict.theirs) == ("north", "south")
    assert rec.blocks.get("main", "plan").value == "north"
    assert result.merged == ("other",)


@pytest.mark.parametrize(
    ("choice", "value", "merged"),
    [("ours", "north", ()), ("theirs", "south", ("plan",)), ("east", "east", ("plan",))],
)
def test_a_conflict_is_settled_by_what_the_caller_takes(
    choice: str, value: str, merged: tuple[str, ...], rec: LocalRecollect
) -> None:
    branched(rec, "plan")
    rec.blocks.set("main", "plan", "north")
    rec.blocks.set("side", "plan", "south")

    result = rec.agents.merge("main", "side", take={"plan": choice})

    assert (result.merged, result.conflicts) == (merged, ())
    assert rec.blocks.get("main", "plan").value == value
    assert rec.agents.merge("main", "side").conflicts == ()


@pytest.mark.parametrize("choice", ["Theirs", "THEIRS", " theirs ", "theirs\n"])
def test_taking_theirs_copies_their_value_however_the_word_is_written(
    choice: str, rec: LocalRecollect
) -> None:
    branched(rec, "plan")
    rec.blocks.set("main", "plan", "north")
    rec.blocks.set("side", "plan", "south")

    rec.agents.merge("main", "side", take={"plan": choice})

    assert rec.blocks.get("main", "plan").value == "south"


def test_taking_ours_keeps_our_value_however_the_word_is_written(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.set("main", "plan", "north")
    rec.blocks.set("side", "plan", "south")

    result = rec.agents.merge("main", "side", take={"plan": "Ours"})

    assert (result.merged, result.conflicts) == ((), ())
    assert rec.blocks.get("main", "plan").value == "north"


@pytest.mark.parametrize(
    ("choice", "value"), [("ours", None), ("theirs", "south"), ("east", "east")]
)
def test_a_block_deleted_here_and_changed_there_takes_the_side_that_is_chosen(
    choice: str, value: str | None, rec: LocalRecollect
) -> None:
    branched(rec, "plan")
    rec.blocks.delete("main", "plan")
    rec.blocks.set("side", "plan", "south")

    rec.agents.merge("main", "side", take={"plan": choice})

    values = {block.label: block.value for block in rec.blocks.list("main")}
    assert values.get("plan") == value


@pytest.mark.parametrize("choice", ["ours", "theirs", "east"])
@pytest.mark.parametrize("changed", ["main", "side", "neither"])
def test_a_choice_about_a_block_without_conflict_is_refused_and_writes_nothing(
    choice: str, changed: str, rec: LocalRecollect
) -> None:
    branched(rec, "plan")
    if changed != "neither":
        rec.blocks.set(changed, "plan", "south")
    before = rec.blocks.get("main", "plan").value

    with pytest.raises(InvalidInput, match="no conflict about plan"):
        rec.agents.merge("main", "side", take={"plan": choice})

    assert rec.blocks.get("main", "plan").value == before


@pytest.mark.parametrize("choice", ["ours", "theirs", "east"])
def test_a_choice_about_a_block_that_only_we_have_is_refused(
    choice: str, rec: LocalRecollect
) -> None:
    branched(rec, "plan")
    rec.blocks.delete("side", "plan")

    with pytest.raises(InvalidInput, match="no conflict about plan"):
        rec.agents.merge("main", "side", take={"plan": choice})


def test_after_a_merge_only_what_changed_since_counts(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.set("side", "plan", "south")
    rec.agents.merge("main", "side")
    rec.blocks.set("side", "plan", "further south")

    result = rec.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert rec.blocks.get("main", "plan").value == "further south"


def test_a_conflict_that_nobody_settled_is_one_the_next_time_too(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.set("main", "plan", "north")
    rec.blocks.set("side", "plan", "south")
    rec.agents.merge("main", "side")

    result = rec.agents.merge("main", "side")

    assert [one.base for one in result.conflicts] == ["plan at first"]


def test_a_branch_takes_what_its_origin_learnt_in_the_meantime(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    branched(rec, "plan")
    clock.advance(minutes=1)
    rec.blocks.set("main", "plan", "north")
    rec.agents.merge("side", "main")
    clock.advance(minutes=1)
    rec.blocks.set("side", "plan", "north-west")

    result = rec.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == (("plan",), ())
    assert rec.blocks.get("main", "plan").value == "north-west"


def test_two_branches_of_one_agent_have_its_value_as_base(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.set("main", "plan", "moved on")
    rec.agents.branch("main", "late")
    rec.blocks.set("side", "plan", "south")

    result = rec.agents.merge("late", "side")

    [conflict] = result.conflicts
    assert (conflict.base, conflict.ours) == ("plan at first", "moved on")


def test_without_a_common_origin_every_difference_is_a_conflict(rec: LocalRecollect) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        rec.agents.create(name, default_blocks=False)
        rec.blocks.create("plan", value, agent=name)
        rec.blocks.create("same", "equal", agent=name)
    rec.blocks.create("more", "only there", agent="two")

    result = rec.agents.merge("one", "two")

    assert [(one.label, one.base, one.ours) for one in result.conflicts] == [
        ("plan", None, "north"),
        ("more", None, None),
    ]
    taken = rec.agents.merge("one", "two", take={"more": "theirs"})
    assert taken.merged == ("more",)
    assert rec.blocks.get("one", "more").value == "only there"


def test_a_block_made_in_the_branch_comes_along(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.create("found", "a lamp", agent="side", limit=50, description="Finds.")

    result = rec.agents.merge("main", "side")

    found = rec.blocks.get("main", "found")
    assert result.merged == ("found",)
    assert (found.value, found.limit, found.description) == ("a lamp", 50, "Finds.")
    assert found.id != rec.blocks.get("side", "found").id


def test_a_block_deleted_there_stays_here(rec: LocalRecollect) -> None:
    branched(rec, "plan")
    rec.blocks.delete("side", "plan")

    result = rec.agents.merge("main", "side")

    assert rec.blocks.get("main", "plan").value == "plan at first"
    assert any("no longer has a block 'plan'" in note for note in result.notes)


def test_a_block_deleted_here_stays_so_unless_it_was_changed_there(rec: LocalRecollect) -> None:
    branched(rec, "plan", "note")
    rec.blocks.delete("main", "plan")
    rec.blocks.delete("main", "note")
    rec.blocks.set("side", "note", "changed there")

    result = rec.agents.merge("main", "side")

    [conflict] = result.conflicts
    assert (conflict.label, conflict.base) == ("note", "note at first")
    assert (conflict.ours, conflict.theirs) == (None, "changed there")
    assert any("'plan' was deleted here" in note for note in result.notes)
    assert rec.blocks.list("main") == []
    rec.agents.merge("main", "side", take={"note": "theirs"})
    assert rec.blocks.get("main", "note").value == "changed there"


def test_a_read_only_block_is_left_as_it_is(rec: LocalRecollect) -> None:
    branched(rec, "rules")
    rec.blocks.set("side", "rules", "other rules")
    rec.blocks.update("main", "rules", read_only=True)

    result = rec.agents.merge("main", "side")

    assert (result.merged, result.conflicts) == ((), ())
    assert any("read-only" in note for note in result.notes)


def test_a_value_over_our_limit_stops_the_whole_merge(rec: LocalRecollect, tmp_path: Path) -> None:
    branched(rec, "plan", "other")
    rec.blocks.set("side", "other", "changed")
    rec.blocks.set("side", "plan", "x" * 30)
    rec.blocks.update("main", "plan", limit=20)
    before = rows(rec, tmp_path)

    with pytest.raises(TooLarge):
        rec.agents.merge("main", "side")

    assert rows(rec, tmp_path) == before


def test_passages_we_lack_are_added_with_their_evidence(rec: LocalRecollect, ada: str) -> None:
    rec.agents.branch(ada, "side")
    new = rec.archive.insert("side", "Byron wrote about darkness.", tags=["poem"])
    rec.archive.insert("side", "punched cards come from LOOMS")
    rec.archive.insert(ada, "Only here.")

    result = rec.agents.merge(ada, "side")

    assert result.passages_added == 1
    copy = rec.archive.search(ada, "darkness")[0].memory
    assert (copy.agent_id, copy.tags) == (rec.agents.get(ada).id, ("poem",))
    assert copy.evidence[0].quote == "Byron wrote about darkness."
    links = [(one.relation, one.to_id) for one in explained(rec, copy.id).links]
    assert links == [("derived_from", new.id)]
    assert rec.agents.merge(ada, "side").passages_added == 0
    assert rec.maintenance.verify().ok


def test_conversations_stay_where_they_are_and_the_notes_say_so(
    rec: LocalRecollect, ada: str
) -> None:
    rec.agents.branch(ada, "side")

    result = rec.agents.merge(ada, "side")

    assert any("2 conversations of agent 'side' stay" in note for note in result.notes)
    assert len(rec.conversations.list(agent=ada)) == 2


def test_a_dry_run_reports_the_same_and_changes_nothing(
    rec: LocalRecollect, ada: str, tmp_path: Path
) -> None:
    rec.agents.branch(ada, "side")
    rec.blocks.set("side", "persona", "changed")
    rec.archive.insert("side", "Something new.")
    before = rows(rec, tmp_path)

    planned = rec.agents.merge(ada, "side", dry_run=True)

    assert rows(rec, tmp_path) == before
    done = rec.agents.merge(ada, "side")
    assert (planned.merged, planned.passages_added) == (done.merged, done.passages_added)
    assert (planned.merged, planned.passages_added) == (("persona",), 1)


def test_a_choice_about_no_conflict_is_refused(rec: LocalRecollect) -> None:
    branched(rec, "plan")

    with pytest.raises(InvalidInput, match="no conflict about plan"):
        rec.agents.merge("main", "side", take={"plan": "ours"})
    with pytest.raises(InvalidInput, match="take must be"):
        rec.agents.merge("main", "side", take="ours")  # type: ignore[arg-type]


def test_a_shared_block_is_not_changed_by_a_merge(rec: LocalRecollect) -> None:
    rec.agents.create("one")
    rec.agents.create("two", default_blocks=False)
    rec.blocks.create("human", "Charles", agent="two")

    result = rec.agents.merge("one", "two")

    assert [one.label for one in result.conflicts] == ["human"]
    with pytest.raises(InvalidInput, match="shared here"):
        rec.agents.merge("one", "two", take={"human": "theirs"})


def test_an_agent_is_not_merged_into_itself(rec: LocalRecollect, ada: str) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        rec.agents.merge(ada, ada)


@pytest.mark.parametrize("marks", [{"branched_from": 7, "merged": []}, {"merged": {"x": {"y": 1}}}])
def test_metadata_that_only_looks_like_an_origin_is_none(
    marks: dict[str, Any], rec: LocalRecollect
) -> None:
    for name, value in (("one", "north"), ("two", "south")):
        rec.agents.create(name, default_blocks=False, metadata=marks)
        rec.blocks.create("plan", value, agent=name)

    assert [one.base for one in rec.agents.merge("one", "two").conflicts] == [None]
