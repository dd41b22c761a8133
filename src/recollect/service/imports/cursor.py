"""
Cursor: ~/.cursor/projects/<project>/agent-transcripts, JSON Lines or plain text.

What Cursor keeps in its own database is not read. The project's folder is named by its path with
everything but letters and digits made a hyphen; the path is looked for on this disk, and where it
is gone the sessions go to a project of that name.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.service.imports.history_source import ImportedConversation, UserEnvironment, HistorySource, read_conversations, matching_files
from recollect.text.transcripts import cursor_transcript
from recollect.wire.material_files import read_text_file

_BELOW = "agent-transcripts"
MOST_LOOKED_AT = 5_000  # folders, to find one by its hyphened name


def _roots(machine: UserEnvironment) -> Sequence[Path]:
    return [machine.home / ".cursor" / "projects"]


def _files(folder: Path) -> Iterator[Path]:
    below = (f"*/{_BELOW}/", f"{_BELOW}/", "") if folder.name != _BELOW else ("",)
    return matching_files(
        folder,
        *(f"{deep}{one}" for deep in below for one in ("*.jsonl", "*.txt", "*/*.jsonl", "*/*.txt")),
    )


def _read(path: Path, machine: UserEnvironment) -> Iterator[ImportedConversation]:
    if path.suffix == ".txt":
        found = cursor_transcript.parse_text(read_text_file(path))
        if not found:
            raise InvalidInput(f"{path} is no session of Cursor")
    else:
        found = read_conversations(path, cursor_transcript, "session of Cursor")
    slug = _slug(path)
    place = "" if not slug else _folder_named(slug)
    for one in found:
        told = replace(one, session=one.session or path.stem, folder=place)
        yield ImportedConversation(transcript=told, project="" if place else slug)


def _slug(path: Path) -> str:
    """Return the name of the project's folder a transcript lies in, else ''."""
    above = [one for one in path.parents if one.name == _BELOW]
    return above[0].parent.name if above else ""


def _folder_named(slug: str) -> str:
    """Return the folder of this disk whose path reads *slug* with hyphens, else ''."""
    looked_at = 0
    waiting = [(Path(Path.cwd().anchor), _hyphened(slug))]
    while waiting:
        place, rest = waiting.pop()
        if not rest:
            return str(place)
        try:
            names = sorted(one.name for one in os.scandir(place) if one.is_dir())
        except OSError:
            continue
        for name in names:
            looked_at += 1
            if looked_at > MOST_LOOKED_AT:
                return ""
            own = _hyphened(name)
            if own and (rest == own or rest.startswith(f"{own}-")):
                waiting.append((place / name, rest[len(own) + 1 :]))
    return ""


def _hyphened(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


SOURCE = HistorySource(
    name="cursor",
    about="Sessions of Cursor's agent that are plain files (~/.cursor/projects).",
    roots=_roots,
    files=_files,
    read=_read,
)
