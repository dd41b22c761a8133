"""Letta's agent files come in, go out as they were, and a broken one changes nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import DATA
from recollect import AlreadyExists, ImportRefused, InvalidInput, LocalRecollect, Message
from stored_agents import rich_agent, rows
from support import START, FakeClock, open_memory
from tables import each_row

SAMPLES = sorted((DATA / "agent_files").glob("*.af"))
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)


def unwrapped(path: Path) -> dict[str, Any]:
    """Return what a sample says, out of however many JSON strings."""
    value = json.loads(path.read_text())
    while isinstance(value, str):
        value = json.loads(value)
    assert isinstance(value, dict)
    return value


def message(number: int, role: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"message-{number}",
        "agent_id": "agent-0",
        "role": role,
        "content": [{"type": "text", "text": f"words of {number}"}],
        "name": None,
        "otid": None,
        "tool_calls": None,
        "tool_call_id": None,
        "tool_returns": [],
        "created_at": f"2025-11-21T03:09:{number:02}+00:00",
        **more,
    }


def small() -> dict[str, Any]:
    """An .af with one of everything that the samples lack."""
    call = {"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    returned = {"tool_call_id": "call-1", "status": "success", "func_response": "found the lamp"}
    agent = {
        "id": "agent-0",
        "name": "ada",
        "description": None,
        "system": "You are Ada. {CORE_MEMORY}",
        "metadata": {"mine": 1},
        "llm_config": {"model": "gpt-4o-mini", "handle": "openai/gpt-4o-mini"},
        "embedding_config": {"embedding_dim": 2000},
        "block_ids": ["block-3", "block-1"],
        "tool_ids": ["tool-0"],
        "tool_rules": [{"tool_name": "look", "type": "run_first"}],
        "tags": ["a"],
        "group_ids": ["group-0"],
        "tool_exec_environment_variables": {"LAMP_KEY": "open sesame"},
        "secrets": None,
        "messages": [
            message(0, "system"),
            message(1, "user", name="Charles"),
            message(2, "assistant", content=None, tool_calls=[call]),
            message(3, "tool", content=[], tool_call_id="call-1", tool_returns=[returned]),
            message(4, "approval", content="allow it", approve=True),
            message(5, "assistant", content=[{"type": "reasoning", "reasoning": "hm"}]),
            message(6, "function"),
            message(7, "summary"),
        ],
        "in_context_message_ids": ["message-0", "message-6", "message-7"],
    }
    blocks = [
        {"id": "block-1", "label": "human", "value": "Charles", "limit": 20, "read_only": True},
        {"id": "block-3", "label": "a/b", "value": "x" * 30, "limit": 20, "hidden": True},
        {"id": "block-9", "label": "spare", "value": "nobody's", "limit": 20},
    ]
    server = {"server_name": "lamps", "token": "t0p", "custom_headers": {"X-Key": "secret words"}}
    return {
        "agents": [agent],
        "groups": [{"id": "group-0", "agent_ids": ["agent-0"], "description": "alone"}],
        "blocks": blocks,
        "files": [],
        "sources": [],
        "tools": [{"id": "tool-0", "name": "look", "source_code": "def look(): ..."}],
        "mcp_servers": [server],
        "metadata": {"revision_id": "b1c2"},
        "created_at": "2025-11-21T03:10:00+00:00",
    }


def put(value: Any, folder: Path, name: str = "agent.af") -> Path:
    (folder / name).write_text(json.dumps(value))
    return folder / name


def by_id(file: dict[str, Any]) -> dict[str, Any]:
    """Return a file with its blocks sorted: an export puts the agent's first."""
    return {**file, "blocks": sorted(file["blocks"], key=lambda one: str(one["id"]))}


