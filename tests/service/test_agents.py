"""Agents: named, found, changed, pinned; a name or an id means one agent and no other."""

import threading
from pathlib import Path
from typing import Any

import pytest

from recollect import AlreadyExists, InvalidInput, LocalRecollect, NotFound
from support import START, FakeClock, open_memory
from tables import each_row

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_an_agent_comes_back_as_it_was_made_by_name_by_id_and_by_itself(
    rec: LocalRecollect,
) -> None:
    made = rec.agents.create(
        "  anna ",
        description="reviews code",
        model="gpt-5",
        system_prompt="Be kind.",
        metadata={"team": ["a", 1, None]},
    )

    assert (made.name, made.description, made.model) == ("anna", "reviews code", "gpt-5")
    assert (made.system_prompt, made.metadata) == ("Be kind.", {"team": ["a", 1, None]})
    assert (made.pinned, made.created_at, made.updated_at) == ("", START, START)
    assert rec.agents.get("anna") == rec.agents.get(made.id) == rec.agents.get(made) == made
    assert rec.agents.get(f" {made.id} ") == made


def test_a_bare_agent_has_no_blocks(rec: LocalRecollect) -> None:
    rec.agents.create("bare", default_blocks=False)

    assert rec.blocks.list("bare") == []


def test_the_second_agent_finds_the_shared_blocks_of_the_first(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    rec.blocks.set("anna", "human", "likes tea")
    rec.agents.create("ben")

    assert rec.blocks.get("ben", "human").value == "likes tea"
    assert len([block for block in rec.blocks.list() if block.label == "human"]) == 1


def test_a_name_is_taken_once_whoever_asks(words_only: LocalRecollect) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        try:
            words_only.agents.create("anna")
            outcomes.append("made")
        except AlreadyExists:
            outcomes.append("refused")

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["made", *["refused"] * 7]
    assert len(words_only.blocks.list()) == 5  # nothing is left of those that were refused


@each_row("name", ["", "  ", "a\nb", "a\x00b\x07", "x" * 201, SECRET, None, 5, b"anna", ["anna"]])
def test_a_name_nobody_can_be_called_by_is_refused(rec: LocalRecollect, name: Any) -> None:
    with pytest.raises(InvalidInput):
        rec.agents.create(name)

    assert rec.agents.list() == []


@pytest.mark.parametrize("name", ["a\x7fb", "a\x9b31mb", "a\x85b"])
def test_a_name_has_no_control_characters_of_any_kind(rec: LocalRecollect, name: str) -> None:
    with pytest.raises(InvalidInput, match="control characters"):
        rec.agents.create(name)


@pytest.mark.parametrize(
    "name",
    [
        "'; DROP TABLE agents; --",
        '" OR 1=1',
        "%",
        "анна 👩‍🚀",
        "cafe\u0301",
        "../../etc/passwd",
        "-rf",
        "null",
        "unknown",
        "{}",
        "x" * 200,
    ],
)
def test_a_strange_name_is_a_name_like_any_other(rec: LocalRecollect, name: str) -> None:
    other = rec.agents.create("other")
    made = rec.agents.create(name)
    talk = rec.conversations.start(agent=name)
    rec.conversations.append(talk, "user", "zebra")

    assert rec.agents.get(name) == made
    assert talk.agent_id == made.id
    assert [hit.message.content for hit in rec.conversations.search("zebra", agent=name)] == [
        "zebra"
    ]
    assert rec.conversations.search("zebra", agent="other") == []
    rec.agents.delete(name)
    assert rec.agents.list() == [other]
    assert rec.maintenance.verify().ok


@pytest.mark.parametrize("who", ["nobody", "", "  ", "%", "\ufffd", "a\x00b"])
def test_an_unknown_agent_is_not_found_with_what_to_do_next(rec: LocalRecollect, who: Any) -> None:
    rec.agents.create("anna")

    for verb in (rec.agents.get, rec.agents.delete, rec.agents.update, rec.agents.pin):
        with pytest.raises(NotFound, match="recollect agent list"):
            verb(who)
    assert len(rec.agents.list()) == 1


@pytest.mark.parametrize("agent", [None, 5])
def test_an_agent_is_given_by_its_name_or_id(rec: LocalRecollect, agent: Any) -> None:
    for verb in (rec.agents.get, rec.agents.delete, rec.agents.update, rec.agents.pin):
        with pytest.raises(InvalidInput, match="name the agent by its name or id, not by"):
            verb(agent)


def test_a_name_that_cannot_be_encoded_is_not_found(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        rec.agents.get("\ud800")


def test_an_agent_that_calls_itself_by_the_id_of_another_is_not_taken_for_it(
    rec: LocalRecollect,
) -> None:
    anna = rec.agents.create("anna")
    rec.blocks.set(anna, "persona", "anna's own")
    try:
        rec.agents.create(anna.id)
    except (AlreadyExists, InvalidInput):
        return  # refusing such a name is as good

    assert rec.agents.get(anna) == anna
    assert rec.agents.get(anna.id) == anna
    assert rec.blocks.get(anna, "persona").value == "anna's own"


def test_agents_are_listed_by_name_pinned_ones_first(rec: LocalRecollect) -> None:
    for name in ("cleo", "anna", "ben"):
        rec.agents.create(name)
    rec.agents.pin("cleo")

    assert [agent.name for agent in rec.agents.list()] == ["cleo", "anna", "ben"]
    assert [agent.name for agent in rec.agents.list(pinned="global")] == ["cleo"]
    assert [agent.name for agent in rec.agents.list(pinned="")] == ["anna", "ben"]
    with pytest.raises(InvalidInput, match="pinned 'everywhere' is not known"):
        rec.agents.list(pinned="everywhere")


def test_every_field_of_an_agent_can_change_but_its_id_and_birth(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    made = rec.agents.create("anna", model="old", metadata={"a": 1})
    clock.advance(hours=1)
    after = rec.agents.update(
        made, name="ann", description="d", model="new", system_prompt="s", metadata={"b": 2}
    )

    assert (after.id, after.created_at, after.updated_at) == (made.id, START, clock.now())
    assert (after.name, after.description, after.model) == ("ann", "d", "new")
    assert (after.system_prompt, after.metadata) == ("s", {"b": 2})
    assert rec.agents.get(made) == after
    with pytest.raises(NotFound):
        rec.agents.get("anna")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"id": "x"}, TypeError),
        ({"pinned": "global"}, TypeError),
        ({"name": ""}, InvalidInput),
        ({"name": None}, InvalidInput),
        ({"metadata": []}, InvalidInput),
        ({"model": 5}, InvalidInput),
    ],
)
def test_a_change_that_is_refused_changes_nothing(
    rec: LocalRecollect, changes: Any, error: type[Exception]
) -> None:
    made = rec.agents.create("anna")

    with pytest.raises(error):
        rec.agents.update("anna", **{"description": "new"} | changes)
    assert rec.agents.get("anna") == made


