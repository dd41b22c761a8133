"""What an agent said in one project stays out of another's bundle; its text is its project's."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from recollect import Block, InvalidInput, LocalRecollect, MessageHit, Retrieval


@pytest.fixture
def both(memory: LocalRecollect) -> LocalRecollect:
    """An agent that worked in two projects and in none."""
    memory.agents.create("coder", model="gpt-4o")
    for project, word in (("alpha", "walnut"), ("beta", "almond"), (None, "cashew")):
        talk = memory.conversations.start(agent="coder", project=project)
        memory.conversations.append(talk, "user", f"The staging server is called {word}.")
        memory.conversations.compact(talk, force=True, mode="all", keep_last=0)
        memory.conversations.end(talk)
    return memory


def test_a_bundle_of_one_project_holds_nothing_said_in_another(both: LocalRecollect) -> None:
    text = both.context_for("the staging server", agent="coder", project="beta").text

    assert "almond" in text
    assert "cashew" in text  # of no project: the agent's own
    assert "walnut" not in text


def test_a_search_sees_all_of_an_agents_past_and_can_be_explained(both: LocalRecollect) -> None:
    hits: list[MessageHit] = both.conversations.search("staging server", agent="coder")

    assert {hit.message.content.split()[-1] for hit in hits} == {"walnut.", "almond.", "cashew."}
    logged = both.explain(hits[0].retrieval_id or "")
    assert isinstance(logged, Retrieval)
    assert {item.item_id for item in logged.context} == {hit.message.id for hit in hits}


def test_a_file_opened_without_a_project_leaves_no_text(memory: LocalRecollect, tmp_path: Path) -> None:
    memory.agents.create("coder")
    (tmp_path / "notes.md").write_text("zanzibar")
    memory.files.open("coder", ["notes.md"], roots=[tmp_path])

    assert [one.text for one in memory.files.list_open("coder")] == ["zanzibar"]
    with pytest.raises(InvalidInput, match="pass project="):
        memory.files.search("zanzibar")
    memory.agents.delete("coder")
    assert memory.maintenance.status().counts["files"] == 0
    assert b"zanzibar" not in memory._store.path.read_bytes()


def test_what_is_kept_of_files_can_be_forgotten(memory: LocalRecollect, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"zanzibar of {name}")
    memory.files.index(project=tmp_path)

    assert memory.files.forget(["a.md"], project=tmp_path) == 1
    assert [Path(hit.path).name for hit in memory.files.search("zanzibar", project=tmp_path)] == [
        "b.md"
    ]
    assert memory.files.forget(project=tmp_path) == 1
    assert memory.maintenance.status().counts["files"] == 0
    assert memory.maintenance.verify().ok


def test_an_agents_own_state_survives_new_metadata(memory: LocalRecollect) -> None:
    memory.agents.create("ada")
    memory.blocks.set("ada", "persona", "one")
    memory.agents.branch("ada", "branch")
    memory.agents.update("branch", metadata={"colour": "green"})
    memory.blocks.append("branch", "persona", "two")

    merged = memory.agents.merge("ada", "branch")

    assert merged.conflicts == ()
    assert memory.blocks.get("ada", "persona").value == "one\ntwo"
    assert memory.agents.get("branch").metadata["colour"] == "green"


def test_an_agent_that_came_by_being_named_gets_its_blocks_when_one_is_written(
    memory: LocalRecollect,
) -> None:
    memory.conversations.start(agent="ada")
    memory.skills.load("ada", "remember-well")
    memory.blocks.set("ada", "persona", "I am Ada.")

    labels = {block.label for block in memory.blocks.list("ada")}
    assert {"persona", "human", "style", "skills", "loaded_skills"} <= labels


def test_the_mark_of_blocks_changes_with_whatever_is_seen(memory: LocalRecollect) -> None:
    memory.agents.create("ada")
    shared = memory.blocks.create("team", "we", scope="global")
    marks = [memory.blocks.fingerprint("ada")]
    changes: tuple[Callable[[], Block], ...] = (
        lambda: memory.blocks.attach("ada", shared),
        lambda: memory.blocks.append(None, shared, "all"),
        lambda: memory.blocks.update("ada", "persona", hidden=True),
        lambda: memory.blocks.detach("ada", "team"),
        lambda: memory.blocks.create("goals", "x", agent="ada"),
        lambda: memory.blocks.delete("ada", "goals"),
    )
    for change in changes:
        before = memory.blocks.fingerprint("ada")
        assert before == memory.blocks.fingerprint("ada")
        change()
        marks.append(memory.blocks.fingerprint("ada"))

    assert all(one != other for one, other in pairwise(marks))