def told(rec: LocalRecollect, name: str) -> dict[str, Any]:
    """Return all that is told of an agent, without ids and without the times of the import."""
    agent = rec.agents.get(name)
    return {
        "agent": replace(agent, id="", name="", created_at=START, updated_at=START),
        "blocks": [
            replace(one, id="", owner_id="", created_at=START, updated_at=START)
            for one in rec.blocks.list(agent)
        ],
        "messages": [
            [replace(one, id="", conversation_id="") for one in rec.conversations.messages(said)]
            for said in rec.conversations.list(agent=agent)
        ],
        "times": [said.started_at for said in rec.conversations.list(agent=agent)],
    }


@each_sample
def test_a_sample_is_imported_with_its_blocks_and_messages(
    sample: Path, rec: LocalRecollect
) -> None:
    [theirs] = unwrapped(sample)["agents"]

    result = rec.agents.import_(sample)

    agent = result.agent
    assert (agent.name, agent.system_prompt) == (theirs["name"], theirs["system"])
    assert (agent.description, agent.model) == (
        theirs["description"],
        theirs["llm_config"]["model"],
    )
    assert len(rec.blocks.list(agent)) == len(theirs["block_ids"])
    said = [
        one for c in rec.conversations.list(agent=agent) for one in rec.conversations.messages(c)
    ]
    assert [one.created_at.isoformat() for one in said] == [
        one["created_at"] for one in theirs["messages"]
    ]
    assert [one.content for one in said] == [
        one["content"][0]["text"] for one in theirs["messages"]
    ]
    assert rec.maintenance.verify().ok


@each_sample
def test_a_sample_goes_out_as_it_came_in(sample: Path, rec: LocalRecollect, tmp_path: Path) -> None:
    """
    Every field comes back with its value and its id, `created_at` of the file included.

    What differs: the file is plain JSON where the sample was JSON in a string, and the blocks of
    the agent come before those nobody has. Had a sample secrets, those would be gone too (see
    below); none has.
    """
    agent = rec.agents.import_(sample).agent
    rec.agents.export(agent, tmp_path / "out.af", format="af")

    assert by_id(unwrapped(tmp_path / "out.af")) == by_id(unwrapped(sample))


@each_sample
def test_a_sample_that_went_out_and_came_in_again_is_the_same_agent(
    sample: Path, rec: LocalRecollect, tmp_path: Path, clock: FakeClock
) -> None:
    name = rec.agents.import_(sample).agent.name
    rec.agents.export(name, tmp_path / "out.af", format="af")
    clock.advance(days=1)

    rec.agents.import_(tmp_path / "out.af", "again")

    one, two = told(rec, name), told(rec, "again")
    assert two == one
    assert rec.maintenance.verify().ok


@each_sample
def test_a_sample_keeps_everything_on_the_way_through_our_own_format(
    sample: Path, rec: LocalRecollect, tmp_path: Path, clock: FakeClock
) -> None:
    agent = rec.agents.import_(sample).agent
    rec.agents.export(agent, tmp_path / "ours.json.gz")
    with open_memory(tmp_path / "other.db", clock=clock) as other:
        other.agents.import_(tmp_path / "ours.json.gz")
        other.agents.export(agent.name, tmp_path / "out.af", format="af")
        assert other.maintenance.verify().ok

    assert by_id(unwrapped(tmp_path / "out.af")) == by_id(unwrapped(sample))


