"""
Lists of messages with a role and a content, as the OpenAI, Anthropic and Google interfaces have.

From Python a mistake is told with its index; from a file, what cannot be understood is skipped.
This file does not know which program wrote the list, nor any program's private marks.
"""

from collections.abc import Iterable, Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.errors import InvalidInput
from recollect.text.transcripts.fields import (
    Record,
    is_record,
    moment_at,
    record_at,
    records_at,
    text_at,
)
from recollect.text.transcripts.labels import VOICE_OF_ROLE, voice_of_role
from recollect.text.transcripts.parts import (
    called,
    first_time,
    is_call,
    is_result,
    output_text,
    said_in,
)

FORMAT = "messages"

_TIMES = ("created_at", "timestamp", "at", "time")
_SHAPE = "a mapping with 'role' and 'content'"


def from_messages(messages: Sequence[Record]) -> Transcript:
    """Return the transcript of *messages*, or raise `InvalidInput` that names the one at fault."""
    given: object = messages  # callers without a type checker give anything
    if not isinstance(given, Iterable) or isinstance(given, str | bytes) or is_record(given):
        raise InvalidInput(f"messages is of type {_type(given)}; give a list, each item {_SHAPE}.")
    items = list(messages)
    for index, message in enumerate(items):
        if problem := _problem(message):
            raise InvalidInput(f"messages[{index}] {problem}")
    return _transcript(items)


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are such messages among *records*, or objects that hold lists of them."""
    return any(_is_message(record) or _holds_messages(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return a transcript for each list that is held, and one for messages on their own."""
    held = [
        _transcript(
            _sound(records_at(record, "messages")),
            title=text_at(record, "title"),
            session=text_at(record, "session_id", "sessionId", "conversation_id", "id"),
            place=text_at(record, "cwd"),
        )
        for record in records
        if _holds_messages(record)
    ]
    return [*held, _transcript(_sound(records))]


def _is_message(record: Record) -> bool:
    known = text_at(record, "role").strip().casefold() in VOICE_OF_ROLE
    return known and any(key in record for key in ("content", "parts", "tool_calls"))


def _holds_messages(record: Record) -> bool:
    return any(_is_message(message) for message in records_at(record, "messages"))


def _sound(messages: Iterable[Record]) -> list[Record]:
    return [message for message in messages if _problem(message) is None]


def _transcript(
    messages: Iterable[Record], *, title: str = "", session: str = "", place: str = ""
) -> Transcript:
    said = tuple(one for message in messages for one in _said(message))
    return Transcript(
        said=said,
        format=FORMAT,
        title=title,
        session=session,
        place=place,
        started_at=first_time(said),
    )


def _said(message: Record) -> list[Said]:
    at = moment_at(message, *_TIMES)
    if _is_tool_item(message):
        return said_in([message], voice=Voice.TOOL, at=at)
    voice, unknown_role = voice_of_role(text_at(message, "role"))
    speaker = text_at(message, "speaker", "name") or unknown_role
    content = _content(message)
    if voice is Voice.TOOL:
        return said_in(output_text(content), voice=voice, speaker=speaker, at=at)
    said = said_in(content, voice=voice, speaker=speaker, at=at)
    said += said_in(message.get("refusal"), voice=voice, speaker=speaker, at=at)
    calls = (called(call, at=at) for call in _calls(message))
    return said + [call for call in calls if call.text]


def _is_tool_item(message: Record) -> bool:
    """Tell whether *message* is a call or an answer on its own, as OpenAI's Responses have them."""
    kind = text_at(message, "type")
    return "role" not in message and (is_call(kind) or is_result(kind))


def _content(message: Record) -> object:
    content = message.get("content")
    return message.get("parts") if content is None else content


def _calls(message: Record) -> list[Record]:
    calls = records_at(message, "tool_calls")
    before_tools = record_at(message, "function_call")
    return [*calls, before_tools] if before_tools else calls


def _problem(message: object) -> str | None:
    """Return what is wrong with *message*, in words that follow its place in the list."""
    if not is_record(message):
        return f"is of type {_type(message)}; it must be {_SHAPE}."
    if _is_tool_item(message):
        return None
    if not text_at(message, "role").strip():
        return "has no role; give one such as 'user' or 'assistant'."
    content = _content(message)
    if content is None:
        spoken = _calls(message) or text_at(message, "refusal")
        return None if spoken else "has no content; give a text, a list of parts, or tool_calls."
    if isinstance(content, str) or is_record(content):
        return None
    if not isinstance(content, list | tuple):
        return f"has content of type {_type(content)}; give a text or a list of parts."
    for index, part in enumerate(content):
        if not isinstance(part, str) and not is_record(part):
            return f"has content[{index}] of type {_type(part)}; a part is a text or a mapping."
    return None


def _type(value: object) -> str:
    return type(value).__name__
