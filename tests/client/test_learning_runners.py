"""The vendors' own loops inside `learning()`: memory is there from the first turn."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest

from recollect import LocalRecollect, learning
from support import open_memory
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer, vendor_server

pytestmark = pytest.mark.vendor

FACT = "The boat is called Alba."
QUESTION: list[Any] = [{"role": "user", "content": "What is the boat called?"}]


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        rec.agents.create("anna")
        rec.ingest(FACT, agent="anna", scope="agent")
        yield rec


@pytest.fixture
def vendor() -> Iterator[VendorServer]:
    with vendor_server() as server:
        yield server


@pytest.fixture
def client(vendor: VendorServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="k", base_url=vendor.anthropic_url, max_retries=0) as client:
        yield client


def systems(vendor: VendorServer) -> list[str]:
    return [str(request.body.get("system", "")) for request in vendor.requests]


def test_a_tool_runner_is_told_on_its_first_turn(
    rec: LocalRecollect, vendor: VendorServer, client: anthropic.Anthropic
) -> None:
    @anthropic.beta_tool
    def tide() -> str:
        """Return the next high tide."""
        return "12:00"

    vendor.script(
        ScriptedResponse(calls=[ScriptedCall("tide", {})]), ScriptedResponse(text="At noon.")
    )
    with learning(agent="anna", memory=rec):
        runner = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5", max_tokens=100, messages=QUESTION, tools=[tide]
        )
        runner.until_done()

    first, second = vendor.requests
    assert first.body["thread"] == {"type": "create"}
    assert FACT in first.body["system"]
    assert second.body["thread"]["type"] == "continue"
    assert "system" not in second.body  # the server has it from the first turn
    stored = [message.content for message in rec.conversations.agent_messages("anna", limit=9)]
    assert stored.count(QUESTION[0]["content"]) == 1
    assert "At noon." in stored


def test_a_thread_is_told_on_its_first_turn_and_goes_on(
    rec: LocalRecollect, vendor: VendorServer, client: anthropic.Anthropic
) -> None:
    with learning(agent="anna", memory=rec):
        thread = client.beta.messages.thread(model="claude-sonnet-5-5", max_tokens=100)
        thread.send(QUESTION[0])
        thread.send({"role": "user", "content": "And who built it?"})

    first, second = systems(vendor)
    assert FACT in first
    assert second == ""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1beta/interactions", "Gemini's interactions"),
        ("/api/generate", "Ollama's generate"),
        ("/v2/chat", "Cohere"),
        ("/model/anthropic.claude/invoke", "Bedrock"),
    ],
)
def test_services_that_are_not_supported_are_named_if_no_other_call_was_made(
    rec: LocalRecollect, path: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={}))
    caplog.set_level(logging.WARNING, "recollect")
    with learning(agent="anna", memory=rec), httpx2.Client(transport=transport) as http:
        http.post(f"http://model.example{path}", json={"messages": []})
        http.get(f"http://model.example{path}")

    [warning] = caplog.messages
    assert f"it called {name}, which" in warning


def test_a_block_with_a_recorded_call_names_nothing(
    rec: LocalRecollect, client: anthropic.Anthropic, caplog: pytest.LogCaptureFixture
) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={}))
    with caplog.at_level(logging.WARNING, "recollect"), learning(agent="anna", memory=rec):
        client.messages.create(model="claude-sonnet-5-5", max_tokens=50, messages=QUESTION)
        with httpx2.Client(transport=transport) as http:
            http.post("http://model.example/api/generate", json={})

    assert caplog.messages == []
