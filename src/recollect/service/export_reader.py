"""
Read an export file line by line, within bounds.

The file may come from anywhere and may be built to do harm: a few megabytes of gzip can hold
gigabytes. So at most one line is in memory, and the size of a line, the number of lines, the
decompressed size and its ratio to the file are bounded. Nothing is stored here.
"""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any

from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass

# Returns a context with the content of an encrypted file, None if the file is not encrypted.
Decrypt = Callable[[Path], AbstractContextManager[IO[bytes]] | None]

FORMAT = 1
MAX_END_BYTES = 64_000  # of the last line, which has the checksum
_CHUNK_BYTES = 1_000_000
_OTHER_IMPORTS = ". `recollect import --help` lists what reads the history of other programs"
_RATIO_FROM_BYTES = 64_000_000  # a small file may repeat itself as much as it likes


@dataclass(frozen=True)
class FileBounds:
    """How large an export file may be."""

    line_bytes: int
    values: int  # in one line, counted by its commas
    lines: int
    total_bytes: int  # decompressed
    ratio: int  # of the decompressed to the compressed size


# A source of 64 million characters is the largest row that a store writes.
TRUSTED = FileBounds(300_000_000, 300_000_000, 10**9, 10**12, 1_100)
UNTRUSTED = FileBounds(16_000_000, 1_000_000, 5_000_000, 4_000_000_000, 200)


def checksum_of(path: Path, decrypt: Decrypt | None = None) -> str:
    """Return the checksum of an export: over all lines before the last one."""
    digest = hashlib.sha256()
    with open_unpacked(path, decrypt) as file:
        tail = b""  # the last line, as far as it is known
        for chunk in _chunks(file, path):
            tail += chunk
            cut = tail.rfind(b"\n", 0, len(tail) - 1) + 1
            if not cut and len(tail) > MAX_END_BYTES:
                cut = len(tail)  # too long to be the last line of an export
            digest.update(tail[:cut])
            tail = tail[cut:]
    return digest.hexdigest()


def read_export_rows(
    path: Path, bounds: FileBounds, decrypt: Decrypt | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of an export; raise `ImportRefused` if it is damaged or too large."""
    digest = hashlib.sha256()
    count = 0
    ended = False
    for number, line in enumerate(_lines(path, bounds, decrypt), start=1):
        row = _parse_row(line, number, path, bounds)
        if ended:
            raise ImportRefused(f"{path}: line {number} comes after the end; nothing was imported")
        if number == 1:
            _check_head(row, path)
        elif "end" in row:
            ended = True
            if row.get("end") != count or row.get("sha256") != digest.hexdigest():
                raise ImportRefused(
                    f"{path} was altered or damaged: its contents do not match its checksum; "
                    "nothing was imported. Export it again from the original store"
                )
        else:
            count += 1
            yield row
        digest.update(line)
    if not ended:
        raise ImportRefused(
            f"{path} is cut off after {count} rows; nothing was imported. Copy or export it again"
        )


@contextmanager
def open_unpacked(path: Path, decrypt: Decrypt | None) -> Iterator[IO[bytes]]:
    """Open a file for reading, decrypted and decompressed if it is encrypted or packed."""
    try:
        if path.exists() and not path.is_file():
            raise InvalidInput(f"cannot read {path}: it is not a regular file{_OTHER_IMPORTS}")
        raw = (decrypt and decrypt(path)) or path.open("rb")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    with raw as file:
        assert isinstance(file, io.BufferedReader)
        if file.peek(2)[:2] == b"\x1f\x8b":
            yield io.BufferedReader(gzip.GzipFile(fileobj=file), _CHUNK_BYTES)
        else:
            yield file


def _chunks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    size = _SizeCheck(path, TRUSTED)
    try:
        while chunk := file.read(_CHUNK_BYTES):
            size.add(len(chunk))
            yield chunk
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(f"{path} cannot be read to its end: {error}") from error


def _lines(path: Path, bounds: FileBounds, decrypt: Decrypt | None) -> Iterator[bytes]:
    size = _SizeCheck(path, bounds)
    number = 0
    with open_unpacked(path, decrypt) as file:
        try:
            while line := file.readline(bounds.line_bytes + 1):
                number += 1
                if len(line) > bounds.line_bytes:
                    raise _too_large(
                        path, f"line {number} has more than {bounds.line_bytes:,} bytes"
                    )
                if number > bounds.lines:
                    raise _too_large(path, f"it has more than {bounds.lines:,} lines")
                size.add(len(line))
                yield line
        except (OSError, EOFError, zlib.error) as error:
            raise ImportRefused(f"{path} cannot be read to its end: {error}") from error


class _SizeCheck:
    """The decompressed size so far, and its bounds."""

    def __init__(self, path: Path, bounds: FileBounds) -> None:
        self._path = path
        self._bounds = bounds
        self._file_bytes = max(path.stat().st_size, 1)
        self._total = 0

    def add(self, count: int) -> None:
        self._total += count
        bounds = self._bounds
        if self._total > bounds.total_bytes:
            raise _too_large(self._path, f"it has more than {bounds.total_bytes:,} bytes unpacked")
        is_large = self._total > _RATIO_FROM_BYTES
        if is_large and self._total > bounds.ratio * self._file_bytes:
            what = f"it is more than {bounds.ratio} times as large unpacked as packed"
            raise _too_large(self._path, what)


def _too_large(path: Path, what: str) -> ImportRefused:
    return ImportRefused(
        f"{path} is not imported: {what}. If you know where it comes from, pass --trust "
        "(trust=True); nothing was changed"
    )


def _parse_row(line: bytes, number: int, path: Path, bounds: FileBounds) -> Mapping[str, Any]:
    if line.count(b",") > bounds.values:
        raise _too_large(path, f"line {number} has more than {bounds.values:,} values")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(
            f"{path}: line {number} is not JSON, or is nested too deep; nothing was imported. "
            "Is it a file written by `recollect export`?"
        ) from error
    if not isinstance(row, dict):
        raise ImportRefused(f"{path}: line {number} is not a JSON object; nothing was imported")
    return row


def _check_head(row: Mapping[str, Any], path: Path) -> None:
    if row.get("recollect") != "export":
        raise ImportRefused(
            f"{path} is not a Recollect export; nothing was imported{_OTHER_IMPORTS}"
        )
    if row.get("format") != FORMAT:
        raise ImportRefused(
            f"{path} has export format {row.get('format')}, this version reads {FORMAT}; "
            "upgrade with: pip install -U recollect"
        )
