"""
A client's JSON as one event, hostile until checked.

Claude Code and Codex say the same by the same names; Cursor has its own. A field that is missing or
of the wrong type is empty: what cannot be done without it is not done. This file reads values only,
and opens nothing.
"""

import os.path
from collections.abc import Mapping
from typing import NamedTuple

from recollect.hooks import names

MOST_NAME = 200
MOST_PATH = 4_096
SOURCES = ("startup", "resume", "clear", "compact")


class HookEvent(NamedTuple):
    """What happened in a client. Whatever it did not say is ''."""

    client: str
    kind: str
    session: str = ""
    cwd: str = ""
    project: str = ""  # as the command's option or the client's environment names it
    prompt: str = ""
    transcript: str = ""
    source: str = ""

    @property
    def place(self) -> str:
        """The project this happened in, '' where nobody says."""
        return self.project or self.cwd


def event_of(told: Mapping[str, object], *, client: str, kind: str, project: str = "") -> HookEvent:
    """Return what *told*, the JSON of a client, says happened."""
    source = _text(told, "source")
    return HookEvent(
        client=_client(told, client),
        kind=kind,
        session=_name(told, "session_id") or _name(told, "conversation_id"),
        cwd=_path(_text(told, "cwd")) or _first_root(told),
        project=project.strip(),
        prompt=_text(told, "prompt"),
        transcript=_path(_text(told, "transcript_path")),
        source=source if source in SOURCES else "",
    )


def _client(told: Mapping[str, object], client: str) -> str:
    # Cursor also runs the hooks of plugins that were made for Claude Code, and says so itself.
    if "cursor_version" in told or ("workspace_roots" in told and "conversation_id" in told):
        return names.CURSOR
    return client if client in names.CLIENTS else names.CLAUDE_CODE


def _first_root(told: Mapping[str, object]) -> str:
    roots = told.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return _path(first) if isinstance(first, str) else ""


def _text(told: Mapping[str, object], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _name(told: Mapping[str, object], name: str) -> str:
    value = _text(told, name).strip()
    return value if len(value) <= MOST_NAME and value.isprintable() else ""


def _path(written: str) -> str:
    sound = len(written) <= MOST_PATH and written.isprintable() and os.path.isabs(written)
    return written if sound else ""
