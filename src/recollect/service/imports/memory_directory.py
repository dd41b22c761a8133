"""
An agent memory directory: Markdown files, with a MEMORY.md in each folder that belongs to it.

The directory draft of the Open Memory Protocol. The notes were written by an agent and are read as
its summary. A folder below `projects` is about the project of its name. A folder without a
MEMORY.md does not belong to the memory and is not read.
"""

from collections.abc import Iterator
from pathlib import Path

from recollect.domain.capture_event import CaptureMode
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    files_with_suffix,
)
from recollect.text.front_matter import parse_front_matter
from recollect.wire.material_files import read_text_file

FORMAT = "memory-directory"
INDEX = "MEMORY.md"


def _files(folder: Path) -> Iterator[Path]:
    if not (folder / INDEX).is_file():
        raise InvalidInput(
            f"{folder} has no {INDEX}, so it is not a memory directory; name the folder that has it"
        )
    for path in files_with_suffix(folder, (".md",)):
        if all((parent / INDEX).is_file() for parent in _parents(path, folder)):
            yield path


def _parents(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the folders between *folder* and a file in it."""
    for parent in path.parents:
        if parent == folder:
            return
        yield parent


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    text = read_text_file(path)
    matter = parse_front_matter(text) if text.startswith("---") else None
    body = text if matter is None or not matter.fields else matter.body
    if not body.strip() or _is_only_index(body):
        return
    transcript = Transcript(
        messages=(TranscriptMessage(Voice.ASSISTANT, body),),
        format=FORMAT,
        title=path.name,
        session=f"{FORMAT} {path.absolute()}"[-200:],
    )
    yield ImportedConversation(
        transcript=transcript, mode=CaptureMode.SUMMARY, project=_project_of(path)
    )


def _is_only_index(body: str) -> bool:
    """Return whether a text has only headings and links to other files."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    return all(line.startswith(("#", "- [", "* [")) for line in lines)


def _project_of(path: Path) -> str:
    parts = path.absolute().parts
    for at in range(len(parts) - 3, 0, -1):
        if parts[at] == "projects" and Path(*parts[: at + 1], INDEX).is_file():
            return parts[at + 1]
    return ""


SOURCE = HistorySource(
    name="memory-dir",
    about="A memory directory with MEMORY.md files (Open Memory Protocol).",
    roots=lambda environment: (),
    files=_files,
    read=_read,
    needs_path=True,
)
