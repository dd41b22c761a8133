"""
Export and import everything, as one text file.

One JSON object per line: a head that names the format, the rows, and an end with their number and
a hash over all lines before it, so that a truncated or altered file is refused. The same store
gives the same bytes. A name that ends in `.gz` is compressed.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from recollect.client.atomic_file import atomic_file
from recollect.domain.maintenance import Imported
from recollect.errors import ImportRefused, InvalidInput
from recollect.service.services import Services

FORMAT = 1

T = TypeVar("T")
BinaryFile = IO[bytes] | gzip.GzipFile


def export(services: Services, path: Path) -> int:
    """Write every row to *path*, complete or not at all; return how many there were."""
    return write_file(services, path, lambda file: export_to(services, file))


def write_file(services: Services, path: Path, write: Callable[[BinaryFile], T]) -> T:
    """Write a file, complete or not at all; one whose name ends in `.gz` is compressed."""
    if path.name.startswith(services.store.path.name) and path.resolve().parent == (
        services.store.path.resolve().parent
    ):
        raise InvalidInput(f"{path} belongs to the store itself; export to another name")
    with atomic_file(path) as raw:
        if path.suffix == ".gz":
            # No time and no name in the head: the same rows give the same file.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                return write(packed)
        return write(raw)


def export_to(services: Services, file: BinaryFile) -> int:
    """Write every row to an open file; return how many there were."""
    digest = hashlib.sha256()
    count = 0

    def put(value: Mapping[str, Any]) -> None:
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        digest.update(line)
        file.write(line)

    put({"recollect": "export", "format": FORMAT, "schema": services.store.schema_version()})
    for row in services.store.export_rows():
        put(row)
        count += 1
    put({"end": count, "sha256": digest.hexdigest()})
    return count


def import_(services: Services, path: Path) -> Imported:
    """Add the rows of an export, all or none; what is here already stays as it is."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            lines = gzip.GzipFile(fileobj=raw) if packed else raw
            return services.store.import_rows(_rows(lines, path))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error


def _rows(lines: BinaryFile, path: Path) -> Iterator[Mapping[str, Any]]:
    digest = hashlib.sha256()
    count = 0
    ended = False
    for number, line in enumerate(_lines(lines, path), start=1):
        row = _parsed(line, number, path)
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


def _lines(lines: BinaryFile, path: Path) -> Iterator[bytes]:
    try:
        yield from lines
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(f"{path} cannot be read to its end: {error}") from error


def _parsed(line: bytes, number: int, path: Path) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(
            f"{path}: line {number} is not JSON; nothing was imported. "
            "Is it a file written by `recollect export`?"
        ) from error
    if not isinstance(row, dict):
        raise ImportRefused(f"{path}: line {number} is no row; nothing was imported")
    return row


def _check_head(row: Mapping[str, Any], path: Path) -> None:
    if row.get("recollect") != "export":
        raise ImportRefused(f"{path} is not a Recollect export; nothing was imported")
    if row.get("format") != FORMAT:
        raise ImportRefused(
            f"{path} has export format {row.get('format')}, this version reads {FORMAT}; "
            "upgrade with: pip install -U recollect"
        )
