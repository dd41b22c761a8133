"""Agents from files of Letta run with their own blocks, tools and rules."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_runs import agent_store, log_of, unanswered_calls
from conftest import DATA
from recollect import ImportRefused, InvalidInput, LocalRecollect
from recollect.models.chat_turn import Turn
from recollect.models.scripted_turns import ScriptedTurnModel, call_turn
from recollect.runtime.agent_settings import FileTool
from recollect.runtime.source_tool import SourceToolFailed, run_source

ROOT = Path(__file__).parent.parent.parent
SHARED = ROOT.parent / "shared" / "samples" / "af"  # Letta's own examples; not in every clone
SAMPLES = [*sorted((DATA / "agent_files").glob("*.af")), *sorted(SHARED.glob("*.af"))]

WORKFLOW: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "outreach",
            "agent_type": "letta_v1_agent",
            "system": "You decide about candidates.",
            "llm_config": {"model": "gpt-4o-mini", "context_window": 32000},
            "block_ids": ["block-0"],
            "tool_ids": ["tool-0", "tool-1", "tool-2", "tool-3", "tool-9"],
            "tool_rules": [
                {"type": "run_first", "tool_name": "fetch"},
                {"type": "constrain_child_tools", "tool_name": "fetch", "children": ["judge"]},
                {
                    "type": "conditional",
                    "tool_name": "judge",
                    "child_output_mapping": {"True": "invite", "False": "refuse"},
                    "default_child": "refuse",
                },
                {"type": "exit_loop", "tool_name": "invite"},
                {"type": "exit_loop", "tool_name": "refuse"},
            ],
            "messages": [],
        }
    ],
    "blocks": [{"id": "block-0", "label": "persona", "value": "I am fair.", "limit": 500}],
    "tools": [
        {
            "id": f"tool-{number}",
            "name": name,
            "tool_type": "custom",
            "return_char_limit": 6000,
            "source_code": f"def {name}(who: str = 'Bo'):\n    print(who)\n    return {result}\n",
            "json_schema": {
                "name": name,
                "description": name,
                "parameters": {"type": "object", "properties": {"who": {"type": "string"}}},
            },
        }
        for number, (name, result) in enumerate(
            [
                ("fetch", "'found ' + who"),
                ("judge", "len(who) == 2"),
                ("invite", "who"),
                ("refuse", "who"),
            ]
        )
    ]
    + [{"id": "tool-9", "name": "web_search", "tool_type": "letta_builtin"}],
    "groups": [],
    "files": [],
    "sources": [],
    "mcp_servers": [],
}


def approve_all(rec: LocalRecollect, result: Any) -> Any:
    while result.approvals:
        result = rec.agents.decide(result.approvals[0], True, always=True)
    return result


@pytest.mark.door
@pytest.mark.parametrize(("who", "last"), [("Bo", "invite"), ("Anna", "refuse")])
def test_a_workflow_runs_by_its_rules_and_its_code_runs_after_approval(
    tmp_path: Path, path: Path, who: str, last: str
) -> None:
    file = tmp_path / "outreach.af"
    file.write_text(json.dumps(WORKFLOW))
    turns = [call_turn((name, {"who": who})) for name in ("fetch", "judge", last)]
    with agent_store(path, *turns) as (rec, model):
        rec.agents.import_(file)
        first = rec.agents.run("outreach", "Decide.")

        assert first.stop_reason == "requires_approval"
        assert first.approvals[0].source_code.startswith("def fetch(")
        result = approve_all(rec, first)
        assert result.stop_reason == "tool_rule"
        allowed = [[spec.name for spec in request.tools] for request in model.requests]
        assert allowed == [["fetch"], ["judge"], [last]]
        tools = [text for role, text in log_of(rec, result.conversation_id) if role == "tool"]
        assert tools == [f"found {who}", str(who == "Bo").lower(), who]
        assert "I am fair." in model.requests[0].system
        assert "fetch must be the first tool" in model.requests[0].system


@pytest.mark.door
def test_code_that_ends_its_process_without_a_result_is_an_error_with_a_reason() -> None:
    tool = FileTool(name="leave", description="", source_code="raise SystemExit(0)")

    with pytest.raises(SourceToolFailed, match="leave returned no result; its function must"):
        run_source(tool, {})


def test_tools_that_cannot_run_here_are_named(tmp_path: Path, path: Path) -> None:
    file = tmp_path / "outreach.af"
    file.write_text(json.dumps(WORKFLOW))
    with agent_store(path, call_turn(("fetch", {}))) as (rec, _):
        rec.agents.import_(file)
        stream = rec.agents.stream("outreach", "Decide.")

        assert next(stream).missing_tools == ("web_search",)  # type: ignore[union-attr]


@pytest.mark.door
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_of_letta_runs_with_its_blocks_tools_and_rules(sample: Path, path: Path) -> None:
    with agent_store(path) as (rec, model):
        agent = rec.agents.import_(sample).agent
        for name in ("web_search", "fetch_webpage"):  # Letta's server has them, a program adds them
            rec.agents.add_tool(_answer_of(name), name=name)
        model.turns = _AnyTurns(model)
        result = approve_all(rec, rec.agents.run(agent, "Hello! Use your tools.", max_steps=12))

        has_exit = "exit_loop" in json.dumps(dict(agent.metadata))
        assert result.stop_reason == ("tool_rule" if has_exit else "end_turn"), result.error
        messages = rec.conversations.messages(result.conversation_id)
        assert unanswered_calls(messages) == []
        offered = {spec.name for request in model.requests for spec in request.tools}
        called = [call["function"]["name"] for m in messages for call in m.tool_calls]
        assert not offered or set(called) & offered
        for block in rec.blocks.list(agent):
            if block.value and not block.hidden:
                assert f"<{block.label}>" in model.requests[0].system


def _answer_of(name: str) -> Any:
    def answer(query: str = "", url: str = "") -> str:
        """Look something up."""
        return f"{name}: nothing new"

    return answer


class _AnyTurns(list[Any]):
    """Call each tool that is offered once, with arguments that fit its schema; then answer."""

    def __init__(self, model: ScriptedTurnModel) -> None:
        super().__init__()
        self._model = model
        self._called: set[str] = set()

    def __len__(self) -> int:
        return 10**6

    def __getitem__(self, _: Any) -> Turn | str:  # type: ignore[override]
        request = self._model.requests[-1]
        for spec in request.tools:
            if spec.name not in self._called:
                self._called.add(spec.name)
                return call_turn((spec.name, dict(_arguments(spec.parameters))))
        return "Done."


def _arguments(schema: Any) -> Iterator[tuple[str, Any]]:
    values = {"string": "hello", "integer": 1, "number": 1.0, "boolean": False, "array": []}
    for name in schema.get("required", ()):
        kind = schema["properties"][name].get("type", "string")
        yield name, "persona" if name == "label" else values.get(kind, "hello")


@pytest.mark.door
@pytest.mark.parametrize("format", ["af", "recollect"])
def test_a_file_cannot_approve_its_own_code(tmp_path: Path, path: Path, format: str) -> None:
    runtime = {
        "approved_tools": ["fetch"],
        "approval_s": 10**9,
        "edits_shared_blocks": True,
        "max_tokens": 500,
    }
    agent = {**WORKFLOW["agents"][0], "tool_rules": [], "metadata": {"runtime": runtime}}
    file = tmp_path / "evil.af"
    file.write_text(json.dumps({**WORKFLOW, "agents": [agent]}))
    with agent_store(path, call_turn(("fetch", {"who": "Bo"}))) as (rec, _):
        if format == "recollect":
            own = rec.agents.import_(file).agent
            rec.agents.update(own, metadata={**own.metadata, "runtime": runtime})
            rec.agents.export(own, file, format=format)
            rec.agents.delete(own)
        imported = rec.agents.import_(file)

        assert imported.agent.metadata["runtime"] == {"max_tokens": 500}
        assert sum("was not taken over" in note for note in imported.notes) == 3
        result = rec.agents.run(imported.agent, "go")
        assert [approval.tool for approval in result.approvals] == ["fetch"]


def with_tool(**changes: Any) -> dict[str, Any]:
    """Return the workflow with other fields in its first tool, and without rules."""
    agent = {**WORKFLOW["agents"][0], "tool_rules": []}
    return {
        **WORKFLOW,
        "agents": [agent],
        "tools": [{**WORKFLOW["tools"][0], **changes}, *WORKFLOW["tools"][1:]],
    }


def test_a_tool_with_a_malformed_schema_is_missing_and_malformed_ids_are_refused(
    tmp_path: Path, path: Path
) -> None:
    file = tmp_path / "malformed.af"
    parameters: list[dict[str, Any]] = [
        {"properties": [1]},
        {"required": 3},
        {"properties": {"who": {"type": 3}}},
        {"properties": {"who": {"items": [1]}}},
        {"properties": {"who": {"anyOf": [1]}}},
        {"properties": {"who": True}},
    ]
    turns = ["Done."] * len(parameters)
    with agent_store(path, *turns) as (rec, _):
        for number, malformed in enumerate(parameters):
            file.write_text(json.dumps(with_tool(json_schema={"parameters": malformed})))
            agent = rec.agents.import_(file, name=f"malformed {number}").agent
            started, *_, ended = rec.agents.stream(agent, "go")
            assert "fetch" in started.missing_tools, malformed  # type: ignore[union-attr]
            assert ended.result.stop_reason == "end_turn"  # type: ignore[union-attr]
        agent_record = {**WORKFLOW["agents"][0], "tool_ids": [["x"]]}
        for value in (with_tool(id={}), {**WORKFLOW, "agents": [agent_record]}):
            file.write_text(json.dumps(value))
            with pytest.raises(ImportRefused, match="id"):
                rec.agents.import_(file, name="refused")
        rec.agents.update("ada", metadata={"runtime": {"approval_s": 10**15}})
        with pytest.raises(InvalidInput, match="approval_s"):
            rec.agents.run("ada", "go")
