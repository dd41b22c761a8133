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

from recollect.service.imports.history_source import ImportedConversation, UserEnvironment, HistorySource, read_conversations, matching_files
from recollect.text.transcripts import gemini_transcript
from recollect.text.transcripts.json_fields import is_record, record_at
from recollect.text.transcripts.json_records import parse_json

MOST_LIST_BYTES = 4_000_000


def _roots(machine: UserEnvironment) -> Sequence[Path]:
    return [machine.home / ".gemini" / "tmp"]


def _files(folder: Path) -> Iterator[Path]:
    return matching_files(folder, *(f"{deep}session-*.json{end}" for deep in ("*/chats/", "chats/", "")
                              for end in ("", "l")))  # fmt: skip


def _read(path: Path, machine: UserEnvironment) -> Iterator[ImportedConversation]:
    folder = path.parent.parent if path.parent.name == "chats" else path.parent
    place = _place(folder, machine)
    named = "" if place or path.parent.name != "chats" else f"gemini {folder.name[:40]}"
    for one in read_conversations(path, gemini_transcript, "session of Gemini CLI"):
        yield ImportedConversation(transcript=replace(one, folder=one.folder or place), project=named)


def _place(folder: Path, machine: UserEnvironment) -> str:
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        pass  # an older one: it is named by a hash
    for place, slug in _projects(machine.home / ".gemini" / "projects.json"):
        if folder.name in (slug, hashlib.sha256(place.encode()).hexdigest()):
            return place
    return ""


def _projects(path: Path) -> list[tuple[str, str]]:
    try:
        if path.stat().st_size > MOST_LIST_BYTES:
            return []
        told = parse_json(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []
    known = record_at(told, "projects") if is_record(told) else {}
    return [(place, slug) for place, slug in known.items() if isinstance(slug, str)]


SOURCE = HistorySource(
    name="gemini-cli",
    about="Sessions of Gemini CLI (~/.gemini/tmp).",
    roots=_roots,
    files=_files,
    read=_read,
)
