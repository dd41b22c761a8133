"""
Export and import everything, as one text file.

One JSON object per line: a head that names the format, the rows, and an end with their number and
a hash over all lines before it, so that a truncated or altered file is refused. The same store
gives the same bytes, and so do, in a synced export, all devices that have synced. A name that ends
in `.gz` is compressed.

The store remembers the checksums of the exports it wrote. One of these is imported as it is, and so
is a file that the caller trusts; of any other only candidates are imported (untrusted_import.py).
"""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeVar

from recollect.client.atomic_file import atomic_file
from recollect.domain.maintenance import Imported
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import InvalidInput, StoreError
from recollect.service.apply_tombstones import apply_tombstones
from recollect.service.export_reader import (
    FORMAT,
    TRUSTED,
    UNTRUSTED,
    checksum_of,
    read_export_rows,
)
from recollect.service.services import Services
from recollect.service.untrusted_import import import_as_candidates
from recollect.wire.requests.recollect import ExportRequest, ImportRequest

T = TypeVar("T")
BinaryFile = IO[bytes] | gzip.GzipFile


def export(services: Services, request: ExportRequest, path: Path) -> int:
    """Write every row to *path*, complete or not at all; return how many there were."""
    return write_file(
        services,
        path,
        lambda file: export_to(services, file, synced=request.synced),
        plain=request.plain,
    )


def write_file(
    services: Services, path: Path, write: Callable[[BinaryFile], T], *, plain: bool
) -> T:
    """
    Write a file, complete or not at all; one whose name ends in `.gz` is compressed.

    What an encrypted store writes is encrypted with its key, unless it is to be *plain*.
    """
    file = services.store.file
    if file is not None and file.owns(path):
        raise InvalidInput(f"{path} belongs to the store itself; export to another name")
    encrypts = file is not None and file.is_encrypted and not plain
    with file.write_encrypted(path) if file is not None and encrypts else atomic_file(path) as raw:
        if path.suffix == ".gz":
            # No time and no name in the head: the same rows give the same file.
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                return write(packed)
        return write(raw)


def export_to(services: Services, file: BinaryFile, *, synced: bool) -> int:
    """Write every row, or what sync sends, to an open file; return how many there were."""
    digest = hashlib.sha256()
    count = 0

    def put(value: Mapping[str, Any]) -> None:
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        digest.update(line)
        file.write(line)

    put({"recollect": "export", "format": FORMAT, "schema": services.store.schema_version()})
    for row in services.store.export_rows(synced=synced):
        put(row)
        count += 1
    checksum = digest.hexdigest()
    put({"end": count, "sha256": checksum})
    _remember_export(services, checksum)
    return count


def import_(services: Services, request: ImportRequest, path: Path) -> Imported:
    """Add the rows of an export, merge what is here already, and delete what was deleted there."""
    file = services.store.file
    decrypt = None if file is None else file.read_encrypted
    checksum = checksum_of(path, decrypt)
    work = UnfinishedWork(
        kind=WorkKind.IMPORT, subject=checksum, detail=str(path), started_at=services.clock.now()
    )
    if request.trust or _is_own_export(services, checksum):
        deleted: Counter[str] = Counter()
        imported = services.store.import_rows(
            read_export_rows(path, TRUSTED, decrypt),
            work,
            apply_tombstones=lambda: deleted.update(apply_tombstones(services)),
        )
        return replace(imported, deleted=deleted)
    first_reading = read_export_rows(path, UNTRUSTED, decrypt)
    rows = read_export_rows(path, UNTRUSTED, decrypt)
    return import_as_candidates(services, first_reading, rows, work)


def _remember_export(services: Services, checksum: str) -> None:
    now = services.clock.now()
    with suppress(StoreError):  # a store that cannot be written can still be exported
        services.store.write(lambda tables: tables.unfinished_work.add_export(checksum, now))


def _is_own_export(services: Services, checksum: str) -> bool:
    with services.store.read() as tables:
        return tables.unfinished_work.has_export(checksum)
