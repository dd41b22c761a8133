"""
What callers may hand over, brought into one form: transcripts.

Text, message lists and files, in any of the formats of `text/transcripts`. Only what was named is
opened, and only regular files of text. This file reads and checks; it stores nothing.
"""

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from os import PathLike
from pathlib import Path

from recollect.config import at_home
from recollect.domain.transcript import Said, Transcript, Voice
from recollect.errors import InvalidInput, TooLarge

MOST_CHARS = 64_000_000
MOST_BYTES = 3 * MOST_CHARS
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class CaptureMode(StrEnum):
    """What kind of material is handed over."""

    TRANSCRIPT = "transcript"  # what was said, message by message
    NOTE = "note"  # somebody's own notes: each sentence is meant to be kept
    SUMMARY = "summary"  # what an agent wrote about a conversation, saved on purpose
    IMPORT = "import"  # a transcript from another program


def transcripts_in(material: object, mode: CaptureMode) -> tuple[list[Transcript], str]:
    """Return the conversations in *material*, and where it came from."""
    if isinstance(material, PathLike):
        path = _path(material)
        return _understood(_text_of(path), mode), path.absolute().as_uri()
    if isinstance(material, str):
        return _understood(_bounded(material), mode), ""
    if isinstance(material, Mapping):
        return [_from_messages(material.get("messages", [material]), material)], ""
    if isinstance(material, Sequence) and not isinstance(material, bytes | bytearray):
        return [_from_messages(material, {})], ""
    raise InvalidInput(
        "the material must be text, a list of {role, content} messages, or a path to a file, "
        f"not {type(material).__name__}"
    )


def _path(material: PathLike[str]) -> Path:
    try:
        return at_home(str(Path(material)))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{material!r} is no path: {error}") from error


def _understood(text: str, mode: CaptureMode) -> list[Transcript]:
    if mode in (CaptureMode.NOTE, CaptureMode.SUMMARY):
        voice = Voice.ASSISTANT if mode is CaptureMode.SUMMARY else Voice.USER
        return [Transcript(said=(Said(voice, text),), format="text")]
    # The formats are loaded by those who capture, not by everybody.
    from recollect.text.transcripts.read import read_transcripts

    return read_transcripts(text)


def _from_messages(messages: object, told: Mapping[str, object]) -> Transcript:
    # As above.
    from recollect.text.transcripts.messages import from_messages

    transcript = from_messages(messages)  # type: ignore[arg-type]  # it says what is wrong
    _bounded("".join(said.text for said in transcript.said))
    return replace(
        transcript,
        title=_told(told, "title") or transcript.title,
        session=_told(told, "session_id") or transcript.session,
        place=_told(told, "cwd") or transcript.place,
    )


def _told(told: Mapping[str, object], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _text_of(path: Path) -> str:
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
    return _bounded(_decoded(raw, path))


def _decoded(raw: bytes, path: Path) -> str:
    encoding = "utf-16" if raw.startswith(_UTF16) else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\x00" in raw[:8192]:
        raise InvalidInput(f"{path} is no text file")
    return raw.decode(encoding, errors="replace")


def _bounded(text: str) -> str:
    if len(text) > MOST_CHARS:
        raise TooLarge(
            f"the material has {len(text):,} characters; the limit is {MOST_CHARS:,}. "
            "Capture it in parts"
        )
    return text
