"""
Read captured material into transcripts: text, message lists and the text of files.

Text may have any format of `text/transcripts`. Nothing is stored here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

from recollect.domain.capture_event import CaptureMode
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.wire.material_files import check_size, file_material


def read_material(material: object, mode: CaptureMode) -> tuple[list[Transcript], str]:
    """Return the conversations in *material*, and the address of the file it came from."""
    if isinstance(material, PathLike):
        material = file_material(material)
    if isinstance(material, str):
        return _read_text(material, mode), ""
    if isinstance(material, Mapping) and isinstance(material.get("text"), str):
        # A file that the caller has read: its text and its file URI.
        transcripts = _read_text(material["text"], mode)
        return [_as_file(transcript) for transcript in transcripts], _text_field(material, "uri")
    if isinstance(material, Mapping):
        return [_read_messages(material.get("messages", [material]), material)], ""
    if isinstance(material, Sequence) and not isinstance(material, bytes | bytearray):
        return [_read_messages(material, {})], ""
    raise InvalidInput(
        "the material must be text, a list of {role, content} messages, or a path to a file, "
        f"not {type(material).__name__}"
    )


def _read_text(text: str, mode: CaptureMode) -> list[Transcript]:
    check_size(text)
    if mode in (CaptureMode.NOTE, CaptureMode.SUMMARY):
        voice = Voice.ASSISTANT if mode is CaptureMode.SUMMARY else Voice.USER
        return [Transcript(messages=(TranscriptMessage(voice, text),), format="text")]
    # Imported here, because only captures need the readers of all formats.
    from recollect.text.transcripts.transcript_reader import read_transcripts

    return read_transcripts(text)


def _as_file(transcript: Transcript) -> Transcript:
    """Return the transcript of a file: a text without speakers is not what the user typed."""
    if transcript.format != "text":
        return transcript
    messages = tuple(
        replace(message, voice=Voice.PASTED) if message.voice is Voice.USER else message
        for message in transcript.messages
    )
    return replace(transcript, messages=messages)


def _read_messages(messages: object, fields: Mapping[str, object]) -> Transcript:
    from recollect.text.transcripts.message_list import transcript_from_messages

    transcript = transcript_from_messages(messages)  # type: ignore[arg-type]  # it validates them
    check_size("".join(message.text for message in transcript.messages))
    return replace(
        transcript,
        title=_text_field(fields, "title") or transcript.title,
        session=_text_field(fields, "session_id") or transcript.session,
        folder=_text_field(fields, "cwd") or transcript.folder,
    )


def _text_field(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
