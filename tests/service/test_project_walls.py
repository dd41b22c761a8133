"""What an agent said in one project stays out of another's bundle; its text is its project's."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from recollect import Block, InvalidInput, MessageHit, Recollect, Retrieval


@pytest.fixture
def both(memory: Recollect) -> Recollect:
    """An agent that worked in two projects and in none."""
    memory.create_agent("coder", model="gpt-4o")
    for project, word in (("alpha", "walnut"), ("beta", "almond"), (None, "cashew")):
        talk = memory.start_conversation(agent="coder", project=project)
        memory.append_message(talk, "user", f"The staging server is called {word}.")
        memory.compact(talk, force=True, mode="all", keep_last=0)
        memory.end_conversation(talk)
    return memory


def test_a_bundle_of_one_project_holds_nothing_said_in_another(both: Recollect) -> None:
    text = both.context_for("the staging server", agent="coder", project="beta").text

    assert "almond" in text
    assert "cashew" in text  # of no project: the agent's own
    assert "walnut" not in text


def test_a_search_sees_all_of_an_agents_past_and_can_be_explained(both: Recollect) -> None:
    hits: list[MessageHit] = both.search_messages("staging server", agent="coder")

    assert {hit.message.content.split()[-1] for hit in hits} == {"walnut.", "almond.", "cashew."}
    logged = both.explain(hits[0].retrieval_id or "")
    assert isinstance(logged, Retrieval)
    assert {item.item_id for item in logged.context} == {hit.message.id for hit in hits}


def test_a_file_opened_without_a_project_leaves_no_text(memory: Recollect, tmp_path: Path) -> None:
    memory.create_agent("coder")
    (tmp_path / "notes.md").write_text("zanzibar")
    memory.open_files("coder", ["notes.md"], roots=[tmp_path])

    assert [one.text for one in memory.opened_files("coder")] == ["zanzibar"]
    with pytest.raises(InvalidInput, match="pass project="):
        memory.search_files("zanzibar")
    memory.delete_agent("coder")
    assert memory.status().counts["files"] == 0
    assert b"zanzibar" not in memory._store.path.read_bytes()


def test_what_is_kept_of_files_can_be_forgotten(memory: Recollect, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"zanzibar of {name}")
    memory.index_files(project=tmp_path)

    assert memory.forget_files(["a.md"], project=tmp_path) == 1
    assert [Path(hit.path).name for hit in memory.search_files("zanzibar", project=tmp_path)] == [
        "b.md"
    ]
    assert memory.forget_files(project=tmp_path) == 1
    assert memory.status().counts["files"] == 0
    assert memory.verify().ok


def test_an_agents_own_state_survives_new_metadata(memory: Recollect) -> None:
    memory.create_agent("ada")
    memory.set_block("ada", "persona", "one")
    memory.branch_agent("ada", "branch")
    memory.update_agent("branch", metadata={"colour": "green"})
    memory.append_block("branch", "persona", "two")

    merged = memory.merge_agents("ada", "branch")

    assert merged.conflicts == ()
    assert memory.block("ada", "persona").value == "one\ntwo"
    assert memory.agent("branch").metadata["colour"] == "green"


def test_an_agent_that_came_by_being_named_gets_its_blocks_when_one_is_written(
    memory: Recollect,
) -> None:
    memory.start_conversation(agent="ada")
    memory.load_skill("ada", "remember-well")
    memory.set_block("ada", "persona", "I am Ada.")

    labels = {block.label for block in memory.blocks("ada")}
    assert {"persona", "human", "style", "skills", "loaded_skills"} <= labels


def test_the_mark_of_blocks_changes_with_whatever_is_seen(memory: Recollect) -> None:
    memory.create_agent("ada")
    shared = memory.create_block("team", "we", scope="global")
    marks = [memory.blocks_mark("ada")]
    changes: tuple[Callable[[], Block], ...] = (
        lambda: memory.attach_block("ada", shared),
        lambda: memory.append_block(None, shared, "all"),
        lambda: memory.update_block("ada", "persona", hidden=True),
        lambda: memory.detach_block("ada", "team"),
        lambda: memory.create_block("goals", "x", agent="ada"),
        lambda: memory.delete_block("ada", "goals"),
    )
    for change in changes:
        before = memory.blocks_mark("ada")
        assert before == memory.blocks_mark("ada")
        change()
        marks.append(memory.blocks_mark("ada"))

    assert all(one != other for one, other in pairwise(marks))