@each_sample
def test_a_cut_off_sample_changes_nothing(
    sample: Path, rec: LocalRecollect, tmp_path: Path
) -> None:
    (tmp_path / "cut.af").write_bytes(sample.read_bytes()[: sample.stat().st_size // 2])
    before = rows(rec, tmp_path)

    with pytest.raises(ImportRefused, match="cut off"):
        rec.agents.import_(tmp_path / "cut.af")

    assert rows(rec, tmp_path) == before


def test_json_in_a_json_string_is_read_however_often_it_is_wrapped(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    wrapped = json.dumps(json.dumps(small()))

    result = rec.agents.import_(put(wrapped, tmp_path))

    assert result.agent.name == "ada"


def test_messages_keep_their_calls_answers_and_place_in_context(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    agent = rec.agents.import_(put(small(), tmp_path)).agent

    [said] = rec.conversations.list(agent=agent)
    messages = rec.conversations.messages(said)
    assert [one.role for one in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
        "tool",
        "system",
    ]
    assert messages[1].name == "Charles"
    assert messages[2].tool_calls[0]["function"]["name"] == "look"
    assert (messages[3].tool_call_id, messages[3].content) == ("call-1", "found the lamp")
    assert [one.metadata["letta"]["in_context"] for one in messages] == [
        *[True, False, False, False, False, False],
        *[True, True],
    ]
    found = rec.conversations.search("lamp", agent=agent)
    assert [hit.message.id for hit in found] == [messages[3].id]


def test_what_we_have_no_place_for_comes_back(rec: LocalRecollect, tmp_path: Path) -> None:
    """What differs: values of variables, headers and tokens, which are never stored."""
    agent = rec.agents.import_(put(small(), tmp_path)).agent

    rec.agents.export(agent, tmp_path / "out.af", format="af")

    expected = by_id(small())
    expected["agents"][0]["tool_exec_environment_variables"] = {"LAMP_KEY": ""}
    expected["mcp_servers"][0] |= {"token": "", "custom_headers": {"X-Key": ""}}
    assert by_id(unwrapped(tmp_path / "out.af")) == expected


def test_values_of_secrets_are_dropped_and_their_names_kept(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    file = small()
    file["agents"][0]["llm_config"]["api_key"] = "plain words"
    file["agents"][0]["system"] += " ghp_" + "a1B2" * 9

    result = rec.agents.import_(put(file, tmp_path))

    (tmp_path / "agent.af").unlink()
    stored = rows(rec, tmp_path)
    for secret in (b"open sesame", b"secret words", b"t0p", b"plain words", b"a1B2a1B2"):
        assert secret not in stored
    assert b"LAMP_KEY" in stored
    assert any("LAMP_KEY" in note for note in result.notes)


def test_a_label_that_is_a_path_and_a_value_over_its_limit_are_fitted_and_told(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    result = rec.agents.import_(put(small(), tmp_path))

    block = rec.blocks.get(result.agent, "a.b")
    assert (len(block.value), block.limit, block.hidden) == (30, 30, True)
    assert rec.blocks.get(result.agent, "human").read_only
    assert any("'a/b' is called 'a.b'" in note for note in result.notes)
    assert any("limit was raised" in note for note in result.notes)
    assert any("1 blocks of the file belong to no agent" in note for note in result.notes)


def test_what_was_changed_here_goes_out_changed(rec: LocalRecollect, tmp_path: Path) -> None:
    agent = rec.agents.import_(put(small(), tmp_path)).agent
    rec.blocks.set(agent, "a.b", "short")
    rec.blocks.update(agent, "a.b", new_label="c", limit=99)
    rec.agents.update(agent, model="gpt-5", description="Changed.")
    [said] = rec.conversations.list(agent=agent)
    rec.conversations.append(said, "user", "and now?")

    rec.agents.export(agent, tmp_path / "out.af", format="af")

    out = unwrapped(tmp_path / "out.af")
    [theirs] = out["agents"]
    block = next(one for one in out["blocks"] if one["id"] == "block-3")
    assert (block["label"], block["value"], block["limit"]) == ("c", "short", 99)
    assert theirs["llm_config"]["model"] == "gpt-5"
    assert theirs["description"] == "Changed."
    assert theirs["messages"][-1]["content"] == [{"type": "text", "text": "and now?"}]
    assert theirs["messages"][-1]["id"] == "message-8"
    assert theirs["in_context_message_ids"][-1] == "message-8"


def test_an_agent_of_ours_goes_out_in_lettas_shape_and_the_notes_say_what_stays(
    rec: LocalRecollect, clock: FakeClock, path: Path, tmp_path: Path
) -> None:
    rich_agent(rec, clock, path)

    result = rec.agents.export("ada", tmp_path / "out.af", format="af")

    out = unwrapped(tmp_path / "out.af")
    [theirs] = out["agents"]
    assert theirs["id"] == "agent-0"
    assert (theirs["name"], theirs["system"], theirs["model"]) == ("ada", "Be exact.", "gpt-x")
    assert theirs["block_ids"] == [f"block-{number}" for number in range(6)]
    assert [one["id"] for one in theirs["messages"]] == [f"message-{n}" for n in range(5)]
    call = theirs["messages"][1]["tool_calls"][0]
    assert call == {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    assert theirs["in_context_message_ids"] == ["message-4"]
    notes = " ".join(result.notes)
    for left in (
        "3 stayed behind",
        "passages",
        "summaries",
        "pins",
        "histories",
        "joined into one",
    ):
        assert left in notes
    again = rec.agents.import_(tmp_path / "out.af", "again").agent
    assert rec.blocks.get(again, "persona").value == rec.blocks.get("ada", "persona").value
    assert rec.maintenance.verify().ok


def test_a_file_of_several_agents_makes_them_all(rec: LocalRecollect, tmp_path: Path) -> None:
    file = small()
    file["agents"].append({**small()["agents"][0], "id": "agent-1", "name": "bob"})
    file["groups"][0]["agent_ids"] = ["agent-0", "agent-1"]

    result = rec.agents.import_(put(file, tmp_path))

    assert [result.agent.name, *(one.name for one in result.others)] == ["ada", "bob"]
    assert result.counts["agents"] == 2
    assert result.others[0].metadata["letta"]["file"]["groups"] == file["groups"]
    assert any("shared by agents of the file" in note for note in result.notes)
    with pytest.raises(InvalidInput, match="2 agents"):
        rec.agents.import_(tmp_path / "agent.af", "one name")
    assert rec.maintenance.verify().ok


def test_several_agents_are_made_all_or_none(rec: LocalRecollect, tmp_path: Path) -> None:
    file = small()
    file["agents"].append({**small()["agents"][0], "id": "agent-1", "name": "bob"})
    rec.agents.create("bob")
    before = rows(rec, tmp_path)

    with pytest.raises(AlreadyExists, match="bob"):
        rec.agents.import_(put(file, tmp_path))

    assert rows(rec, tmp_path) == before


def test_the_older_shape_of_one_agent_is_read_too(rec: LocalRecollect, tmp_path: Path) -> None:
    older = {
        "agent_type": "memgpt_agent",
        "name": "ada",
        "description": None,
        "system": "You are Ada.",
        "core_memory": [{"label": "human", "value": "Charles", "limit": 5000, "metadata_": None}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hello"}], "created_at": None},
            {"role": "assistant", "content": [{"type": "text", "text": "good day"}]},
        ],
        "in_context_message_indices": [1],
        "llm_config": {"model": "gpt-4o"},
        "metadata_": None,
        "tags": [{"tag": "old"}],
        "tools": [{"name": "look", "source_code": ""}],
        "tool_exec_environment_variables": [{"key": "LAMP_KEY", "value": "open sesame"}],
        "created_at": "2025-03-01T00:00:00Z",
        "version": "0.6.1",
    }

    agent = rec.agents.import_(put(older, tmp_path)).agent
    rec.agents.export(agent, tmp_path / "out.af", format="af")

    out = unwrapped(tmp_path / "out.af")
    [theirs] = out["agents"]
    assert rec.blocks.get(agent, "human").value == "Charles"
    assert (agent.model, theirs["version"], theirs["tags"]) == ("gpt-4o", "0.6.1", ["old"])
    assert theirs["tool_exec_environment_variables"] == [{"key": "LAMP_KEY", "value": ""}]
    assert theirs["in_context_message_ids"] == ["message-1"]
    assert [one["name"] for one in out["tools"]] == ["look"]
    assert rec.maintenance.verify().ok


def agent_of(file: dict[str, Any]) -> Any:
    return file["agents"][0]


BROKEN: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "nobody": (r"\$\.agents", lambda file: file.update(agents=[])),
    "agents as an object": (r"\$\.agents", lambda file: file.update(agents={})),
    "an agent that is a text": (r"\$\.agents\[0\]", lambda file: file.update(agents=["ada"])),
    "no name": (r"\$\.agents\[0\]\.name", lambda file: agent_of(file).pop("name")),
    "a system prompt that is a list": (
        r"\$\.agents\[0\]\.system",
        lambda file: agent_of(file).update(system=["be", "good"]),
    ),
    "a configuration that is a text": (
        r"\$\.agents\[0\]\.llm_config",
        lambda file: agent_of(file).update(llm_config="gpt"),
    ),
    "a role nobody knows": (
        r"\$\.agents\[0\]\.messages\[1\]\.role.*oracle",
        lambda file: agent_of(file)["messages"][1].update(role="oracle"),
    ),
    "content that is a number": (
        r"\.messages\[1\]\.content",
        lambda file: agent_of(file)["messages"][1].update(content=7),
    ),
    "calls that are a text": (
        r"\.messages\[2\]\.tool_calls",
        lambda file: agent_of(file)["messages"][2].update(tool_calls="look()"),
    ),
    "a time that is none": (
        r"\.messages\[1\]\.created_at",
        lambda file: agent_of(file)["messages"][1].update(created_at="soon"),
    ),
    "two messages of one id": (
        r"\.messages\[1\]\.id",
        lambda file: agent_of(file)["messages"][1].update(id="message-0"),
    ),
    "a message without an id": (
        r"\.messages\[1\]\.id",
        lambda file: agent_of(file)["messages"][1].pop("id"),
    ),
    "a block that is not there": (
        r"\.block_ids\[0\].*'block-3'",
        lambda file: file["blocks"].pop(1),
    ),
    "a block named twice": (
        r"\.block_ids",
        lambda file: agent_of(file).update(block_ids=["block-1", "block-1"]),
    ),
    "two blocks of one id": (
        r"\$\.blocks\[1\]\.id",
        lambda file: file["blocks"][1].update(id="block-1"),
    ),
    "a value that is a number": (
        r"\$\.blocks\[0\]\.value",
        lambda file: file["blocks"][0].update(value=7),
    ),
    "a limit that is a text": (
        r"\$\.blocks\[0\]\.limit",
        lambda file: file["blocks"][0].update(limit="long"),
    ),
    "a huge value": (
        r"\$\.blocks\[0\]\.value",
        lambda file: file["blocks"][0].update(value="x" * 2_000_000),
    ),
    "tools that are a text": (r"\$\.tools", lambda file: file.update(tools="hammer")),
}


@each_row("what", BROKEN)
def test_a_broken_file_is_refused_with_its_place_and_changes_nothing(
    what: str, rec: LocalRecollect, tmp_path: Path
) -> None:
    where, break_it = BROKEN[what]
    file = small()
    break_it(file)
    before = rows(rec, tmp_path)

    with pytest.raises(ImportRefused, match=f"(?s){where}"):
        rec.agents.import_(put(file, tmp_path))

    assert rows(rec, tmp_path) == before


def test_a_message_from_an_af_is_a_message_like_any_other(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    agent = rec.agents.import_(put(small(), tmp_path)).agent

    [said] = rec.conversations.list(agent=agent)
    assert all(
        isinstance(one, Message) and one.tokens > 0 for one in rec.conversations.messages(said)
    )
    assert said.started_at.isoformat() == "2025-11-21T03:09:00+00:00"
