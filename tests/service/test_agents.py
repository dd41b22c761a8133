"""Agents: named, found, changed, pinned; a name or an id means one agent and no other."""

import threading
from pathlib import Path
from typing import Any

import pytest

from recollect import AlreadyExists, InvalidInput, LocalRecollect, NotFound
from support import START, FakeClock, open_memory

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_an_agent_comes_back_as_it_was_made_by_name_by_id_and_by_itself(memory: LocalRecollect) -> None:
    made = memory.agents.create(
        "  anna ",
        description="reviews code",
        model="gpt-5",
        system_prompt="Be kind.",
        metadata={"team": ["a", 1, None]},
    )

    assert (made.name, made.description, made.model) == ("anna", "reviews code", "gpt-5")
    assert (made.system_prompt, made.metadata) == ("Be kind.", {"team": ["a", 1, None]})
    assert (made.pinned, made.created_at, made.updated_at) == ("", START, START)
    assert memory.agents.get("anna") == memory.agents.get(made.id) == memory.agents.get(made) == made
    assert memory.agents.get(f" {made.id} ") == made


def test_a_bare_agent_has_no_blocks(memory: LocalRecollect) -> None:
    memory.agents.create("bare", default_blocks=False)

    assert memory.blocks.list("bare") == []


def test_the_second_agent_finds_the_shared_blocks_of_the_first(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    memory.blocks.set("anna", "human", "likes tea")
    memory.agents.create("ben")

    assert memory.blocks.get("ben", "human").value == "likes tea"
    assert len([one for one in memory.blocks.list() if one.label == "human"]) == 1


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


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\x00b\x07", "x" * 201, SECRET, None, 5, b"anna", ["anna"]]
)
def test_a_name_nobody_can_be_called_by_is_refused(memory: LocalRecollect, name: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.agents.create(name)

    assert memory.agents.list() == []


@pytest.mark.parametrize("name", ["a\x7fb", "a\x9b31mb", "a\x85b"])
def test_a_name_has_no_control_characters_of_any_kind(memory: LocalRecollect, name: str) -> None:
    with pytest.raises(InvalidInput, match="control characters"):
        memory.agents.create(name)


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
def test_a_strange_name_is_a_name_like_any_other(memory: LocalRecollect, name: str) -> None:
    other = memory.agents.create("other")
    made = memory.agents.create(name)
    talk = memory.conversations.start(agent=name)
    memory.conversations.append(talk, "user", "zebra")

    assert memory.agents.get(name) == made
    assert talk.agent_id == made.id
    assert [hit.message.content for hit in memory.conversations.search("zebra", agent=name)] == ["zebra"]
    assert memory.conversations.search("zebra", agent="other") == []
    memory.agents.delete(name)
    assert memory.agents.list() == [other]
    assert memory.maintenance.verify().ok


@pytest.mark.parametrize("who", ["nobody", "", "  ", None, 5, "%", "\ufffd", "a\x00b"])
def test_whoever_is_unknown_is_not_found_with_what_to_do_next(memory: LocalRecollect, who: Any) -> None:
    memory.agents.create("anna")

    for verb in (memory.agents.get, memory.agents.delete, memory.agents.update, memory.agents.pin):
        with pytest.raises(NotFound, match="recollect agent list"):
            verb(who)
    assert len(memory.agents.list()) == 1


def test_a_name_that_cannot_be_encoded_is_not_found(memory: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        memory.agents.get("\ud800")


def test_an_agent_that_calls_itself_by_the_id_of_another_is_not_taken_for_it(
    memory: LocalRecollect,
) -> None:
    anna = memory.agents.create("anna")
    memory.blocks.set(anna, "persona", "anna's own")
    try:
        memory.agents.create(anna.id)
    except (AlreadyExists, InvalidInput):
        return  # refusing such a name is as good

    assert memory.agents.get(anna) == anna
    assert memory.agents.get(anna.id) == anna
    assert memory.blocks.get(anna, "persona").value == "anna's own"


def test_agents_are_listed_by_name_pinned_ones_first(memory: LocalRecollect) -> None:
    for name in ("cleo", "anna", "ben"):
        memory.agents.create(name)
    memory.agents.pin("cleo")

    assert [one.name for one in memory.agents.list()] == ["cleo", "anna", "ben"]
    assert [one.name for one in memory.agents.list(pinned="global")] == ["cleo"]
    assert [one.name for one in memory.agents.list(pinned="")] == ["anna", "ben"]
    with pytest.raises(InvalidInput, match="pinned 'everywhere' is not known"):
        memory.agents.list(pinned="everywhere")


def test_every_field_of_an_agent_can_change_but_its_id_and_birth(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    made = memory.agents.create("anna", model="old", metadata={"a": 1})
    clock.advance(hours=1)
    after = memory.agents.update(
        made, name="ann", description="d", model="new", system_prompt="s", metadata={"b": 2}
    )

    assert (after.id, after.created_at, after.updated_at) == (made.id, START, clock.now())
    assert (after.name, after.description, after.model) == ("ann", "d", "new")
    assert (after.system_prompt, after.metadata) == ("s", {"b": 2})
    assert memory.agents.get(made) == after
    with pytest.raises(NotFound):
        memory.agents.get("anna")


@pytest.mark.parametrize(
    "changes", [{"id": "x"}, {"pinned": "global"}, {"name": ""}, {"metadata": []}, {"model": 5}]
)
def test_a_change_that_cannot_be_changes_nothing(memory: LocalRecollect, changes: Any) -> None:
    made = memory.agents.create("anna")

    with pytest.raises(InvalidInput):
        memory.agents.update("anna", **{"description": "new"} | changes)
    assert memory.agents.get("anna") == made


def test_a_name_that_another_has_cannot_be_taken_and_ones_own_can(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    ben = memory.agents.create("ben")

    with pytest.raises(AlreadyExists, match="'anna'"):
        memory.agents.update(ben, name="anna", description="thief")
    assert memory.agents.get(ben) == ben
    assert memory.agents.update(ben, name="ben", description="himself").description == "himself"


def test_a_renamed_agent_keeps_all_that_is_its_own(memory: LocalRecollect) -> None:
    anna = memory.agents.create("anna")
    memory.blocks.set(anna, "persona", "kind")
    talk = memory.conversations.start(agent="anna")
    memory.conversations.append(talk, "user", "zebra")
    memory.archive.insert(anna, "a passage on zebras")
    memory.agents.update(anna, name="ann")

    assert memory.blocks.get("ann", "persona").value == "kind"
    assert [one.id for one in memory.conversations.list(agent="ann")] == [talk.id]
    assert len(memory.conversations.search("zebra", agent="ann")) == 1
    assert len(memory.archive.search("ann", "zebras")) == 1


@pytest.mark.parametrize("since", ["renamed", "deleted"])
def test_an_agent_given_as_itself_is_that_agent_whatever_it_is_called_now(
    memory: LocalRecollect, since: str
) -> None:
    anna = memory.agents.create("anna")
    if since == "renamed":
        memory.agents.update(anna, name="ann")
        talk = memory.conversations.start(agent=anna)
        assert talk.agent_id == anna.id
    else:
        memory.agents.delete(anna)
        with pytest.raises(NotFound):
            memory.conversations.start(agent=anna)

    assert "anna" not in [one.name for one in memory.agents.list()]


def test_a_pin_is_global_or_local_to_a_project_and_comes_off(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    memory.agents.create("ben")
    memory.agents.pin("anna", "local", project="site")

    assert memory.agents.get("anna").pinned == "local"
    assert [one.name for one in memory.agents.list(project="site", pinned="local")] == ["anna"]
    assert memory.agents.list(project="other", pinned="local") == []
    with pytest.raises(InvalidInput, match="a local pin needs the project"):
        memory.agents.pin("ben", "local")
    with pytest.raises(InvalidInput):
        memory.agents.pin("ben", "somewhere")
    assert memory.agents.pin("anna", "global").metadata == {}
    assert [one.name for one in memory.agents.list(project="other", pinned="global")] == ["anna"]
    assert memory.agents.pin("anna", "").pinned == ""


def test_a_pin_made_by_the_folder_holds_for_the_project_of_that_name(
    memory: LocalRecollect, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    memory.agents.create("anna")
    memory.agents.pin("anna", "local", project=folder)

    assert [one.name for one in memory.agents.list(project=folder, pinned="local")] == ["anna"]
    assert [one.name for one in memory.agents.list(project="site", pinned="local")] == ["anna"]


def test_a_local_pin_survives_new_metadata(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    memory.agents.pin("anna", "local", project="site")
    memory.agents.update("anna", metadata={"team": "a"})

    assert [one.name for one in memory.agents.list(project="site", pinned="local")] == ["anna"]
    assert memory.agents.list(project="other", pinned="local") == []


def test_secrets_in_texts_of_an_agent_are_taken_out(memory: LocalRecollect, path: Path) -> None:
    memory.agents.create(
        "anna",
        description=f"uses {SECRET}",
        system_prompt=f"token: {SECRET}",
        metadata={"deep": [{"er": SECRET}]},
    )
    memory.agents.update("anna", description=SECRET, system_prompt=SECRET)
    memory.close()

    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("given", [{"model": SECRET}, {"metadata": {SECRET: 1}}])
def test_secrets_where_nobody_expects_them_are_taken_out_or_refused(
    memory: LocalRecollect, given: Any
) -> None:
    try:
        made = memory.agents.create("anna", **given)
    except InvalidInput:
        return

    assert SECRET not in f"{made.model} {made.metadata}"


def test_an_agent_is_there_for_another_process_at_once(memory: LocalRecollect, path: Path) -> None:
    made = memory.agents.create("anna")
    with open_memory(path) as elsewhere:
        assert elsewhere.agents.get("anna") == made
        elsewhere.agents.delete("anna")

    with pytest.raises(NotFound):
        memory.agents.get(made)
