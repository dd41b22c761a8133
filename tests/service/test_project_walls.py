"""What an agent said in one project stays out of another's bundle; its text is its project's."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from recollect import Block, InvalidInput, LocalRecollect, MessageHit, Retrieval
from support import file_store


@pytest.fixture
def both(rec: LocalRecollect) -> LocalRecollect:
    """An agent that worked in two projects and in none."""
    rec.agents.create("coder", model="gpt-4o")
    for project, word in (("alpha", "walnut"), ("beta", "almond"), (None, "cashew")):
        talk = rec.conversations.start(agent="coder", project=project)
        rec.conversations.append(talk, "user", f"The staging server is called {word}.")
        rec.conversations.compact(talk, force=True, mode="all", keep_last=0)
        rec.conversations.end(talk)
    return rec


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


def test_a_file_opened_without_a_project_leaves_no_text(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.agents.create("coder")
    (tmp_path / "notes.md").write_text("zanzibar")
    rec.files.open("coder", ["notes.md"], roots=[tmp_path])

    assert [window.text for window in rec.files.list_open("coder")] == ["zanzibar"]
    with pytest.raises(InvalidInput, match="pass project="):
        rec.files.search("zanzibar")
    rec.agents.delete("coder")
    assert rec.maintenance.status().counts["files"] == 0
    assert b"zanzibar" not in file_store(rec).path.read_bytes()


def test_what_is_kept_of_files_can_be_forgotten(rec: LocalRecollect, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"zanzibar of {name}")
    rec.files.index(project=tmp_path)

    assert rec.files.forget(["a.md"], project=tmp_path).removed["files"] == 1
    assert [Path(hit.path).name for hit in rec.files.search("zanzibar", project=tmp_path)] == [
        "b.md"
    ]
    assert rec.files.forget(project=tmp_path).removed["files"] == 1
    assert rec.maintenance.status().counts["files"] == 0
    assert rec.maintenance.verify().ok


def test_an_agents_own_state_survives_new_metadata(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    rec.blocks.set("ada", "persona", "one")
    rec.agents.branch("ada", "branch")
    rec.agents.update("branch", metadata={"colour": "green"})
    rec.blocks.append("branch", "persona", "two")

    merged = rec.agents.merge("ada", "branch")

    assert merged.conflicts == ()
    assert rec.blocks.get("ada", "persona").value == "one\ntwo"
    assert rec.agents.get("branch").metadata["colour"] == "green"


def test_an_agent_that_came_by_being_named_gets_its_blocks_when_one_is_written(
    rec: LocalRecollect,
) -> None:
    rec.conversations.start(agent="ada")
    rec.skills.load("ada", "remember-well")
    rec.blocks.set("ada", "persona", "I am Ada.")

    labels = {block.label for block in rec.blocks.list("ada")}
    assert {"persona", "human", "style", "skills", "loaded_skills"} <= labels


def test_the_mark_of_blocks_changes_with_whatever_is_seen(rec: LocalRecollect) -> None:
    rec.agents.create("ada")
    shared = rec.blocks.create("team", "we", scope="global")
    marks = [rec.blocks.fingerprint("ada")]
    changes: tuple[Callable[[], Block], ...] = (
        lambda: rec.blocks.attach("ada", shared),
        lambda: rec.blocks.append(None, shared, "all"),
        lambda: rec.blocks.update("ada", "persona", hidden=True),
        lambda: rec.blocks.detach("ada", "team"),
        lambda: rec.blocks.create("goals", "x", agent="ada"),
        lambda: rec.blocks.delete("ada", "goals"),
    )
    for change in changes:
        before = rec.blocks.fingerprint("ada")
        assert before == rec.blocks.fingerprint("ada")
        change()
        marks.append(rec.blocks.fingerprint("ada"))

    assert all(window != other for window, other in pairwise(marks))
