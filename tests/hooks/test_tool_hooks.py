"""Hooks at a tool call: one line about this action, once, or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from hook_clients import CLAUDE_CODE, CODEX, CURSOR, GEMINI_CLI, CodingAgent, HookHome
from server_process import run_server

pytestmark = pytest.mark.door

DECIDED = "We use pnpm here, never npm."


def knowing(home: HookHome) -> Path:
    project = home.project("site")
    with recollect.open(home.db, embedding_backend="none") as rec:
        rec.ingest(DECIDED, type="decision", project=project)
    return project


def payload(client: CodingAgent, project: Path, command: str, session: str = "s") -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}
    return client.payload(session, project, None) | call


def test_a_line_is_injected_before_the_tool_call_that_it_concerns(home: HookHome) -> None:
    project = knowing(home)
    with run_server(home.db, env=home.env()):
        result = home.run_hook("PreToolUse", payload(CLAUDE_CODE, project, "npm install"))

        assert CLAUDE_CODE.accepts_response(json.loads(result.output), "PreToolUse")
        assert DECIDED in result.injected_text
        assert len(result.injected_text.splitlines()) == 1
        again = home.run_hook("PreToolUse", payload(CLAUDE_CODE, project, "npm install"))
        assert again.output == ""  # once in a session
        options = ("--client", "codex")
        codex = home.run_hook("PreToolUse", payload(CODEX, project, "npm ci", "t"), *options)
        assert DECIDED in codex.injected_text
        after = home.run_hook("postToolUse", payload(CURSOR, project, "npm ci", "u"))
        assert json.loads(after.output).keys() == {"additional_context"}
        failed = {"llmContent": "Output: (empty)\nExit Code: 1"}
        gemini = payload(GEMINI_CLI, project, "npm ci", "x") | {"tool_response": failed}
        after = home.run_hook("AfterTool", gemini)
        assert GEMINI_CLI.accepts_response(json.loads(after.output), "AfterTool")
        assert DECIDED in after.injected_text  # also after a call that failed
        other = payload(CLAUDE_CODE, home.project("bank"), "npm install", "v")
        assert home.run_hook("PreToolUse", other).output == ""
        silent = home.run_hook("PreToolUse", payload(CLAUDE_CODE, project, "pnpm install", "w"))
        assert silent.output == ""


def test_a_tool_call_does_not_wait_for_a_store_without_a_server(home: HookHome) -> None:
    result = home.run_hook("PreToolUse", payload(CLAUDE_CODE, knowing(home), "npm install"))

    assert (result.exit_code, result.output) == (0, "")
    assert "no output (no server)" in home.log
