"""The tools of an agent, under the names Letta gave them, done in the agent's name."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from recollect import BlockReadOnly, InvalidInput, LocalRecollect, TooLarge


@pytest.fixture
def coder(rec: LocalRecollect) -> LocalRecollect:
    rec.agents.create("coder", model="gpt-4o")
    return rec


def test_core_memory_is_edited_in_the_agents_name(coder: LocalRecollect) -> None:
    tools = coder.agents.tools("coder")

    assert tools.core_memory_append("persona", "I am terse.") == "I am terse."
    assert tools.core_memory_append("persona", "I test.") == "I am terse.\nI test."
    assert tools.core_memory_replace("persona", "terse", "plain") == "I am plain.\nI test."
    assert tools.memory_insert("persona", "First of all:", 0).startswith("First of all:\nI am")
    assert tools.memory_replace("persona", "I test.", "I test first.").endswith("I test first.")
    assert tools.memory_rethink("persona", "Anew.") == "Anew."
    history = coder.blocks.history("coder", "persona")
    assert [version.by for version in history][1:] == ["agent"] * 6


def test_limits_and_read_only_marks_hold_for_an_agent(coder: LocalRecollect) -> None:
    coder.blocks.update("coder", "persona", limit=10)
    tools = coder.agents.tools("coder")

    with pytest.raises(TooLarge, match=r"^Edit failed: Exceeds 10 character limit"):
        tools.core_memory_append("persona", "far too long for it")
    with pytest.raises(BlockReadOnly, match="read-only"):
        tools.core_memory_append("skills", "x")
    with pytest.raises(InvalidInput, match="does not occur"):
        tools.core_memory_replace("persona", "nothing", "x")
    assert coder.blocks.get("coder", "persona").value == ""


def test_a_tool_works_in_its_project_and_conversation(coder: LocalRecollect) -> None:
    talk = coder.conversations.start(agent="coder", project="site")
    tools = coder.agents.tools("coder", project="site", conversation=talk, trusted=True)

    assert tools.core_memory_append("project", "Tests: make test") == "Tests: make test"
    tools.core_memory_append("ticket", "BILL-12")

    seen = coder.blocks.list("coder", project="site", conversation=talk)
    assert {"project": "Tests: make test", "ticket": "BILL-12"}.items() <= {
        block.label: block.value for block in seen
    }.items()
    assert "ticket" not in [block.label for block in coder.blocks.list("coder", project="site")]


def test_the_archive_answers_as_lettas_does(coder: LocalRecollect) -> None:
    tools = coder.agents.tools("coder")
    passage = tools.archival_memory_insert("The staging server is walnut.", ["infra", "names"])
    tools.archival_memory_insert("Lunch is at noon.")

    response = tools.archival_memory_search("staging server", tags=["infra"])

    assert response["count"] == 1
    [result] = response["results"]
    assert result["id"] == passage
    assert result["content"] == "The staging server is walnut."
    assert result["tags"] == ["infra", "names"]
    assert set(result) == {"id", "timestamp", "content", "tags"}


def test_a_search_of_the_past_counts_sessions_from_the_present_one(coder: LocalRecollect) -> None:
    first = coder.conversations.start(agent="coder")
    coder.conversations.append(first, "user", "zebra of the first session")
    second = coder.conversations.start(agent="coder", started_at="2026-05-09")
    coder.conversations.append(second, "user", "zebra of the second session")

    tools = coder.agents.tools("coder", conversation=second)
    response = tools.conversation_search("what did we say of the zebra in the last session?")

    assert response["results"][0]["content"] == "zebra of the first session"


def test_every_form_of_the_schemas_describes_the_same_tools(coder: LocalRecollect) -> None:
    tools = coder.agents.tools("coder")
    openai = [tool["function"] for tool in tools.schemas()]
    keys = {"openai": "parameters", "responses": "parameters"}
    keys |= {"anthropic": "input_schema", "mcp": "inputSchema"}

    for form, key in keys.items():
        described = tools.schemas(form)
        if form == "openai":
            described = openai
        assert [tool["name"] for tool in described] == list(tools.NAMES), form
        assert [tool["description"] for tool in described] == [t["description"] for t in openai]
        for tool in described:
            Draft202012Validator.check_schema(tool[key])
            assert all(field.get("description") for field in tool[key]["properties"].values()), tool
    with pytest.raises(InvalidInput, match="use one of openai, responses, anthropic, mcp"):
        tools.schemas("gemini")


def test_a_tool_is_called_by_its_name_with_what_a_model_sends(coder: LocalRecollect) -> None:
    tools = coder.agents.tools("coder")

    arguments = '{"label": "persona", "content": "I am terse."}'
    assert tools.call("core_memory_append", arguments) == "I am terse."
    assert tools.call("archival_memory_insert", {"content": "Bern is the capital."})
    answer = json.loads(tools.call("archival_memory_search", {"query": "capital", "top_k": 3}))
    assert answer["results"][0]["content"] == "Bern is the capital."
    table: dict[str, tuple[str, Any]] = {
        "there is no tool 'schemas'": ("schemas", {}),
        "are not JSON": ("core_memory_append", "{"),
        "must be an object": ("core_memory_append", "[1]"),
        "content: Field required": ("core_memory_append", {"label": "persona"}),
        "Extra inputs": ("memory_rethink", {"label": "persona", "new_memory": "x", "y": 1}),
    }
    for message, (name, bad) in table.items():
        with pytest.raises(InvalidInput, match=message):
            tools.call(name, bad)
