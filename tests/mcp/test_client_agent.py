"""An agent named after the client: with `--agent-from-client`, as the plugin starts the server."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from mcp_clients import PROTOCOL_VERSIONS, run_client, stdio_server
from recollect.domain.agent import DEFAULT_LABELS
from recollect.mcp.client_agent import agent_named_after
from tables import each_row

LABEL = next(iter(DEFAULT_LABELS))


@each_row(
    ("client", "agent"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client", "gemini-cli"),
        ("Visual Studio Code", "visual-studio-code"),
        ("  ../x\n", "x"),
        ("", None),
        ("…", None),
        ("01a1f505-59d0-791a-8000-00600b95a0d3", None),
    ],
)
def test_an_agent_is_named_after_its_client(client: str, agent: str | None) -> None:
    assert agent_named_after(client) == agent


@pytest.mark.door
@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_the_agent_of_the_client_has_blocks_to_edit(tmp_path: Path, era: str) -> None:
    server = stdio_server(tmp_path / "m.db", "--agent-from-client", cwd=tmp_path)

    async def scene(connected: Client) -> dict[str, Any]:
        edit = {"label": LABEL, "how": "set", "text": "Look at the tests first."}
        result = await connected.call_tool("edit_block", edit)
        assert not result.is_error, result.content
        status = await connected.call_tool("status", {})
        return dict(status.structured_content or {})

    info = Implementation(name="codex-mcp-client", version="1")
    status = run_client(server, scene, era=era, client_info=info)

    assert status["agent"] == "codex"
    assert LABEL in [block["label"] for block in status["blocks"]]


@pytest.mark.door
def test_a_named_agent_counts_before_the_client(tmp_path: Path) -> None:
    options = ("--agent", "coder", "--agent-from-client")

    async def scene(connected: Client) -> str:
        status = await connected.call_tool("status", {})
        return str((status.structured_content or {})["agent"])

    assert run_client(stdio_server(tmp_path / "m.db", *options, cwd=tmp_path), scene) == "coder"
