"""Agents: named, found, changed, pinned; a name or an id means one agent and no other."""

import threading
from pathlib import Path
from typing import Any

import pytest

from recollect import AlreadyExists, InvalidInput, NotFound, Recollect
from support import START, FakeClock, open_memory

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def test_an_agent_comes_back_as_it_was_made_by_name_by_id_and_by_itself(memory: Recollect) -> None:
    made = memory.create_agent(
        "  anna ",
        description="reviews code",
        model="gpt-5",
        system_prompt="Be kind.",
        metadata={"team": ["a", 1, None]},
    )

    assert (made.name, made.description, made.model) == ("anna", "reviews code", "gpt-5")
    assert (made.system_prompt, made.metadata) == ("Be kind.", {"team": ["a", 1, None]})
    assert (made.pinned, made.created_at, made.updated_at) == ("", START, START)
    assert memory.agent("anna") == memory.agent(made.id) == memory.agent(made) == made
    assert memory.agent(f" {made.id} ") == made


def test_a_bare_agent_has_no_blocks(memory: Recollect) -> None:
    memory.create_agent("bare", default_blocks=False)

    assert memory.blocks("bare") == []


def test_the_second_agent_finds_the_shared_blocks_of_the_first(memory: Recollect) -> None:
    memory.create_agent("anna")
    memory.set_block("anna", "human", "likes tea")
    memory.create_agent("ben")

    assert memory.block("ben", "human").value == "likes tea"
    assert len([one for one in memory.blocks() if one.label == "human"]) == 1


