"""A coding agent as hooks see it: its events as real processes, its transcript as a file."""

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

# Machines that run tests are slow; how long a hook may take is measured in benchmarks/.
PATIENT = {"RECOLLECT_HOOK_TIMEOUT_MS": "60000"}
HOOK = (sys.executable, "-m", "recollect", "hook")


@dataclass(frozen=True)
class Hooked:
    """What a hook did: its exit code, and what it printed."""

    code: int
    out: str

    @property
    def said(self) -> str:
        """What the client puts before its model, '' where nothing."""
        if not self.out:
            return ""
        told = json.loads(self.out)
        inner = told.get("hookSpecificOutput", told)
        text = inner.get("additionalContext", inner.get("additional_context"))
        assert isinstance(text, str)
        return text


@dataclass
class Home:
    """A person's folders, their store, and the environment their clients give to hooks."""

    folder: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def db(self) -> Path:
        return self.folder / "memory.db"

    @property
    def state(self) -> Path:
        return self.folder / "state" / "recollect"

    @property
    def files(self) -> Path:
        """Where hooks keep their small files."""
        return self.state / "hooks"

    @property
    def log(self) -> str:
        path = self.state / "hooks.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def env(self) -> dict[str, str]:
        """Return the environment of a hook."""
        strange = ("CLAUDE", "CURSOR", "CODEX", "RECOLLECT_", "MEMORY_")
        own = {name: one for name, one in os.environ.items() if not name.startswith(strange)}
        return {
            **own,
            "RECOLLECT_DB": str(self.db),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            **PATIENT,
            **self.more,
        }

    def project(self, name: str) -> Path:
        """Return the folder of a project, made."""
        path = self.folder / "projects" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def start(self, event: str, *options: str) -> subprocess.Popen[bytes]:
        """Start a hook, and let somebody else talk to it."""
        return subprocess.Popen(
            [*HOOK, event, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env(),
            cwd=self.folder,
        )

    def hook(self, event: str, told: Mapping[str, Any] | bytes, *options: str) -> Hooked:
        """Run a hook as a client does."""
        raw = told if isinstance(told, bytes) else json.dumps(told).encode()
        with self.start(event, *options) as process:
            out, err = process.communicate(raw, timeout=120)
        assert err == b"", err.decode()
        return Hooked(process.returncode, out.decode())

    def captured(self, count: int = 1) -> None:
        """Wait until so many captures have ended."""
        until(lambda: self.log.count("worked off") >= count)


def until(done: Callable[[], bool], *, within_s: float = 120.0) -> None:
    """Wait until *done*, or fail."""
    end = time.monotonic() + within_s
    while not done():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process as a machine that loses its power does."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


@dataclass(frozen=True)
class Client:
    """One coding agent: what it calls its events, and how it writes them and its transcripts."""

    name: str
    start: str
    prompt: str
    stop: str
    end: str
    told: Callable[[str, Path, Path | None], dict[str, Any]]
    line: Callable[[str, str, str, Path, int], dict[str, Any]]
    shape: Callable[[dict[str, Any], str], bool]

    def write(self, path: Path, said: list[tuple[str, str]], *, session: str, cwd: Path) -> Path:
        """Write a transcript as the client does."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [self.line(session, *one, cwd, place) for place, one in enumerate(said)]
        path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
        return path


def _claude_told(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return {
        "session_id": session,
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(cwd),
        "permission_mode": "default",
    }


def _codex_told(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
    return _claude_told(session, cwd, transcript) | {"model": "gpt-5", "turn_id": "t1"}


def _cursor_told(session: str, cwd: Path, transcript: Path | None) -> dict[str, Any]:
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


def _cursor_line(session: str, role: str, text: str, cwd: Path, place: int) -> dict[str, Any]:
    if role == "hook":
        role, text = "user", f"<system_reminder>\n{text}\n</system_reminder>"
    elif role == "user":
        text = f"<user_query>\n{text}\n</user_query>"
    return {"role": role, "message": {"content": [{"type": "text", "text": text}]}}


def _as_claude(told: dict[str, Any], event: str) -> bool:
    inner = told["hookSpecificOutput"]
    return (
        told.keys() == {"hookSpecificOutput"}
        and inner.keys() == {"hookEventName", "additionalContext"}
        and inner["hookEventName"] == event
    )


def _as_cursor(told: dict[str, Any], event: str) -> bool:
    if event == "sessionStart":
        return told.keys() == {"additional_context"}
    return told.keys() == {"continue", "additional_context"} and told["continue"] is True


CLAUDE_CODE = Client(
    "claude-code",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    _claude_told,
    _claude_line,
    _as_claude,
)
CODEX = Client(
    "codex",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    _codex_told,
    _codex_line,
    _as_claude,
)
CURSOR = Client(
    "cursor",
    "sessionStart",
    "beforeSubmitPrompt",
    "stop",
    "sessionEnd",
    _cursor_told,
    _cursor_line,
    _as_cursor,
)
CLIENTS = (CLAUDE_CODE, CODEX, CURSOR)
