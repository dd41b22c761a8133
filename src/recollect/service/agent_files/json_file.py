"""Read and write the JSON of an agent file: size, depth and encoding. This file knows no format."""

import gzip
import io
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service.export_reader import Decrypt

MAX_BYTES = 1024 * 1024 * 1024  # of a trusted file
MAX_DEPTH = 200
MAX_JSON_STRINGS = 4  # how often JSON may be wrapped in a JSON string


@dataclass(frozen=True)
class JsonBounds:
    """How large the JSON of a file may be, decompressed."""

    bytes: int
    values: int  # counted by its commas


# The whole value is in memory at once: an untrusted file must not fill it.
UNTRUSTED_FILE = JsonBounds(32_000_000, 1_000_000)
TRUSTED_FILE = JsonBounds(MAX_BYTES, MAX_BYTES)


def to_json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return an object as a file's bytes: readable, and the same for the same value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    return text.encode() + b"\n"


def read_json(path: Path, bounds: JsonBounds, decrypt: Decrypt | None = None) -> Any:
    """
    Return the JSON value of a file (plain, gzipped, or JSON inside a JSON string).

    *decrypt* opens the file if it is encrypted: a server keeps uploads so.
    """
    try:
        with (decrypt and decrypt(path)) or path.open("rb") as raw:
            assert isinstance(raw, io.BufferedReader)
            is_gzip = raw.peek(2)[:2] == b"\x1f\x8b"
            data = _read_bytes(gzip.GzipFile(fileobj=raw) if is_gzip else raw, path, bounds)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    value = _parse(data, path)
    for _ in range(MAX_JSON_STRINGS):
        if not isinstance(value, str):
            break
        value = _parse(value, path)
    return value


def _read_bytes(file: IO[bytes] | gzip.GzipFile, path: Path, bounds: JsonBounds) -> bytes:
    try:
        data = file.read(bounds.bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(
            f"{path} cannot be read to its end: {error}; nothing was changed. Copy it again"
        ) from error
    what = ""
    if len(data) > bounds.bytes:
        what = f"{bounds.bytes:,} bytes"
    elif data.count(b",") > bounds.values:
        what = f"{bounds.values:,} values"
    if what:
        raise ImportRefused(
            f"{path} holds more than {what}; nothing was changed. If you know where it comes from, "
            "pass --trust (trust=True)"
        )
    return data


def _parse(data: bytes | str, path: Path) -> Any:
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(
            f"{path} is not JSON, or is cut off ({error}); nothing was changed. "
            "Copy or export it again"
        ) from error
    if _is_deep(value):
        raise ImportRefused(
            f"{path} is nested more than {MAX_DEPTH} levels deep; nothing was changed. "
            "No agent file is: is it the right one?"
        )
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return False
        level = inner
    return True
