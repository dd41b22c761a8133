"""
The JSON inside an export: a zip archive as it was downloaded, or the file itself.

An archive may be built to do harm. Nothing is unpacked to the disk; only
members of one name are read, one at a time, and never more of them than a file may have. Members
with a password, or with a path that leads elsewhere, are refused or passed over.
"""

import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from recollect.errors import InvalidInput, TooLarge
from recollect.service.imports.history_source import check_json_text
from recollect.text.transcripts.json_fields import JsonRecord, is_record
from recollect.wire.material_files import MAX_BYTES, check_size, read_text_file

MAX_MEMBERS = 100_000
RATIO_FROM_BYTES, MAX_RATIO = 16_000_000, 100  # text is packed to a tenth, not to a hundredth
_SPACE = " \t\r\n\ufeff"
_DECODER = json.JSONDecoder()


def texts_of(path: Path, *, begins: str) -> Iterator[str]:
    """Yield the JSON texts of an export: of each member whose name begins so, or the file's own."""
    if not zipfile.is_zipfile(path):
        yield check_json_text(read_text_file(path), path)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive, begins)
            if not members:
                raise InvalidInput(f"{path} holds no {begins}.json; is it the export?")
            for member in members:
                yield _text(archive, member, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise InvalidInput(f"{path} is a broken archive: {error}") from error


def objects_in(text: str, path: Path) -> Iterator[JsonRecord]:
    """Yield the objects of a JSON list one at a time, so that only one is in memory."""
    at = _skip_space(text, 0)
    if text[at : at + 1] == "{":
        record, _ = _decode_at(text, at, path)
        if is_record(record):
            yield record
        return
    if text[at : at + 1] != "[":
        raise InvalidInput(f"{path} is not a JSON list of conversations")
    at = _skip_space(text, at + 1)
    while text[at : at + 1] != "]":
        record, at = _decode_at(text, at, path)
        if is_record(record):
            yield record
        at = _skip_space(text, at)
        if text[at : at + 1] == ",":
            at = _skip_space(text, at + 1)
        elif text[at : at + 1] != "]":
            raise InvalidInput(f"{path} is cut off or broken after {at:,} characters")


def _members(archive: zipfile.ZipFile, begins: str) -> list[zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > MAX_MEMBERS:
        raise TooLarge(f"{archive.filename} has {len(listed):,} members; that is not an export")
    members = []
    for member in listed:
        name = PurePosixPath(member.filename.replace("\\", "/"))
        leads_away = name.is_absolute() or ".." in name.parts
        fits = name.name.startswith(begins) and name.suffix == ".json"
        if fits and not leads_away and len(name.parts) <= 2 and not member.is_dir():
            members.append(member)
    return sorted(members, key=lambda member: member.filename)


def _text(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> str:
    if member.flag_bits & 1:
        raise InvalidInput(f"{path} has a password; unpack it first and name {member.filename}")
    if member.file_size > MAX_BYTES:
        raise _too_large(path, member.filename)
    packed_bytes = min(member.compress_size, path.stat().st_size)
    if member.file_size > RATIO_FROM_BYTES and member.file_size > MAX_RATIO * packed_bytes:
        raise TooLarge(
            f"{member.filename} in {path} is {MAX_RATIO} times as large unpacked as packed; "
            "no export is. If you know where it comes from, unpack it and import the file"
        )
    with archive.open(member) as packed:
        # What the archive says of its sizes may be a lie.
        raw = packed.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise _too_large(path, member.filename)
    return check_json_text(check_size(raw.decode("utf-8-sig", errors="replace")), path)


def _too_large(path: Path, member: str) -> TooLarge:
    limit = MAX_BYTES // 1_000_000
    return TooLarge(f"{member} in {path} is larger than {limit} MB unpacked; that is the limit")


def _decode_at(text: str, at: int, path: Path) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is cut off or broken after {at:,} characters") from error


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
