"""Simulated coding agents: they run hooks as real processes and write transcripts as files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Test machines are slow; benchmarks/ measure how long a hook takes.
LONG_TIMEOUT = {"RECOLLECT_HOOK_TIMEOUT_MS": "60000"}
HOOK = (sys.executable, "-m", "recollect", "hook")


@dataclass(frozen=True)
class HookResult:
    """The exit code and output of a hook."""

    exit_code: int
    output: str

    @property
    def injected_text(self) -> str:
        """The text that the client injects into its session, '' if there is none."""
        if not self.output:
            return ""
        payload = json.loads(self.output)
        inner = payload.get("hookSpecificOutput", payload)
        text = inner.get("additionalContext", inner.get("additional_context"))
        assert isinstance(text, str)
        return text


@dataclass
class HookHome:
    """A user's folders and store, and the environment of the hooks."""

    folder: Path
    extra_env: Mapping[str, str] = field(default_factory=dict)

    @property
    def db(self) -> Path:
        return self.folder / "memory.db"

    @property
    def state(self) -> Path:
        return self.folder / "state" / "recollect"

    @property
    def session_files(self) -> Path:
        """The folder of the session files."""
        return self.state / "hooks"

    @property
    def log(self) -> str:
        path = self.state / "hooks.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def env(self) -> dict[str, str]:
        """Return the environment of a hook."""
        excluded = ("CLAUDE", "CURSOR", "CODEX", "RECOLLECT_", "MEMORY_")
        own = {key: value for key, value in os.environ.items() if not key.startswith(excluded)}
        return {
            **own,
            "RECOLLECT_DB": str(self.db),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            **LONG_TIMEOUT,
            **self.extra_env,
        }

    def project(self, name: str) -> Path:
        """Create the folder of a project and return it."""
        path = self.folder / "projects" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def start_hook(self, event: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a hook process and return it."""
        return subprocess.Popen(
            [*HOOK, event, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env(),
            cwd=self.folder,
        )

    def run_hook(self, event: str, payload: Mapping[str, Any] | bytes, *options: str) -> HookResult:
        """Run a hook with *payload* as a client does."""
        if isinstance(payload, Mapping) and "timestamp" in payload:
            options = ("--client", "gemini-cli", *options)  # as setup writes it
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        with self.start_hook(event, *options) as process:
            out, err = process.communicate(raw, timeout=120)
        assert err == b"", err.decode()
        return HookResult(process.returncode, out.decode())

    def wait_for_captures(self, count: int = 1) -> None:
        """Wait until *count* capture processes have ended."""
        wait_until(lambda: self.log.count(" jobs") >= count)


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 120.0) -> None:
    """Wait until *condition* is true, or fail."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.02)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process without a chance to clean up."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


@dataclass(frozen=True)
class CodingAgent:
    """One coding agent: its event names, and the formats of its payloads and transcripts."""

    name: str
    start: str
    prompt: str
    stop: str
    end: str
    payload: Callable[[str, Path, Path | None], dict[str, Any]]
    transcript_line: Callable[[str, str, str, Path, int], dict[str, Any]]
    accepts_response: Callable[[dict[str, Any], str], bool]

    def write_transcript(
        self, path: Path, messages: list[tuple[str, str]], *, session: str, cwd: Path
    ) -> Path:
        """Write a transcript in the client's format."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            self.transcript_line(session, *item, cwd, place) for place, item in enumerate(messages)
        ]
        path.write_text("".join(f"{json.dumps(item)}\n" for item in lines), encoding="utf-8")
        return path


def _claude_payload(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return {
        "session_id": session,
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(cwd),
        "permission_mode": "default",
    }


def _codex_payload(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return _claude_payload(session, cwd, transcript) | {"model": "gpt-5", "turn_id": "t1"}


def _cursor_payload(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return {
        "conversation_id": session,
        "generation_id": "g1",
        "model": "composer",
        "cursor_version": "3.20.17",
        "workspace_roots": [str(cwd)],
        "user_email": None,
        "transcript_path": None if transcript is None else str(transcript),
    }


def _claude_line(session: str, role: str, text: str, cwd: Path, place: int) -> dict[str, Any]:
    at = {"timestamp": f"2026-11-10T10:{place % 60:02}:00Z", "uuid": f"{session}-{place}"}
    where = {"sessionId": session, "cwd": str(cwd), "isSidechain": False}
    if role == "hook":
        attached = {
            "type": "hook_additional_context",
            "content": [text],
            "hookName": "SessionStart",
            "hookEvent": "SessionStart",
        }
        return {"type": "attachment", **where, **at, "attachment": attached}
    return {"type": role, **where, **at, "message": {"role": role, "content": text}}


def _codex_line(session: str, role: str, text: str, cwd: Path, place: int) -> dict[str, Any]:
    at = f"2026-11-10T10:{place % 60:02}:00Z"
    if place == 0:
        header = {"id": session, "cwd": str(cwd), "timestamp": at}
        return {"timestamp": at, "type": "session_meta", "payload": header}
    kind = "output_text" if role == "assistant" else "input_text"
    message = {
        "type": "message",
        "role": "developer" if role == "hook" else role,
        "content": [{"type": kind, "text": text}],
    }
    return {"timestamp": at, "type": "response_item", "payload": message}


def _gemini_payload(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return {
        "session_id": session,
        "transcript_path": "" if transcript is None else str(transcript),
        "cwd": str(cwd),
        "timestamp": "2026-11-10T10:00:00.000Z",
    }


def _gemini_line(session: str, role: str, text: str, cwd: Path, place: int) -> dict[str, Any]:
    at = f"2026-11-10T10:{place % 60:02}:00.000Z"
    if place == 0:
        return {"sessionId": session, "projectHash": "59272bf4", "startTime": at, "kind": "main"}
    if role == "hook":  # before what was typed, or as a part of its own
        escaped = text.replace("<", "&lt;").replace(">", "&gt;")
        content: Any = [{"text": f"<hook_context>{escaped}</hook_context>\n\nGo on."}]
    else:
        content = [{"text": text}] if role == "user" else text
    kind = "gemini" if role == "assistant" else "user"
    return {"id": f"{session}-{place}", "timestamp": at, "type": kind, "content": content}


def _cursor_line(session: str, role: str, text: str, cwd: Path, place: int) -> dict[str, Any]:
    if role == "hook":
        role, text = "user", f"<system_reminder>\n{text}\n</system_reminder>"
    elif role == "user":
        text = f"<user_query>\n{text}\n</user_query>"
    return {"role": role, "message": {"content": [{"type": "text", "text": text}]}}


def _is_claude_response(response: dict[str, Any], event: str) -> bool:
    inner = response["hookSpecificOutput"]
    return (
        response.keys() == {"hookSpecificOutput"}
        and inner.keys() == {"hookEventName", "additionalContext"}
        and inner["hookEventName"] == event
    )


def _is_cursor_response(response: dict[str, Any], event: str) -> bool:
    if event == "sessionStart":
        return response.keys() == {"additional_context"}
    return response.keys() == {"continue", "additional_context"} and response["continue"] is True


CLAUDE_CODE = CodingAgent(
    "claude-code",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    _claude_payload,
    _claude_line,
    _is_claude_response,
)
CODEX = CodingAgent(
    "codex",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    _codex_payload,
    _codex_line,
    _is_claude_response,
)
CURSOR = CodingAgent(
    "cursor",
    "sessionStart",
    "beforeSubmitPrompt",
    "stop",
    "sessionEnd",
    _cursor_payload,
    _cursor_line,
    _is_cursor_response,
)
GEMINI_CLI = CodingAgent(
    "gemini-cli",
    "SessionStart",
    "BeforeAgent",
    "AfterAgent",
    "SessionEnd",
    _gemini_payload,
    _gemini_line,
    _is_claude_response,
)
CLIENTS = (CLAUDE_CODE, CODEX, CURSOR, GEMINI_CLI)
