"""
Cursor: ~/.cursor/projects/<project>/agent-transcripts, JSON Lines or plain text.

Cursor's own database is not read. The name of a project's folder is its path, with a hyphen for
everything but letters and digits. If no such path is on this disk, the sessions go to a project of
that name.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    matching_files,
    read_conversations,
)
from recollect.text.transcripts import cursor_transcript
from recollect.wire.material_files import read_text_file

_BELOW = "agent-transcripts"
MAX_FOLDERS = 5_000  # folders, to find one by its hyphenated name


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    return [environment.home / ".cursor" / "projects"]


def _files(folder: Path) -> Iterator[Path]:
    below = (f"*/{_BELOW}/", f"{_BELOW}/", "") if folder.name != _BELOW else ("",)
    return matching_files(
        folder,
        *(
            f"{deep}{name}"
            for deep in below
            for name in ("*.jsonl", "*.txt", "*/*.jsonl", "*/*.txt")
        ),
    )


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    if path.suffix == ".txt":
        transcripts = cursor_transcript.parse_text(read_text_file(path))
        if not transcripts:
            raise InvalidInput(f"{path} is not a session of Cursor")
    else:
        transcripts = read_conversations(path, cursor_transcript, "session of Cursor")
    slug = _slug(path)
    folder = _folder_named(slug) if slug else ""
    for transcript in transcripts:
        session = transcript.session or path.stem
        transcript = replace(transcript, session=session, folder=folder)
        yield ImportedConversation(transcript=transcript, project="" if folder else slug)


def _slug(path: Path) -> str:
    """Return the name of the project's folder that contains a transcript, else ''."""
    above = [parent for parent in path.parents if parent.name == _BELOW]
    return above[0].parent.name if above else ""


def _folder_named(slug: str) -> str:
    """Return the folder of this disk whose path is *slug* when hyphenated, else ''."""
    visited = 0
    pending = [(Path(Path.cwd().anchor), _hyphenated(slug))]
    while pending:
        folder, rest = pending.pop()
        if not rest:
            return str(folder)
        try:
            names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        except OSError:
            continue
        for name in names:
            visited += 1
            if visited > MAX_FOLDERS:
                return ""
            own = _hyphenated(name)
            if own and (rest == own or rest.startswith(f"{own}-")):
                pending.append((folder / name, rest[len(own) + 1 :]))
    return ""


def _hyphenated(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


SOURCE = HistorySource(
    name="cursor",
    about="Sessions of Cursor's agent that are plain files (~/.cursor/projects).",
    roots=_roots,
    files=_files,
    read=_read,
)
