"""
What callers may hand over, brought into one form: transcripts.

Text, message lists and files, in any of the formats of `text/transcripts`. Only what was named is
opened, and only regular files of text. This file reads and checks; it stores nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from os import PathLike

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.wire.material_files import check_size, file_path, read_text_file


class CaptureMode(StrEnum):
    """What kind of material is handed over."""

    TRANSCRIPT = "transcript"  # what was said, message by message
    NOTE = "note"  # somebody's own notes: each sentence is meant to be kept
    SUMMARY = "summary"  # what an agent wrote about a conversation, saved on purpose
    IMPORT = "import"  # a transcript from another program


def transcripts_in(material: object, mode: CaptureMode) -> tuple[list[Transcript], str]:
    """Return the conversations in *material*, and where it came from."""
    if isinstance(material, PathLike):
        text, uri = read_text_file(material), file_path(material).absolute().as_uri()
        return _understood(text, mode), uri
    if isinstance(material, str):
        return _understood(check_size(material), mode), ""
    if isinstance(material, Mapping) and isinstance(material.get("text"), str):
        # A file that was read elsewhere: its text, and where it lies.
        return _understood(check_size(material["text"]), mode), _told(material, "uri")
    if isinstance(material, Mapping):
        return [_from_messages(material.get("messages", [material]), material)], ""
    if isinstance(material, Sequence) and not isinstance(material, bytes | bytearray):
        return [_from_messages(material, {})], ""
    raise InvalidInput(
        "the material must be text, a list of {role, content} messages, or a path to a file, "
        f"not {type(material).__name__}"
    )


def _understood(text: str, mode: CaptureMode) -> list[Transcript]:
    if mode in (CaptureMode.NOTE, CaptureMode.SUMMARY):
        voice = Voice.ASSISTANT if mode is CaptureMode.SUMMARY else Voice.USER
        return [Transcript(messages=(TranscriptMessage(voice, text),), format="text")]
    # The formats are loaded by those who capture, not by everybody.
    from recollect.text.transcripts.transcript_reader import read_transcripts

    return read_transcripts(text)


def _from_messages(messages: object, told: Mapping[str, object]) -> Transcript:
    # As above.
    from recollect.text.transcripts.message_list import transcript_from_messages

    transcript = transcript_from_messages(messages)  # type: ignore[arg-type]  # it says what is wrong
    check_size("".join(said.text for said in transcript.messages))
    return replace(
        transcript,
        title=_told(told, "title") or transcript.title,
        session=_told(told, "session_id") or transcript.session,
        folder=_told(told, "cwd") or transcript.folder,
    )


def _told(told: Mapping[str, object], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""