def test_a_name_is_taken_once_whoever_asks(words_only: Recollect) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        try:
            words_only.create_agent("anna")
            outcomes.append("made")
        except AlreadyExists:
            outcomes.append("refused")

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["made", *["refused"] * 7]
    assert len(words_only.blocks()) == 5  # nothing is left of those that were refused


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\x00b\x07", "x" * 201, SECRET, None, 5, b"anna", ["anna"]]
)
def test_a_name_nobody_can_be_called_by_is_refused(memory: Recollect, name: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.create_agent(name)

    assert memory.agents() == []


@pytest.mark.parametrize("name", ["a\x7fb", "a\x9b31mb", "a\x85b"])
def test_a_name_has_no_control_characters_of_any_kind(memory: Recollect, name: str) -> None:
    with pytest.raises(InvalidInput, match="control characters"):
        memory.create_agent(name)


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
def test_a_strange_name_is_a_name_like_any_other(memory: Recollect, name: str) -> None:
    other = memory.create_agent("other")
    made = memory.create_agent(name)
    talk = memory.start_conversation(agent=name)
    memory.append_message(talk, "user", "zebra")

    assert memory.agent(name) == made
    assert talk.agent_id == made.id
    assert [hit.message.content for hit in memory.search_messages("zebra", agent=name)] == ["zebra"]
    assert memory.search_messages("zebra", agent="other") == []
    memory.delete_agent(name)
    assert memory.agents() == [other]
    assert memory.verify().ok


@pytest.mark.parametrize("who", ["nobody", "", "  ", None, 5, "%", "\ufffd", "a\x00b"])
def test_whoever_is_unknown_is_not_found_with_what_to_do_next(memory: Recollect, who: Any) -> None:
    memory.create_agent("anna")

    for verb in (memory.agent, memory.delete_agent, memory.update_agent, memory.pin_agent):
        with pytest.raises(NotFound, match="recollect agent list"):
            verb(who)
    assert len(memory.agents()) == 1


def test_a_name_that_cannot_be_encoded_is_not_found(memory: Recollect) -> None:
    with pytest.raises(NotFound):
        memory.agent("\ud800")


def test_an_agent_that_calls_itself_by_the_id_of_another_is_not_taken_for_it(
    memory: Recollect,
) -> None:
    anna = memory.create_agent("anna")
    memory.set_block(anna, "persona", "anna's own")
    try:
        memory.create_agent(anna.id)
    except (AlreadyExists, InvalidInput):
        return  # refusing such a name is as good

    assert memory.agent(anna) == anna
    assert memory.agent(anna.id) == anna
    assert memory.block(anna, "persona").value == "anna's own"


def test_agents_are_listed_by_name_pinned_ones_first(memory: Recollect) -> None:
    for name in ("cleo", "anna", "ben"):
        memory.create_agent(name)
    memory.pin_agent("cleo")

    assert [one.name for one in memory.agents()] == ["cleo", "anna", "ben"]
    assert [one.name for one in memory.agents(pinned="global")] == ["cleo"]
    assert [one.name for one in memory.agents(pinned="")] == ["anna", "ben"]
    with pytest.raises(InvalidInput, match="pinned 'everywhere' is not known"):
        memory.agents(pinned="everywhere")


def test_every_field_of_an_agent_can_change_but_its_id_and_birth(
    memory: Recollect, clock: FakeClock
) -> None:
    made = memory.create_agent("anna", model="old", metadata={"a": 1})
    clock.advance(hours=1)
    after = memory.update_agent(
        made, name="ann", description="d", model="new", system_prompt="s", metadata={"b": 2}
    )

    assert (after.id, after.created_at, after.updated_at) == (made.id, START, clock.now())
    assert (after.name, after.description, after.model) == ("ann", "d", "new")
    assert (after.system_prompt, after.metadata) == ("s", {"b": 2})
    assert memory.agent(made) == after
    with pytest.raises(NotFound):
        memory.agent("anna")


@pytest.mark.parametrize(
    "changes", [{"id": "x"}, {"pinned": "global"}, {"name": ""}, {"metadata": []}, {"model": 5}]
)
def test_a_change_that_cannot_be_changes_nothing(memory: Recollect, changes: Any) -> None:
    made = memory.create_agent("anna")

    with pytest.raises(InvalidInput):
        memory.update_agent("anna", **{"description": "new"} | changes)
    assert memory.agent("anna") == made


def test_a_name_that_another_has_cannot_be_taken_and_ones_own_can(memory: Recollect) -> None:
    memory.create_agent("anna")
    ben = memory.create_agent("ben")

    with pytest.raises(AlreadyExists, match="'anna'"):
        memory.update_agent(ben, name="anna", description="thief")
    assert memory.agent(ben) == ben
    assert memory.update_agent(ben, name="ben", description="himself").description == "himself"


def test_a_renamed_agent_keeps_all_that_is_its_own(memory: Recollect) -> None:
    anna = memory.create_agent("anna")
    memory.set_block(anna, "persona", "kind")
    talk = memory.start_conversation(agent="anna")
    memory.append_message(talk, "user", "zebra")
    memory.archival_insert(anna, "a passage on zebras")
    memory.update_agent(anna, name="ann")

    assert memory.block("ann", "persona").value == "kind"
    assert [one.id for one in memory.conversations(agent="ann")] == [talk.id]
    assert len(memory.search_messages("zebra", agent="ann")) == 1
    assert len(memory.archival_search("ann", "zebras")) == 1


@pytest.mark.parametrize("since", ["renamed", "deleted"])
def test_an_agent_given_as_itself_is_that_agent_whatever_it_is_called_now(
    memory: Recollect, since: str
) -> None:
    anna = memory.create_agent("anna")
    if since == "renamed":
        memory.update_agent(anna, name="ann")
        talk = memory.start_conversation(agent=anna)
        assert talk.agent_id == anna.id
    else:
        memory.delete_agent(anna)
        with pytest.raises(NotFound):
            memory.start_conversation(agent=anna)

    assert "anna" not in [one.name for one in memory.agents()]


def test_a_pin_is_global_or_local_to_a_project_and_comes_off(memory: Recollect) -> None:
    memory.create_agent("anna")
    memory.create_agent("ben")
    memory.pin_agent("anna", "local", project="site")

    assert memory.agent("anna").pinned == "local"
    assert [one.name for one in memory.agents(project="site", pinned="local")] == ["anna"]
    assert memory.agents(project="other", pinned="local") == []
    with pytest.raises(InvalidInput, match="a local pin needs the project"):
        memory.pin_agent("ben", "local")
    with pytest.raises(InvalidInput):
        memory.pin_agent("ben", "somewhere")
    assert memory.pin_agent("anna", "global").metadata == {}
    assert [one.name for one in memory.agents(project="other", pinned="global")] == ["anna"]
    assert memory.pin_agent("anna", "").pinned == ""


def test_a_pin_made_by_the_folder_holds_for_the_project_of_that_name(
    memory: Recollect, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    memory.create_agent("anna")
    memory.pin_agent("anna", "local", project=folder)

    assert [one.name for one in memory.agents(project=folder, pinned="local")] == ["anna"]
    assert [one.name for one in memory.agents(project="site", pinned="local")] == ["anna"]


def test_a_local_pin_survives_new_metadata(memory: Recollect) -> None:
    memory.create_agent("anna")
    memory.pin_agent("anna", "local", project="site")
    memory.update_agent("anna", metadata={"team": "a"})

    assert [one.name for one in memory.agents(project="site", pinned="local")] == ["anna"]
    assert memory.agents(project="other", pinned="local") == []


def test_secrets_in_texts_of_an_agent_are_taken_out(memory: Recollect, path: Path) -> None:
    memory.create_agent(
        "anna",
        description=f"uses {SECRET}",
        system_prompt=f"token: {SECRET}",
        metadata={"deep": [{"er": SECRET}]},
    )
    memory.update_agent("anna", description=SECRET, system_prompt=SECRET)
    memory.close()

    for file in path.parent.glob("memory.db*"):
        assert SECRET.encode() not in file.read_bytes()


@pytest.mark.parametrize("given", [{"model": SECRET}, {"metadata": {SECRET: 1}}])
def test_secrets_where_nobody_expects_them_are_taken_out_or_refused(
    memory: Recollect, given: Any
) -> None:
    try:
        made = memory.create_agent("anna", **given)
    except InvalidInput:
        return

    assert SECRET not in f"{made.model} {made.metadata}"


def test_an_agent_is_there_for_another_process_at_once(memory: Recollect, path: Path) -> None:
    made = memory.create_agent("anna")
    with open_memory(path) as elsewhere:
        assert elsewhere.agent("anna") == made
        elsewhere.delete_agent("anna")

    with pytest.raises(NotFound):
        memory.agent(made)
