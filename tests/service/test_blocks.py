"""Blocks: who sees which, who edits what, what is kept of every edit."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from recollect import (
    AlreadyExists,
    BlockChange,
    BlockConflict,
    BlockReadOnly,
    InvalidInput,
    LocalRecollect,
    NotFound,
    TooLarge,
)
from support import FakeClock
from tables import each_row

SECRET = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def two(rec: LocalRecollect) -> LocalRecollect:
    """A memory with the agents anna and ben."""
    rec.agents.create("anna")
    rec.agents.create("ben")
    return rec


def labels(rec: LocalRecollect, *args: Any, **where: Any) -> list[str]:
    return [block.label for block in rec.blocks.list(*args, **where)]


def values(rec: LocalRecollect, agent: str, **where: Any) -> dict[str, str]:
    return {block.label: block.value for block in rec.blocks.list(agent, **where)}


# Who sees what


def test_an_agent_starts_with_its_own_and_the_shared_blocks_in_the_order_of_the_prompt(
    two: LocalRecollect,
) -> None:
    anna = {block.label: block for block in two.blocks.list("anna")}
    ben = {block.label: block for block in two.blocks.list("ben")}

    assert list(anna) == ["persona", "human", "skills", "loaded_skills", "style"]
    assert [block.label for block in anna.values() if block.read_only] == [
        "skills",
        "loaded_skills",
    ]
    assert {label for label in anna if anna[label].id == ben[label].id} == {"human", "style"}
    assert all(block.version == 1 and block.value == "" for block in anna.values())


def test_an_agents_own_block_is_never_seen_or_edited_by_another(two: LocalRecollect) -> None:
    two.blocks.set("anna", "persona", "anna's own")
    two.blocks.create("notes", "private", agent="anna")

    assert two.blocks.get("ben", "persona").value == ""
    for reach in (two.blocks.get, two.blocks.history, two.blocks.delete):
        with pytest.raises(NotFound, match="agent 'ben' has no block 'notes'; it has persona"):
            reach("ben", "notes")
    with pytest.raises(NotFound):
        two.blocks.append("ben", "notes", "intruder")
    assert two.blocks.search("private", agent="ben") == []
    assert [hit.block.label for hit in two.blocks.search("private", agent="anna")] == ["notes"]


def test_a_shared_block_edited_by_two_agents_is_one_text(two: LocalRecollect) -> None:
    two.blocks.append("anna", "human", "likes tea")
    two.blocks.append("ben", "human", "likes walks")

    assert two.blocks.get("anna", "human") == two.blocks.get("ben", "human")
    assert two.blocks.get("ben", "human").value == "likes tea\nlikes walks"
    assert two.blocks.get("anna", "human").version == 3


def test_a_project_block_is_seen_from_that_project_by_every_agent_and_from_no_other(
    two: LocalRecollect,
) -> None:
    two.blocks.create("gotchas", "mind the gap", project="site", scope="project")

    assert two.blocks.get("anna", "gotchas", project="site").value == "mind the gap"
    assert two.blocks.get("ben", "gotchas", project="site").value == "mind the gap"
    assert "gotchas" not in labels(two, "anna")
    assert "gotchas" not in labels(two, "anna", project="other")
    assert labels(two, project="site") == ["gotchas"]
    assert labels(two, project="never written") == []


def test_a_conversations_block_is_seen_in_that_conversation_alone(two: LocalRecollect) -> None:
    here = two.conversations.start(agent="anna")
    there = two.conversations.start(agent="anna")
    two.blocks.create("plan", "step one", conversation=here, scope="session")

    assert two.blocks.get("anna", "plan", conversation=here).value == "step one"
    assert "plan" not in labels(two, "anna", conversation=there)
    assert "plan" not in labels(two, "anna")
    with pytest.raises(InvalidInput, match="is not one of agent 'ben'"):
        two.blocks.list("ben", conversation=here)


def test_a_conversation_brings_its_project_and_its_agent_along(two: LocalRecollect) -> None:
    talk = two.conversations.start(agent="anna", project="site")
    two.blocks.set(None, "project", "uses pnpm", project="site")

    assert two.blocks.get(None, "project", conversation=talk).value == "uses pnpm"
    assert "persona" in labels(two, conversation=talk)


def test_of_two_blocks_with_one_label_the_narrower_is_meant(two: LocalRecollect) -> None:
    talk = two.conversations.start(agent="anna", project="site")
    two.blocks.create("rules", "of everybody", scope="global")
    two.blocks.create("rules", "of the project", project="site", scope="project")
    shared = next(block for block in two.blocks.list() if block.value == "of everybody")
    two.blocks.attach("ben", shared)

    assert two.blocks.get("ben", "rules").value == "of everybody"
    assert two.blocks.get("ben", "rules", project="site").value == "of the project"
    two.blocks.create("rules", "of anna", agent="anna")
    assert two.blocks.get("anna", "rules", project="site").value == "of anna"
    two.blocks.create("rules", "of the talk", conversation=talk, scope="session")
    assert two.blocks.get("anna", "rules", conversation=talk).value == "of the talk"
    assert labels(two, "anna", conversation=talk).count("rules") == 1


def test_an_edit_by_label_changes_the_block_that_is_seen(two: LocalRecollect) -> None:
    two.blocks.create("rules", "of the project", project="site", scope="project")
    two.blocks.create("rules", "of anna", agent="anna")

    two.blocks.set("anna", "rules", "changed", project="site")

    assert two.blocks.get("ben", "rules", project="site").value == "of the project"
    assert two.blocks.get("anna", "rules").value == "changed"


@pytest.mark.parametrize(
    ("arguments", "message_part"),
    [
        ({"scope": "agent"}, "scope agent needs the agent"),
        ({"scope": "project"}, "scope project needs the project"),
        ({"scope": "session"}, "scope session needs the conversation"),
        ({"scope": "repo", "project": "p"}, "a block is of global, project, agent or session"),
        ({"scope": "planet"}, "scope 'planet' is not known"),
    ],
)
def test_a_block_without_its_owner_is_refused(
    rec: LocalRecollect, arguments: dict[str, str], message_part: str
) -> None:
    with pytest.raises(InvalidInput, match=message_part):
        rec.blocks.create("notes", "x", **arguments)  # type: ignore[arg-type]

    assert rec.blocks.list() == []


def test_a_block_of_an_agent_and_a_project_needs_a_scope_that_chooses_its_owner(
    two: LocalRecollect,
) -> None:
    before = two.blocks.list()
    choose = (
        "a block has one owner, but agent and project were given: pass only one of them, "
        "or choose the owner with scope='agent' or scope='project'"
    )

    with pytest.raises(InvalidInput, match=re.escape(choose)):
        two.blocks.create("rules", "x", agent="anna", project="site")
    assert two.blocks.list() == before

    of_project = two.blocks.create("rules", "x", agent="anna", project="site", scope="project")
    of_agent = two.blocks.create("rules", "y", agent="anna", project="site", scope="agent")

    assert (of_project.scope, of_agent.scope) == ("project", "agent")
    assert two.blocks.get("ben", "rules", project="site") == of_project
    assert two.blocks.get("anna", "rules") == of_agent


def test_a_block_of_an_agent_and_its_conversation_needs_a_scope_too(two: LocalRecollect) -> None:
    talk = two.conversations.start(agent="anna")

    with pytest.raises(InvalidInput, match="scope='agent' or scope='session'"):
        two.blocks.create("plan", "x", agent="anna", conversation=talk)

    made = two.blocks.create("plan", "x", agent="anna", conversation=talk, scope="session")
    assert (made.scope, made.owner_id) == ("session", talk.id)


@pytest.mark.parametrize("agent", [None, "anna"])
def test_a_block_made_for_a_conversation_is_the_conversations(
    rec: LocalRecollect, agent: str | None
) -> None:
    talk = rec.conversations.start(agent=agent)

    made = rec.blocks.create("plan", "step one", conversation=talk)

    assert (made.scope, made.owner_id) == ("session", talk.id)


@pytest.mark.parametrize(
    "label",
    ["", "  ", "a\nb", "<b>", "a&b", 'a"b', "a'b", "a/b", "\x00\x01", "x" * 101, SECRET, 5, None],
)
def test_a_label_that_a_tag_cannot_carry_is_refused(rec: LocalRecollect, label: object) -> None:
    with pytest.raises(InvalidInput):
        rec.blocks.create(label)  # type: ignore[arg-type]


def test_a_second_block_of_one_label_is_refused_for_an_agent_a_project_and_a_conversation(
    two: LocalRecollect,
) -> None:
    talk = two.conversations.start(agent="anna")
    for where in (
        {"agent": "anna"},
        {"agent": "anna", "scope": "global"},
        {"project": "p", "scope": "project"},
        {"conversation": talk, "scope": "session"},
    ):
        label = "notes" if "agent" not in where else f"notes {len(where)}"
        two.blocks.create(label, **where)
        with pytest.raises(AlreadyExists, match="has a block 'notes"):
            two.blocks.create(label, **where)


# Sharing


def test_only_a_global_block_can_be_attached_and_only_once_per_label(two: LocalRecollect) -> None:
    shared = two.blocks.create("team", "we", scope="global")
    own = two.blocks.create("notes", agent="ben")

    with pytest.raises(InvalidInput, match="is of agent scope; only a global block can be shared"):
        two.blocks.attach("anna", own)
    assert two.blocks.attach("anna", shared.id) == shared
    assert two.blocks.attach("anna", shared) == shared
    assert labels(two, "anna").count("team") == 1
    two.blocks.create("team", "mine", agent="ben")
    with pytest.raises(AlreadyExists, match="agent 'ben' has a block 'team' already"):
        two.blocks.attach("ben", shared)


def test_a_detached_block_stays_for_others_and_an_own_one_cannot_be_detached(
    two: LocalRecollect,
) -> None:
    two.blocks.set("anna", "human", "likes tea")
    detached = two.blocks.detach("anna", "human")

    assert "human" not in labels(two, "anna")
    assert two.blocks.get("ben", "human").value == "likes tea"
    with pytest.raises(NotFound):
        two.blocks.set("anna", "human", "unseen")
    with pytest.raises(InvalidInput, match="is the agent's own and would be lost"):
        two.blocks.detach("anna", "persona")
    assert two.blocks.attach("anna", detached).value == "likes tea"


def test_a_deleted_shared_block_is_gone_for_everybody_with_its_history(two: LocalRecollect) -> None:
    gone = two.blocks.set("anna", "human", "zebra")
    two.blocks.delete("anna", "human")

    assert "human" not in labels(two, "ben")
    for reach in (two.blocks.get, two.blocks.history, two.blocks.delete):
        with pytest.raises(NotFound, match="no block"):
            reach(None, gone.id)
    assert two.blocks.search("zebra", agent="ben") == []
    assert two.maintenance.verify().ok


# Reading only, hidden, settings


def test_a_read_only_block_is_written_by_the_system_alone(two: LocalRecollect) -> None:
    edits: list[Callable[..., Any]] = [
        lambda **how: two.blocks.set("anna", "skills", "x", **how),
        lambda **how: two.blocks.append("anna", "skills", "x", **how),
        lambda **how: two.blocks.insert("anna", "skills", "x", **how),
        lambda **how: two.blocks.replace("anna", "skills", "x", "y", **how),
        lambda **how: two.blocks.rollback("anna", "skills", 1, **how),
    ]
    for edit in edits:
        for by in ("user", "agent"):
            with pytest.raises(BlockReadOnly, match="'skills' is read-only"):
                edit(by=by)
    two.blocks.set("anna", "skills", "- pdf", by="system")

    assert [version.by for version in two.blocks.history("anna", "skills")] == ["system", "system"]


def test_changed_settings_are_a_version_of_their_own_and_are_checked(two: LocalRecollect) -> None:
    two.blocks.set("anna", "persona", "12345")
    changed = two.blocks.update(
        "anna",
        "persona",
        new_label="self",
        description="who I am",
        limit=5,
        read_only=True,
        hidden=True,
        metadata={"k": 1},
    )

    assert (changed.label, changed.description, changed.limit) == ("self", "who I am", 5)
    assert (changed.read_only, changed.hidden, changed.metadata) == (True, True, {"k": 1})
    assert (changed.value, changed.version) == ("12345", 3)
    assert two.blocks.get("anna", "self") == changed
    with pytest.raises(NotFound):
        two.blocks.get("anna", "persona")
    with pytest.raises(TooLarge, match=re.escape("Exceeds 4 character limit (requested 5)")):
        two.blocks.update("anna", "self", limit=4)
    with pytest.raises(AlreadyExists):
        two.blocks.update("anna", "self", new_label="human")
    for limit in (0, -1, True, 1.5, 1_000_001):
        with pytest.raises(InvalidInput, match="limit must be a whole number"):
            two.blocks.update("anna", "self", limit=limit)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour"):
        two.blocks.update("anna", "self", colour="red")  # type: ignore[call-arg]
    assert two.blocks.get("anna", "self") == changed
    assert two.blocks.update("anna", "self", limit=None).limit is None


def test_a_shared_block_cannot_take_a_label_that_another_of_its_agents_has(
    two: LocalRecollect,
) -> None:
    two.blocks.create("mine", agent="ben")

    with pytest.raises(AlreadyExists, match="an agent that has it"):
        two.blocks.update("anna", "human", new_label="mine")
    renamed = two.blocks.update("anna", "human", new_label="user")
    assert two.blocks.get("ben", "user") == renamed


# Versions


def test_a_late_writer_is_refused_with_both_values(two: LocalRecollect) -> None:
    seen = two.blocks.set("anna", "persona", "first")
    two.blocks.set("anna", "persona", "second")

    with pytest.raises(BlockConflict) as caught:
        two.blocks.set("anna", "persona", "third", expected_version=seen.version)

    error = caught.value
    assert (error.yours, error.theirs, error.version) == ("third", "second", 3)
    assert "is at version 3, you read version 2; nothing was written" in str(error)
    assert "Current value: second" in str(error)
    assert "Your value: third" in str(error)
    assert two.blocks.get("anna", "persona").value == "second"
    assert len(two.blocks.history("anna", "persona")) == 3


def test_a_conflict_over_a_text_that_is_gone_says_so(two: LocalRecollect) -> None:
    two.blocks.set("anna", "persona", "first")
    two.blocks.set("anna", "persona", "second")

    with pytest.raises(BlockConflict) as caught:
        two.blocks.replace("anna", "persona", "first", "1st", expected_version=2)

    assert "does not occur" in caught.value.yours
    assert caught.value.theirs == "second"


def test_a_conflict_over_long_values_has_them_whole_in_the_error_and_cut_in_its_text(
    two: LocalRecollect,
) -> None:
    two.blocks.set("anna", "persona", "a" * 9_000)

    with pytest.raises(BlockConflict) as caught:
        two.blocks.set("anna", "persona", "b" * 9_000, expected_version=1)

    assert (caught.value.theirs, caught.value.yours) == ("a" * 9_000, "b" * 9_000)
    assert len(str(caught.value)) < 2_000


@each_row("version", [0, 2, -1, "1", 1.5, object()])
def test_a_version_that_is_not_the_present_one_is_refused(
    two: LocalRecollect, version: object
) -> None:
    with pytest.raises((BlockConflict, InvalidInput)):
        two.blocks.set("anna", "persona", "new", expected_version=version)  # type: ignore[arg-type]

    assert two.blocks.get("anna", "persona").version == 1


def test_an_edit_that_changes_nothing_is_no_version(two: LocalRecollect) -> None:
    changes: list[BlockChange] = []
    two.engine.on_block_change(changes.append)
    before = two.blocks.set("anna", "persona", "same")

    assert two.blocks.set("anna", "persona", "same", reason="again") == before
    assert len(changes) == 1
    assert len(two.blocks.history("anna", "persona")) == 2


def test_history_says_who_when_and_why_and_can_be_compared_and_taken_back(
    two: LocalRecollect, clock: FakeClock
) -> None:
    for number, by in enumerate(("user", "agent", "system")):
        clock.advance(hours=1)
        two.blocks.set("anna", "persona", f"kind\nversion {number}", by=by, reason=f"why {number}")
    history = two.blocks.history("anna", "persona")

    assert [(version.version, version.by, version.reason) for version in history] == [
        (1, "system", "made with the agent"),
        (2, "user", "why 0"),
        (3, "agent", "why 1"),
        (4, "system", "why 2"),
    ]
    assert [version.changed_at.hour for version in history] == [12, 13, 14, 15]
    assert two.blocks.diff("anna", "persona", 2, 3).splitlines() == [
        "--- persona version 2",
        "+++ persona version 3",
        "@@ -1,2 +1,2 @@",
        " kind",
        "-version 0",
        "+version 1",
    ]
    assert two.blocks.diff("anna", "persona", 4) == ""
    back = two.blocks.rollback("anna", "persona", 2)
    assert (back.value, back.version) == ("kind\nversion 0", 5)
    assert two.blocks.history("anna", "persona")[-1].reason == "rolled back to version 2"
    assert two.blocks.rollback("anna", "persona", 1).value == ""


@each_row("version", [0, 3, 2**60, True, "1", None])
def test_a_version_there_never_was_cannot_be_compared_or_taken_back(
    two: LocalRecollect, version: Any
) -> None:
    two.blocks.set("anna", "persona", "x")

    with pytest.raises((NotFound, InvalidInput)):
        two.blocks.rollback("anna", "persona", version)
    with pytest.raises((NotFound, InvalidInput)):
        two.blocks.diff("anna", "persona", version)


def test_a_rollback_keeps_to_the_limit_and_to_the_expected_version(two: LocalRecollect) -> None:
    two.blocks.set("anna", "persona", "a long value")
    two.blocks.set("anna", "persona", "short")
    two.blocks.update("anna", "persona", limit=5)

    with pytest.raises(TooLarge, match="Edit failed: Exceeds 5 character limit"):
        two.blocks.rollback("anna", "persona", 2)
    with pytest.raises(BlockConflict):
        two.blocks.rollback("anna", "persona", 1, expected_version=2)
    assert two.blocks.get("anna", "persona").version == 4


# The blocks that are made when first written


def test_the_project_block_is_made_by_the_first_write_for_every_agent_of_the_project(
    two: LocalRecollect,
) -> None:
    with pytest.raises(NotFound):
        two.blocks.get("anna", "project", project="site")
    assert two.projects.list() == []
    made = two.blocks.append("anna", "project", "uses pnpm", project="site")
    two.blocks.append("ben", "project", "uses ruff", project="site")

    assert (made.scope, made.version, made.description[:12]) == ("project", 2, "This project")
    assert two.blocks.get("ben", "project", project="site").value == "uses pnpm\nuses ruff"
    assert [block.by for block in two.blocks.history("anna", "project", project="site")] == [
        "system",
        "user",
        "user",
    ]
    assert two.maintenance.verify().ok


def test_the_ticket_block_is_made_by_the_first_write_for_its_conversation(
    two: LocalRecollect,
) -> None:
    talk = two.conversations.start(agent="anna")
    two.blocks.set("anna", "ticket", "ABC-1", conversation=talk)

    assert two.blocks.get("anna", "ticket", conversation=talk).scope == "session"
    assert "ticket" not in labels(two, "anna")


@pytest.mark.parametrize(
    ("label", "where", "message_part"),
    [
        ("project", {}, "belongs to a project: pass project=…"),
        ("ticket", {}, "belongs to a session: pass conversation=…"),
        ("ticket", {"project": "site"}, "belongs to a session: pass conversation=…"),
    ],
)
def test_a_default_block_without_its_place_is_refused_with_what_to_pass(
    two: LocalRecollect, label: str, where: dict[str, str], message_part: str
) -> None:
    with pytest.raises(InvalidInput, match=message_part):
        two.blocks.set("anna", label, "x", **cast(Any, where))

    assert label not in labels(two)


@pytest.mark.parametrize("how", [{"expected_version": 5}, {"by": "nobody"}])
def test_a_refused_first_write_makes_neither_block_nor_project(
    two: LocalRecollect, how: dict[str, Any]
) -> None:
    with pytest.raises((BlockConflict, InvalidInput)):
        two.blocks.set("anna", "project", "x", project="site", **how)

    assert two.projects.list() == []
    assert "project" not in labels(two, "anna", project="site")


def test_a_project_block_is_found_by_the_folder_and_by_a_linked_name(
    two: LocalRecollect, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    two.blocks.set("anna", "project", "uses pnpm", project=folder)

    assert two.blocks.get("ben", "project", project=str(folder)).value == "uses pnpm"
    with pytest.raises(NotFound):
        two.blocks.get("ben", "project", project="site")
    two.projects.link("site", folder)
    assert two.blocks.get("ben", "project", project="site").value == "uses pnpm"


def test_a_project_may_be_any_path_like_object(two: LocalRecollect, tmp_path: Path) -> None:
    class PathLikeFolder:
        def __fspath__(self) -> str:
            return str(tmp_path)

    made = two.blocks.create("notes", project=PathLikeFolder(), scope="project")

    assert made.scope == "project"


def test_an_agents_own_block_can_be_made_a_shared_one(two: LocalRecollect) -> None:
    own = two.blocks.create("notes", "zebra", agent="anna")

    shared = two.blocks.share("anna", "notes")
    two.blocks.attach("ben", shared)
    two.blocks.set("ben", "notes", "zebra and giraffe")

    assert (shared.id, shared.scope, shared.version) == (own.id, "global", 2)
    assert values(two, "anna")["notes"] == "zebra and giraffe"
    assert [agent.name for agent in two.blocks.agents(shared)] == ["anna", "ben"]
    assert [hit.block.id for hit in two.blocks.search("giraffe", agent="ben")] == [own.id]
    assert two.blocks.share(None, own.id).version == 3, "it is shared already"
    two.agents.delete("anna")
    assert values(two, "ben")["notes"] == "zebra and giraffe"
    assert two.maintenance.verify().problems == ()


def test_a_block_of_a_project_is_not_made_a_shared_one(two: LocalRecollect) -> None:
    two.blocks.create("stack", "uv", project="site")

    with pytest.raises(InvalidInput, match="project scope"):
        two.blocks.share(None, "stack", project="site")
    with pytest.raises(NotFound):
        two.blocks.agents("nothing")
