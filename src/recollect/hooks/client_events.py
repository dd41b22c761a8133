"""
Parse the JSON payload of a client into one event. The payload is untrusted.

Claude Code, Codex and Gemini CLI use the same field names; Cursor uses its own. A field that is
missing or has the wrong type becomes ''; whatever depends on it is then skipped. This module opens
no files.
"""

import os.path
from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.hooks import event_names

MAX_NAME_CHARS = 200
MAX_PATH_CHARS = 4_096
MAX_ERROR_CHARS = 20_000
SOURCES = ("startup", "resume", "clear", "compact")

Payload = Mapping[str, object]


class HookEvent(NamedTuple):
    """An event of a client. Fields that the client did not send are ''."""

    client: str
    kind: str
    session: str = ""
    cwd: str = ""
    project: str = ""  # from the command's option or the client's environment
    prompt: str = ""
    transcript_path: str = ""
    source: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = {}
    error: str = ""  # of a tool that failed

    @property
    def project_or_cwd(self) -> str:
        """The project of this event, '' if it is unknown."""
        return self.project or self.cwd


def parse_event(payload: Payload, *, client: str, kind: str, project: str = "") -> HookEvent:
    """Return the event that *payload*, the JSON of a client, describes."""
    source = _text(payload, "source")
    return HookEvent(
        client=_client(payload, client),
        kind=kind,
        session=_name(payload, "session_id") or _name(payload, "conversation_id"),
        cwd=_valid_path(_text(payload, "cwd")) or _first_root(payload),
        project=project.strip(),
        prompt=_text(payload, "prompt"),
        transcript_path=_valid_path(_text(payload, "transcript_path")),
        source=source if source in SOURCES else "",
        tool=_name(payload, "tool_name"),
        arguments=_arguments(payload),
        error=(_text(payload, "error") or _failed_output(payload))[-MAX_ERROR_CHARS:],
    )


def _client(payload: Payload, client: str) -> str:
    # Cursor also runs the hooks of Claude Code plugins; only its payload shows that it is Cursor.
    if "cursor_version" in payload or {"workspace_roots", "conversation_id"} <= payload.keys():
        return event_names.CURSOR
    return client if client in event_names.CLIENTS else event_names.CLAUDE_CODE


def _first_root(payload: Payload) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return _valid_path(first) if isinstance(first, str) else ""


def _arguments(payload: Payload) -> Mapping[str, Any]:
    arguments = payload.get("tool_input")
    if isinstance(arguments, str):  # a patch, or JSON as text
        return {"input": arguments}
    return arguments if isinstance(arguments, dict) else {}


def _failed_output(payload: Payload) -> str:
    """Return what a failed command printed, as Gemini CLI reports it; '' if it did not fail."""
    response = payload.get("tool_response")
    output = response.get("llmContent") if isinstance(response, dict) else None
    return output if isinstance(output, str) and "\nExit Code: " in output else ""


def _text(payload: Payload, field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def _name(payload: Payload, field: str) -> str:
    value = _text(payload, field).strip()
    return value if len(value) <= MAX_NAME_CHARS and value.isprintable() else ""


def _valid_path(path: str) -> str:
    is_valid = len(path) <= MAX_PATH_CHARS and path.isprintable() and os.path.isabs(path)
    return path if is_valid else ""