def test_a_name_that_another_has_cannot_be_taken_and_ones_own_can(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    ben = rec.agents.create("ben")

    with pytest.raises(AlreadyExists, match="'anna'"):
        rec.agents.update(ben, name="anna", description="thief")
    assert rec.agents.get(ben) == ben
    assert rec.agents.update(ben, name="ben", description="himself").description == "himself"


def test_a_renamed_agent_keeps_all_that_is_its_own(rec: LocalRecollect) -> None:
    anna = rec.agents.create("anna")
    rec.blocks.set(anna, "persona", "kind")
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "zebra")
    rec.archive.insert(anna, "a passage on zebras")
    rec.agents.update(anna, name="ann")

    assert rec.blocks.get("ann", "persona").value == "kind"
    assert [conversation.id for conversation in rec.conversations.list(agent="ann")] == [talk.id]
    assert len(rec.conversations.search("zebra", agent="ann")) == 1
    assert len(rec.archive.search("ann", "zebras")) == 1


@pytest.mark.parametrize("since", ["renamed", "deleted"])
def test_an_agent_given_as_itself_is_that_agent_whatever_it_is_called_now(
    rec: LocalRecollect, since: str
) -> None:
    anna = rec.agents.create("anna")
    if since == "renamed":
        rec.agents.update(anna, name="ann")
        talk = rec.conversations.start(agent=anna)
        assert talk.agent_id == anna.id
    else:
        rec.agents.delete(anna)
        with pytest.raises(NotFound):
            rec.conversations.start(agent=anna)

    assert "anna" not in [agent.name for agent in rec.agents.list()]


