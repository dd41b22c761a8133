"""
What a source of the past is: where its files lie, and how one of them is read.

Each source has its file beside this one; `sources.py` is the table of them. A reader gives what was
said, one conversation at a time; it stores nothing and decides nothing. A file that cannot be read
raises `InvalidInput` or `TooLarge`, whose message becomes the reason it was refused.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollect.domain.capture_event import CaptureMode
from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput, TooLarge
from recollect.text.transcripts.json_fields import JsonRecord
from recollect.text.transcripts.json_records import decode_records
from recollect.wire.material_files import MAX_BYTES, read_text_file

MOST_FILES = 200_000
MOST_DEPTH = 8


@dataclass(frozen=True)
class UserEnvironment:
    """Whose past it is: the home folder, and the variables that programs look at."""

    home: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder a variable names, or *default* in the home folder."""
        named = self.environ.get(variable, "")
        return Path(named).expanduser() if named else self.home / default


@dataclass(frozen=True, kw_only=True)
class ImportedConversation:
    """One conversation of a file, or one file of notes."""

    transcript: Transcript
    mode: CaptureMode = CaptureMode.TRANSCRIPT
    project: str = ""  # its name, where the folder it was held in is not known


@dataclass(frozen=True, kw_only=True)
class HistorySource:
    """One program whose past can be brought in."""

    name: str
    about: str
    roots: Callable[[UserEnvironment], Sequence[Path]]  # where its files lie unless a path is given
    files: Callable[[Path], Iterator[Path]]  # those of a folder, in a fixed order
    read: Callable[[Path, UserEnvironment], Iterator[ImportedConversation]]
    needs_path: bool = False  # nobody knows where its files lie but the caller


class TranscriptFormat(Protocol):
    """A format, as the files of `text/transcripts` have it."""

    def recognises(self, records: Sequence[JsonRecord]) -> bool:
        """Tell whether it is this format."""

    def parse(self, records: Sequence[JsonRecord]) -> list[Transcript]:
        """Return the conversations."""


def read_conversations(path: Path, form: TranscriptFormat, what: str) -> list[Transcript]:
    """Return what is said in a file of one format, or refuse it by name."""
    text = read_text_file(path)
    if not text.strip():
        return []
    decoded = decode_records(text)
    if not form.recognises(decoded.records):
        raise InvalidInput(f"{path} is no {what}")
    return [one for one in form.parse(decoded.records) if one.messages]


def matching_files(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield the files below *folder* that match a pattern, in a fixed order."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    yield from sorted(found)[:MOST_FILES]


def files_with_suffix(folder: Path, ends: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below *folder* whose names end so, hidden ones and links left out."""
    base = len(folder.parts)
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.parts) - base >= MOST_DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = here / name
            if name.endswith(ends) and not name.startswith(".") and not path.is_symlink():
                yield path


def checked_file_size(path: Path) -> int:
    """Return how large a file is, or refuse it by name."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is no regular file")  # a pipe would be waited for, for ever
    size = found.st_size
    if size > MAX_BYTES:
        raise TooLarge(
            f"{path} has {size / 1e6:,.0f} MB; the limit is {MAX_BYTES // 1_000_000} MB. "
            "Split it, or capture its parts"
        )
    return size
