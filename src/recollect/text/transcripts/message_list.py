"""
Read lists of messages with role and content, as in the OpenAI, Anthropic and Google APIs.

For messages passed from Python, an invalid one raises an error with its index; in a file, it is
skipped.
"""

from collections.abc import Iterable, Sequence

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.json_fields import (
    JsonRecord,
    is_record,
    record_at,
    records_at,
    text_at,
    time_at,
)
from recollect.text.transcripts.message_parts import (
    content_messages,
    first_timestamp,
    is_tool_call,
    is_tool_result,
    mark_doubtful,
    tool_call_message,
    tool_output_text,
)
from recollect.text.transcripts.speaker_labels import VOICE_OF_ROLE, voice_of_role

FORMAT = "messages"

_TIME_FIELDS = ("created_at", "timestamp", "at", "time")
_MESSAGE_SHAPE = "a mapping with 'role' and 'content'"


def transcript_from_messages(messages: Sequence[JsonRecord]) -> Transcript:
    """Return the transcript of *messages*; raise `InvalidInput` that names an invalid one."""
    value: object = messages  # callers without a type checker may pass anything
    if not isinstance(value, Iterable) or isinstance(value, str | bytes) or is_record(value):
        raise InvalidInput(
            f"messages is of type {_type_name(value)}; give a list, each item {_MESSAGE_SHAPE}."
        )
    items = list(messages)
    for index, message in enumerate(items):
        if problem := _problem(message):
            raise InvalidInput(f"messages[{index}] {problem}")
    return _transcript(items)


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether *records* contain such messages, or objects with lists of them."""
    return any(_is_message(record) or _holds_messages(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return a transcript for each list of messages, and one for messages outside of a list."""
    transcripts = [
        _transcript(
            _valid_messages(records_at(record, "messages")),
            title=text_at(record, "title"),
            session=text_at(record, "session_id", "sessionId", "conversation_id", "id"),
            place=text_at(record, "cwd"),
        )
        for record in records
        if _holds_messages(record)
    ]
    return [*transcripts, _transcript(_valid_messages(records))]


def _is_message(record: JsonRecord) -> bool:
    is_known_role = text_at(record, "role").strip().casefold() in VOICE_OF_ROLE
    return is_known_role and any(key in record for key in ("content", "parts", "tool_calls"))


def _holds_messages(record: JsonRecord) -> bool:
    return any(_is_message(message) for message in records_at(record, "messages"))


def _valid_messages(messages: Iterable[JsonRecord]) -> list[JsonRecord]:
    return [message for message in messages if _problem(message) is None]


def _transcript(
    records: Iterable[JsonRecord], *, title: str = "", session: str = "", place: str = ""
) -> Transcript:
    messages = tuple(message for record in records for message in _parse_message(record))
    origin = {"title": title, "session": session, "folder": place}
    at = first_timestamp(messages)
    return Transcript(messages=messages, format=FORMAT, started_at=at, **origin)


def _parse_message(record: JsonRecord) -> list[TranscriptMessage]:
    at = time_at(record, *_TIME_FIELDS)
    if _is_tool_item(record):
        return content_messages([record], voice=Voice.TOOL, at=at)
    voice, unknown_role = voice_of_role(text_at(record, "role"))
    speaker = text_at(record, "speaker", "name") or unknown_role
    if voice is Voice.USER and (speaker or text_at(record, "voice") == Voice.PASTED):
        voice = Voice.PASTED  # a named participant may be another agent
    content = _content(record)
    if voice is Voice.TOOL:
        return content_messages(tool_output_text(content), voice=voice, speaker=speaker, at=at)
    messages = mark_doubtful(content_messages(content, voice=voice, speaker=speaker, at=at))
    messages += content_messages(record.get("refusal"), voice=voice, speaker=speaker, at=at)
    calls = (tool_call_message(call, at=at) for call in _calls(record))
    return messages + [call for call in calls if call.text]


def _is_tool_item(message: JsonRecord) -> bool:
    """Return whether *message* is a separate tool call or result, as in OpenAI's Responses API."""
    kind = text_at(message, "type")
    return "role" not in message and (is_tool_call(kind) or is_tool_result(kind))


def _content(message: JsonRecord) -> object:
    content = message.get("content")
    return message.get("parts") if content is None else content


def _calls(message: JsonRecord) -> list[JsonRecord]:
    calls = records_at(message, "tool_calls")
    function_call = record_at(message, "function_call")
    return [*calls, function_call] if function_call else calls


def _problem(message: object) -> str | None:
    """Return what is wrong with *message*, as the end of a sentence, or None if it is valid."""
    if not is_record(message):
        return f"is of type {_type_name(message)}; it must be {_MESSAGE_SHAPE}."
    if _is_tool_item(message):
        return None
    if not text_at(message, "role").strip():
        return "has no role; give one such as 'user' or 'assistant'."
    content = _content(message)
    if content is None:
        has_output = _calls(message) or text_at(message, "refusal")
        problem = "has no content; give a text, a list of parts, or tool_calls."
        return None if has_output else problem
    if isinstance(content, str) or is_record(content):
        return None
    if not isinstance(content, list | tuple):
        return f"has content of type {_type_name(content)}; give a text or a list of parts."
    for index, part in enumerate(content):
        if not isinstance(part, str) and not is_record(part):
            kind = _type_name(part)
            return f"has content[{index}] of type {kind}; a part is a text or a mapping."
    return None


def _type_name(value: object) -> str:
    return type(value).__name__
