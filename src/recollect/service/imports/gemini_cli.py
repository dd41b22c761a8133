"""
Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.json, or the same line by line.

The session does not tell its folder. The project's folder does, in `.project_root`; older ones are
named by the hash of the path, which the program's own list of projects resolves. What neither tells
goes to a project of its own: a session must not reach further than it was held.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    matching_files,
    read_conversations,
)
from recollect.text.transcripts import gemini_transcript
from recollect.text.transcripts.json_fields import is_record, record_at
from recollect.text.transcripts.json_records import parse_json

MAX_LIST_BYTES = 4_000_000


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    return [environment.home / ".gemini" / "tmp"]


def _files(folder: Path) -> Iterator[Path]:
    names = ("session-*.json", "session-*.jsonl")
    below = ("*/chats/", "chats/", "")
    return matching_files(folder, *(f"{parent}{name}" for parent in below for name in names))


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    folder = path.parent.parent if path.parent.name == "chats" else path.parent
    working_folder = _working_folder(folder, environment)
    project = "" if working_folder or path.parent.name != "chats" else f"gemini {folder.name[:40]}"
    for transcript in read_conversations(path, gemini_transcript, "session of Gemini CLI"):
        transcript = replace(transcript, folder=transcript.folder or working_folder)
        yield ImportedConversation(transcript=transcript, project=project)


def _working_folder(folder: Path, environment: UserEnvironment) -> str:
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        pass  # an older one: it is named by a hash
    for working_folder, slug in _projects(environment.home / ".gemini" / "projects.json"):
        if folder.name in (slug, hashlib.sha256(working_folder.encode()).hexdigest()):
            return working_folder
    return ""


def _projects(path: Path) -> list[tuple[str, str]]:
    try:
        if path.stat().st_size > MAX_LIST_BYTES:
            return []
        value = parse_json(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []
    projects = record_at(value, "projects") if is_record(value) else {}
    return [(path, slug) for path, slug in projects.items() if isinstance(slug, str)]


SOURCE = HistorySource(
    name="gemini-cli",
    about="Sessions of Gemini CLI (~/.gemini/tmp).",
    roots=_roots,
    files=_files,
    read=_read,
)
