"""
Material that a caller names by its path: read where the caller is, as text.

Only what was named is opened, and only regular files of text. With the store in hand the service
reads here too; with a server between, the file stays the caller's and its text is sent.
"""

import codecs
from os import PathLike
from pathlib import Path

from recollect.config import at_home
from recollect.errors import InvalidInput, TooLarge

MOST_CHARS = 64_000_000
MOST_BYTES = 3 * MOST_CHARS
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def readable(named: str | PathLike[str]) -> str:
    """Return the text of the file a caller names, or say why it cannot be read."""
    path = path_of(named)
    try:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder; name a transcript file in it")
        if path.exists() and not path.is_file():
            raise InvalidInput(f"{path} is no regular file")
        if path.stat().st_size > MOST_BYTES:
            raise TooLarge(
                f"{path} is larger than {MOST_BYTES // 1_000_000} MB; capture it in parts"
            )
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise InvalidInput(f"{str(path)!r} is no path: {error}") from error
    return bounded(_decoded(raw, path))


def _decoded(raw: bytes, path: Path) -> str:
    encoding = "utf-16" if raw.startswith(_UTF16) else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\x00" in raw[:8192]:
        raise InvalidInput(f"{path} is no text file")
    return raw.decode(encoding, errors="replace")


def sendable(named: str | PathLike[str]) -> dict[str, str]:
    """Return the file a caller names as material that can be sent: its text, and where it lies."""
    return {"text": readable(named), "uri": path_of(named).absolute().as_uri()}


def path_of(named: str | PathLike[str]) -> Path:
    """Return where the file a caller names is."""
    try:
        return at_home(str(Path(named)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{named!r} is no path: {error}") from error


def bounded(text: str) -> str:
    """Return *text*, unless there is too much of it."""
    if len(text) > MOST_CHARS:
        raise TooLarge(
            f"the material has {len(text):,} characters; the limit is {MOST_CHARS:,}. "
            "Capture it in parts"
        )
    return text
