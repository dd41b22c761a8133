"""Whatever a client sends, it gets a tool error with a sentence, and the connection goes on."""

import json
import logging
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import (
    PROTOCOL_VERSIONS,
    call_error,
    call_values,
    in_process_server,
    result_text,
    run_client,
    stdio_server,
)
from recollect.api.maintenance import Maintenance
from support import open_memory
from tables import each_row

pytestmark = pytest.mark.door

NOWHERE = "01900000-0000-7000-8000-000000000000"
HUGE = "x" * 1_100_000
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {}),
    ("search", {"query": 3}),
    ("search", {"query": None}),
    ("search", {"query": "a", "limit": 0}),
    ("search", {"query": "a", "limit": "8"}),
    ("search", {"query": "a", "limit": 10**30}),
    ("search", {"query": "a", "types": ["nonsense"]}),
    ("search", {"query": "a", "everywhere": True}),
    ("search", {"query": "a", "project": "bank"}),
    ("context", {"task": ["a"]}),
    ("context", {"task": "a", "budget_tokens": -1}),
    ("context", {"task": "a", "budget_tokens": 1e300}),
    ("remember", {"content": ""}),
    ("remember", {"content": "   "}),
    ("remember", {"content": HUGE}),
    ("remember", {"content": {"a": 1}}),
    ("remember", {"content": "a", "status": "active"}),
    ("remember", {"content": "a", "by": "user"}),
    ("remember", {"content": "a", "tags": ["t" * 10_000]}),
    ("remember", {"content": "a", "tags": ["t"] * 2_000 + [f"{n}" for n in range(2_000)]}),
    ("remember", {"content": "a", "alternatives": ["b"] * 100}),
    ("explain", {"id": "nonsense"}),
    ("explain", {"id": NOWHERE}),
    ("explain", {"id": NOWHERE, "query": "a"}),
    ("explain", {"id": HUGE}),
    ("explain", {"id": "\x00"}),
    ("review", {"action": "promote", "id": NOWHERE}),
    ("review", {"action": "keep", "id": NOWHERE}),
    ("review", {"action": "keep", "id": "' OR 1=1 --"}),
    ("edit_block", {"label": "nonsense", "how": "set", "text": "a"}),
    ("edit_block", {"label": "human", "how": "delete", "text": "a"}),
    ("edit_block", {"label": "human", "how": "replace", "text": "a"}),
    ("edit_block", {"label": "human", "how": "replace", "old": "absent", "text": "a"}),
    ("edit_block", {"label": "human", "how": "insert", "text": "a", "line": 99}),
    ("edit_block", {"label": "human", "how": "set", "text": "a" * 30_000}),
    ("edit_block", {"label": "../human", "how": "set", "text": "a"}),
    ("forget", {"id": NOWHERE}),
    ("forget", {"id": 1}),
    ("status", {"db": "/etc/passwd"}),
)


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_every_wrong_call_is_a_tool_error_in_a_sentence(tmp_path: Path, era: str) -> None:
    async def scene(client: Client) -> None:
        for tool, arguments in WRONG:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, str(arguments)[:80])
            text = result_text(result)
            assert 0 < len(text) < 600, (tool, text[:80])
            assert "Traceback" not in text
            assert "MemoryType" not in text
            assert "see the server's log" not in text, (tool, str(arguments)[:80], text)
        assert not (await client.call_tool("status", {})).is_error

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")
        run_client(in_process_server(rec), scene, era=era)

        assert rec.memories.list(everywhere=True, statuses=["inbox", "active"]) == []


@pytest.mark.parametrize("odd", ["\x00", "a\x00b", "\ud800", "‮evil", "<private>x</private> y"])
def test_odd_text_is_taken_as_text(tmp_path: Path, odd: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        result = call_values(server, "remember", content=f"odd {odd}")

        assert call_values(server, "explain", id=result["id"])["text"]
        hits = call_values(server, "search", query=odd)["hits"]
        assert {hit["id"] for hit in hits} <= {result["id"]}  # what it stored itself, or nothing
        call_values(server, "context", task=odd)


def test_secrets_are_taken_out_and_that_is_said(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        result = call_values(
            in_process_server(rec),
            "remember",
            content="The key is AKIAIOSFODNN7EXAMPLE.",
            rationale="see AKIAIOSFODNN7EXAMPLE",
        )

        assert "secrets were removed" in result["note"]
        assert "AKIAIOSFODNN7EXAMPLE" not in str(rec.memories.get(result["id"]))


def test_two_who_edit_one_block_are_shown_both_values(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")
        server = in_process_server(rec)
        call_values(server, "edit_block", label="persona", how="set", text="Ann", version=1)

        error = call_error(server, "edit_block", label="persona", how="set", text="Bob", version=1)

        assert "Your text:\nBob" in error
        assert "Current text:\nAnn" in error
        assert "The current version is 2." in error


def test_an_unexpected_error_is_logged_and_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Maintenance) -> None:
        raise ZeroDivisionError("a secret path")

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        monkeypatch.setattr(Maintenance, "status", broken)
        with caplog.at_level(logging.ERROR):
            error = call_error(in_process_server(rec), "status")

    assert error == "unexpected ZeroDivisionError; see the server's log"
    assert "a secret path" in caplog.text


def test_a_closed_store_is_a_tool_error(tmp_path: Path) -> None:
    rec = open_memory(tmp_path / "m.db", words_only=True)
    rec.close()

    assert "closed" in call_error(in_process_server(rec), "search", query="anything")


@each_row(
    "uri",
    [
        "recollect://blocks/absent",
        "recollect://blocks/",
        "recollect://skills/..%2F..%2Fetc%2Fpasswd",
        f"recollect://memories/{NOWHERE}",
        "recollect://memories/%00",
        "recollect://nonsense/x",
        "file:///etc/passwd",
        "recollect://",
    ],
)
def test_an_address_of_nothing_is_an_error_of_the_protocol(tmp_path: Path, uri: str) -> None:
    async def scene(client: Client) -> None:
        with pytest.raises(MCPError, match="there is no"):
            await client.read_resource(uri)

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        for era in PROTOCOL_VERSIONS:
            run_client(in_process_server(rec), scene, era=era)


def test_a_prompt_without_its_argument_says_what_it_needs(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        with pytest.raises(MCPError, match="needs task"):
            await client.get_prompt("recall", {"task": " "})
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("nonsense")

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        run_client(in_process_server(rec), scene)


@pytest.mark.door
def test_the_server_survives_invalid_messages_on_its_input(tmp_path: Path) -> None:
    """Lines that are no JSON, or none of the protocol, do not end the server."""
    parameters = stdio_server(tmp_path / "m.db", "--project", "site")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    lines = ["not json", "[]", '{"a":1}', "\x00", json.dumps(hello)]

    done = subprocess.run(
        [parameters.command, *parameters.args],
        input="\n".join(lines) + "\n",
        env=parameters.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert next(answer for answer in answers if answer.get("id") == 1)["result"]["serverInfo"]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert "Traceback" not in done.stderr


def test_a_whole_number_with_a_point_is_a_whole_number(tmp_path: Path) -> None:
    """To JSON 2.0 and 2 are one number, and to a schema both are integers."""
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        for number in range(3):
            rec.ingest(f"The site opens at {number}.", project="site")

        assert len(call_values(server, "search", query="site opens", limit=2.0)["hits"]) == 2
        call_values(server, "context", task="open", budget_tokens=500.0)
        call_values(server, "edit_block", label="persona", how="set", text="Ann", version=1.0)
