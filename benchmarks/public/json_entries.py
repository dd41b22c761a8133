"""
Read the entries of a JSON file that is one long list, one at a time.

LongMemEval-M is gigabytes: `json.load` would hold the text and everything made of it at once. Here
there is never more than one entry and the piece of text around it. Knows nothing of what entries
mean.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

PIECE = 1 << 22  # characters read at once
_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class UnexpectedFile(Exception):
    """The file is missing, no list of objects, or not of the form its kind has."""


def read_entries(path: Path, *, piece: int = PIECE) -> Iterator[dict[str, Any]]:
    """Yield each object of the list in *path*, in order."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _entries(file, path, piece)
    except (OSError, UnicodeDecodeError) as error:
        raise UnexpectedFile(f"cannot read {path}: {error}") from error


def _entries(file: TextIO, path: Path, piece: int) -> Iterator[dict[str, Any]]:
    text, at, expected = file.read(piece), 0, "["
    while True:
        at = _past_space(text, at)
        if at == len(text):
            text, at = file.read(piece), 0
            if not text:
                raise UnexpectedFile(f"{path} ends before its list does; was it copied whole?")
            continue
        sign = text[at]
        if sign == "]" and expected != "[":
            return
        if expected in "[,":
            if sign != expected:
                raise UnexpectedFile(
                    f"{path} is not a JSON list; give the file as it was published"
                )
            at, expected = at + 1, "{"
            continue
        entry, text, at = _next(file, path, text, at, piece)
        if not isinstance(entry, dict):
            raise UnexpectedFile(f"{path} lists {type(entry).__name__}, not objects")
        yield entry
        expected = ","


def _next(file: TextIO, path: Path, text: str, at: int, piece: int) -> tuple[Any, str, int]:
    """Return the entry at *at*, the text it was read from and where it ends; reads on as needed."""
    text = text[at:]
    while True:
        try:
            entry, end = _DECODER.raw_decode(text)
        except json.JSONDecodeError as error:
            # Twice as much each time, so that a long entry is not begun again for every piece.
            more = file.read(max(piece, len(text)))
            if not more:
                raise UnexpectedFile(f"{path} is not whole or not JSON: {error.msg}") from error
            text += more
        else:
            return entry, text, end


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
