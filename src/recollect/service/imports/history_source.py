"""
What a source of history is: where the files of a program are, and how one of them is read.

Each source has its file beside this one; `source_table.py` lists them. A reader yields one
conversation at a time; it stores nothing and decides nothing. A file that cannot be read raises
`InvalidInput` or `TooLarge`, whose message becomes the reason it was refused.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from recollect.domain.capture_event import CaptureMode
from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput, TooLarge
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts.json_fields import JsonRecord
from recollect.text.transcripts.json_records import decode_records
from recollect.wire.material_files import MAX_BYTES, read_text_file

MAX_FILES = 200_000
MAX_DEPTH = 8
MAX_VALUES = 3_000_000  # of the JSON of one file, counted by its commas


@dataclass(frozen=True)
class UserEnvironment:
    """The user's home folder and environment variables, which say where programs keep files."""

    home: Path
    environ: Mapping[str, str]

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder a variable names, or *default* in the home folder."""
        path = self.environ.get(variable, "")
        return Path(path).expanduser() if path else self.home / default


@dataclass(frozen=True, kw_only=True)
class ImportedConversation:
    """One conversation of a file, or one file of notes."""

    transcript: Transcript
    mode: CaptureMode = CaptureMode.TRANSCRIPT
    project: str = ""  # its name, if the folder of the session is not known


@dataclass(frozen=True, kw_only=True)
class HistorySource:
    """A program whose history can be imported."""

    name: str
    about: str
    roots: Callable[[UserEnvironment], Sequence[Path]]  # if the caller names no path
    files: Callable[[Path], Iterator[Path]]  # of a folder, in a fixed order
    read: Callable[[Path, UserEnvironment], Iterator[ImportedConversation]]
    needs_path: bool = False  # its files have no usual folder


class TranscriptFormat(Protocol):
    """A module of `text/transcripts`."""

    def recognises(self, records: Sequence[JsonRecord]) -> bool:
        """Return whether the records are of this format."""

    def parse(self, records: Sequence[JsonRecord]) -> list[Transcript]:
        """Return the conversations."""


def read_conversations(path: Path, format: TranscriptFormat, what: str) -> list[Transcript]:
    """Return the conversations of a file of one format, or raise `InvalidInput`."""
    text = check_json_text(read_text_file(path), path)
    if not text.strip():
        return []
    decoded = decode_records(text)
    if not format.recognises(decoded.records):
        raise InvalidInput(f"{path} is not a {what}")
    return [transcript for transcript in format.parse(decoded.records) if transcript.messages]


def check_json_text(text: str, path: Path) -> str:
    """Return *text*, or raise `TooLarge` if it has more values than fit into memory."""
    if text.count(",") > MAX_VALUES:
        raise TooLarge(f"{path} has more than {MAX_VALUES:,} values; split it")
    return text


def matching_files(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield the files below *folder* that match a pattern, in a fixed order."""
    files = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    yield from sorted(files)[:MAX_FILES]


def files_with_suffix(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below *folder* with one of the suffixes, without hidden ones and links."""
    for parent, folders, names in os.walk(folder):
        is_deep = len(Path(parent).parts) - len(folder.parts) >= MAX_DEPTH
        folders[:] = [] if is_deep else sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent) / name
            if name.endswith(suffixes) and not name.startswith(".") and not path.is_symlink():
                yield path


def checked_file_size(path: Path) -> int:
    """Return the size of a regular file, or raise."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{path} is not a regular file")  # reading a pipe would never end
    size = status.st_size
    if size > MAX_BYTES:
        raise TooLarge(
            f"{path} has {size / 1e6:,.0f} MB; the limit is {MAX_BYTES // 1_000_000} MB. "
            "Split it, or capture its parts"
        )
    return size
