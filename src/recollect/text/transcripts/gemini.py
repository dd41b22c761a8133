"""
Sessions of the Gemini CLI: JSON with a list of typed messages, or the same messages line by line.

Thoughts are left out, and the hash of the project is nobody's place. Files that the program put
behind the user's words are a tool's. A message written twice counts as it was written last. This
file does not know the programming interface of Gemini (see messages.py).
"""

from collections.abc import Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    moment_at,
    record_at,
    records_at,
    text_at,
)
from recollect.text.transcripts.parts import called, first_time, output_text, text_of

FORMAT = "gemini"

_VOICES = {
    "user": Voice.USER,
    "gemini": Voice.ASSISTANT,
    "info": Voice.SYSTEM,
    "warning": Voice.SYSTEM,
    "error": Voice.SYSTEM,
}
_FILES = "\n--- Content from referenced files ---"
_SETTING_UP = ("<session_context>", "This is the Gemini CLI. We are setting up the context")


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether *records* are such sessions, or the lines of one."""
    return any(_is_session(record) or _is_message(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return a transcript for each session, and one for messages that stand line by line."""
    whole = [record for record in records if _is_session(record)]
    lines = [record for record in records if _is_message(record)]
    header = next((one for one in records if "sessionId" in one and not _is_session(one)), {})
    told = [_transcript(one, records_at(one, "messages")) for one in whole]
    return [*told, _transcript(header, lines)]


def _is_message(record: Record) -> bool:
    known = text_at(record, "type") in _VOICES and "role" not in record
    return known and "id" in record and ("content" in record or "toolCalls" in record)


def _is_session(record: Record) -> bool:
    return any(
        text_at(message, "type") in _VOICES and "role" not in message
        for message in records_at(record, "messages")
    )


def _transcript(session: Record, messages: Sequence[Record]) -> Transcript:
    # A dict keeps the place of the first and the words of the last.
    by_id = {text_at(message, "id") or id(message): message for message in messages}
    said = tuple(one for message in by_id.values() for one in _said(message))
    return Transcript(
        said=said,
        format=FORMAT,
        title=text_at(session, "summary"),
        session=text_at(session, "sessionId"),
        started_at=moment_at(session, "startTime") or first_time(said),
    )


def _said(message: Record) -> list[Said]:
    at = moment_at(message, "timestamp")
    text = _text(message.get("content"))
    voice = _VOICES.get(text_at(message, "type"), Voice.SYSTEM)
    said = [Said(voice, text, at=at)]
    if voice is Voice.USER:
        typed, mark, files = text.partition(_FILES)
        by_program = typed.lstrip().startswith(_SETTING_UP)
        said = [Said(Voice.SYSTEM if by_program else voice, typed, at=at)]
        said.append(Said(Voice.TOOL, (mark + files).strip(), at=at))
    for call in records_at(message, "toolCalls"):
        said += [called(call, at=at), Said(Voice.TOOL, _answer(call), text_at(call, "name"), at)]
    return [one for one in said if one.text.strip()]


def _text(content: object) -> str:
    # Parts are pieces of one text, cut anywhere: nothing belongs between them.
    parts = content if isinstance(content, list) else [content]
    return "".join(
        part if isinstance(part, str) else text_of(part) if is_record(part) else ""
        for part in parts
    )


def _answer(call: Record) -> str:
    responses = [
        record_at(record_at(part, "functionResponse"), "response")
        for part in records_at(call, "result")
    ]
    told = "\n".join(filter(None, (output_text(response) for response in responses)))
    return told or text_at(call, "resultDisplay")