def test_a_pin_is_global_or_local_to_a_project_and_comes_off(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    rec.agents.create("ben")
    rec.agents.pin("anna", "local", project="site")

    assert rec.agents.get("anna").pinned == "local"
    assert [agent.name for agent in rec.agents.list(project="site", pinned="local")] == ["anna"]
    assert rec.agents.list(project="other", pinned="local") == []
    with pytest.raises(InvalidInput, match="a local pin needs the project"):
        rec.agents.pin("ben", "local")
    with pytest.raises(InvalidInput):
        rec.agents.pin("ben", "somewhere")
    assert rec.agents.pin("anna", "global").metadata == {}
    assert [agent.name for agent in rec.agents.list(project="other", pinned="global")] == ["anna"]
    assert rec.agents.pin("anna", "").pinned == ""


def test_a_pin_made_by_the_folder_holds_for_a_linked_name(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    rec.agents.create("anna")
    rec.agents.pin("anna", "local", project=folder)

    assert [agent.name for agent in rec.agents.list(project=folder, pinned="local")] == ["anna"]
    assert rec.agents.list(project="site", pinned="local") == []
    rec.projects.link("site", folder)
    assert [agent.name for agent in rec.agents.list(project="site", pinned="local")] == ["anna"]


def test_a_local_pin_survives_new_metadata(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    rec.agents.pin("anna", "local", project="site")
    rec.agents.update("anna", metadata={"team": "a"})

    assert [agent.name for agent in rec.agents.list(project="site", pinned="local")] == ["anna"]
    assert rec.agents.list(project="other", pinned="local") == []


def test_secrets_in_texts_of_an_agent_are_taken_out(rec: LocalRecollect, path: Path) -> None:
    rec.agents.create(
        "anna",
        description=f"uses {SECRET}",
        system_prompt=f"token: {SECRET}",
        metadata={"deep": [{"er": SECRET}]},
    )
    rec.agents.update("anna", description=SECRET, system_prompt=SECRET)
    rec.close()

    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("arguments", [{"model": SECRET}, {"metadata": {SECRET: 1}}])
def test_secrets_where_nobody_expects_them_are_taken_out_or_refused(
    rec: LocalRecollect, arguments: Any
) -> None:
    try:
        made = rec.agents.create("anna", **arguments)
    except InvalidInput:
        return

    assert SECRET not in f"{made.model} {made.metadata}"


def test_an_agent_is_there_for_another_process_at_once(rec: LocalRecollect, path: Path) -> None:
    made = rec.agents.create("anna")
    with open_memory(path) as elsewhere:
        assert elsewhere.agents.get("anna") == made
        elsewhere.agents.delete("anna")

    with pytest.raises(NotFound):
        rec.agents.get(made)


def test_what_is_kept_for_letta_survives_new_metadata_unless_it_is_given(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("anna", metadata={"letta": {"model": "m"}})

    kept = rec.agents.update("anna", metadata={"team": "a"})
    replaced = rec.agents.update("anna", metadata={"letta": {"model": "n"}})

    assert kept.metadata == {"team": "a", "letta": {"model": "m"}}
    assert replaced.metadata == {"letta": {"model": "n"}}
