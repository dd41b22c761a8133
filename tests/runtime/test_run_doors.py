"""Runs over HTTP, as JSON and as events, through `recollect.connect`, and with MCP tools."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import recollect
from agent_runs import agent_store, log_of
from in_process_server import serve_in_thread
from recollect import AsyncRecollect, IllegalTransition, LocalRecollect, NotFound
from recollect.domain import agent_run as events
from recollect.models.scripted_turns import ScriptedTurnModel, call_turn
from recollect.runtime.mcp_tools import McpConnection, McpToolFailed, server_of
from recollect.wire.sse_decoder import SseDecoder

pytestmark = pytest.mark.door

RULES = {"tool_rules": [{"type": "requires_approval", "tool_name": "pay"}]}


def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@pytest.fixture
def served(path: Path) -> Iterator[tuple[str, LocalRecollect, ScriptedTurnModel]]:
    with (
        agent_store(path, tools=[pay], runtime=RULES) as (rec, model),
        serve_in_thread(rec) as url,
    ):
        yield url, rec, model


Served = tuple[str, LocalRecollect, ScriptedTurnModel]


def test_a_message_is_answered_as_json(served: Served) -> None:
    url, rec, model = served
    model.turns = [call_turn(("pay", {"amount": 5})), "Paid.", "Hello."]
    with httpx2.Client(base_url=url, trust_env=False) as http:
        first = http.post("/api/agents/ada/run", json={"message": "Pay."}).json()
        [waiting] = http.get("/api/approvals").json()
        assert first["stop_reason"] == "requires_approval"
        assert waiting["arguments"] == {"amount": 5}
        decided = http.post(f"/api/approvals/{waiting['id']}", json={"approve": True}).json()
        assert (decided["stop_reason"], decided["text"]) == ("end_turn", "Paid.")
        talk = decided["conversation_id"]
        assert http.post(f"/api/conversations/{talk}/cancel").json() is None
        runs = http.get(f"/api/conversations/{talk}/runs").json()
        assert [run["stop_reason"] for run in runs] == ["end_turn"]
        missing = http.post("/api/agents/nobody/run", json={"message": "Hi."})
        assert (missing.status_code, missing.json()["error"]) == (404, "NotFound")

    assert log_of(rec, talk)[2] == ("tool", "paid 5")


def test_a_message_is_answered_as_events(served: Served) -> None:
    url, _, model = served
    model.turns = ["Hello you."]
    with httpx2.Client(base_url=url, trust_env=False) as http:
        response = http.post(
            "/api/agents/ada/run", json={"message": "Hi."}, headers={"accept": "text/event-stream"}
        )

    assert response.headers["content-type"].startswith("text/event-stream")
    happened = SseDecoder().feed(response.content)
    assert [event.partition('"type":"')[2].partition('"')[0] for event in happened] == [
        "run_started",
        "text_delta",
        "text_delta",
        "message_stored",
        "run_ended",
    ]


def test_a_client_gets_the_same_events_results_and_errors(served: Served) -> None:
    url, _, model = served
    model.turns = [call_turn(("pay", {"amount": 5})), "Paid.", "Hello."]
    with recollect.connect(url) as remote:
        *happened, last = remote.agents.stream("ada", "Pay.")
        assert isinstance(last, events.RunEnded)
        assert isinstance(happened[0], events.RunStarted)
        assert any(isinstance(event, events.ApprovalRequested) for event in happened)
        [approval] = remote.agents.approvals()
        assert last.result.approvals == (approval,)
        assert remote.agents.decide(approval, True).text == "Paid."
        assert remote.agents.run("ada", "Hi.").text == "Hello."
        with pytest.raises(IllegalTransition):
            remote.agents.decide(approval, True)
        with pytest.raises(NotFound):
            remote.agents.run("nobody", "Hi.")


def test_a_client_that_hangs_up_cancels_the_run(served: Served) -> None:
    url, rec, model = served
    is_read, may_go_on = threading.Event(), threading.Event()

    def wait() -> str:
        """Wait until the client is gone."""
        is_read.set()
        may_go_on.wait(30)
        return "waited"

    rec.agents.add_tool(wait)
    model.turns = [call_turn(("wait", {})), "Never said."]
    with recollect.connect(url) as remote:
        stream = remote.agents.stream("ada", "Wait.")
        talk = next(stream).conversation_id  # type: ignore[union-attr]
        next(stream)
        assert is_read.wait(30)
        stream.close()  # type: ignore[attr-defined]
        remote.agents.cancel(talk)
        may_go_on.set()

    assert [run.stop_reason for run in rec.agents.runs(talk)] == ["cancelled"]
    assert log_of(rec, talk)[-1][1].startswith("Interrupted: ")


def test_events_are_iterated_asynchronously(path: Path) -> None:
    async def scene(rec: LocalRecollect) -> list[Any]:
        shared = AsyncRecollect(lambda: rec)
        return [event.type async for event in shared.agents.stream("ada", "Hi.")]

    with agent_store(path, "Hello.") as (rec, _):
        assert asyncio.run(scene(rec))[-1] == "run_ended"


MCP_SERVER = """
from mcp.server import MCPServer

server = MCPServer("numbers")

@server.tool()
def double(number: int) -> str:
    "Double a number."
    return str(2 * number)

@server.tool()
def fail() -> str:
    "Fail."
    raise ValueError("broken")

server.run()
"""


def test_the_tools_of_an_mcp_server_are_tools_of_an_agent(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "number_tools.py"
    script.write_text(MCP_SERVER)
    calls = call_turn(("double", {"number": 21}), ("fail", {}))
    with agent_store(path, calls, "Done.") as (rec, model):
        tools = rec.agents.add_mcp_server("numbers", command=[sys.executable, str(script)])
        result = rec.agents.run("ada", "Go.")

        assert [tool.name for tool in tools] == ["double", "fail"]
        answers = [text for role, text in log_of(rec, result.conversation_id) if role == "tool"]
        assert answers[0] == "42"
        assert answers[1].startswith("Error: ")
        [spec] = [spec for spec in model.requests[0].tools if spec.name == "double"]
        assert spec.parameters["properties"]["number"]["type"] == "integer"


def test_an_mcp_server_that_does_not_list_its_tools_is_named(tmp_path: Path) -> None:
    script = tmp_path / "number_tools.py"
    script.write_text(MCP_SERVER)
    connection = McpConnection(
        server_of(command=[sys.executable, str(script)], env=None), name="numbers"
    )
    connection.close()

    with pytest.raises(McpToolFailed, match="the MCP server 'numbers' did not list its tools"):
        connection.tools()
