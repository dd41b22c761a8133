"""
Read the files a caller names as material, on the caller's machine.

Only regular text files are opened. A server never opens a path that a client sent as material: the
client reads the file and sends its text.
"""

import codecs
from os import PathLike
from pathlib import Path
from typing import Any

from recollect.config import expand_home
from recollect.errors import InvalidInput, TooLarge

MAX_CHARS = 64_000_000
MAX_BYTES = 3 * MAX_CHARS
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text_file(name: str | PathLike[str]) -> str:
    """Return the text of a file, or raise `InvalidInput` that says why it cannot be read."""
    path = file_path(name)
    try:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a transcript file in it")
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path} is not a regular file")
        if path.stat().st_size > MAX_BYTES:
            raise TooLarge(
                f"{path} is larger than {MAX_BYTES // 1_000_000} MB; capture it in parts"
            )
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise InvalidInput(f"{str(path)!r} is not a path: {error}") from error
    return check_size(decode_text(raw, path))


def file_material(name: str | PathLike[str]) -> dict[str, str]:
    """Return a file as material for a request: its text and its file URI."""
    return {"text": read_text_file(name), "uri": file_path(name).absolute().as_uri()}


def material_of(material: Any) -> Any:
    """Return *material* as it is, or the content of the file if it is a path object."""
    return file_material(material) if isinstance(material, PathLike) else material


def file_path(name: str | PathLike[str]) -> Path:
    """Return the path a caller wrote, with `~` expanded."""
    try:
        return expand_home(str(Path(name)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name!r} is not a path: {error}") from error


def check_size(text: str) -> str:
    """Return *text*, or raise `TooLarge`."""
    if len(text) > MAX_CHARS:
        raise TooLarge(
            f"the material has {len(text):,} characters; the limit is {MAX_CHARS:,}. "
            "Capture it in parts"
        )
    return text


def decode_text(raw: bytes, path: Path) -> str:
    """Return the text of a file's content; raise `InvalidInput` if it is not one."""
    encoding = "utf-16" if raw.startswith(_UTF16) else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\x00" in raw[:8192]:
        raise InvalidInput(f"{path} is not a text file")
    return raw.decode(encoding, errors="replace")
