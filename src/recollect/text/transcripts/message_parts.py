"""
Convert the content of one message into transcript messages.

Content is a text, or a list of parts as in the OpenAI, Anthropic and Google APIs. Text keeps the
voice of its message; tool calls and their results get the tool's voice. Thinking and images are
left out.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from recollect.domain.transcript import TranscriptMessage, Voice
from recollect.text.redact import redact
from recollect.text.transcripts.json_fields import JsonRecord, is_record, record_at, text_at
from recollect.text.transcripts.json_records import parse_json

MAX_CALL_CHARS = 2000  # of a tool call; the content of a whole file adds nothing

_TEXT_TYPES = ("text", "input_text", "output_text", "")  # Google's parts have no type
_CALL_TYPES_TEXT = """
tool_use server_tool_use mcp_tool_use tool_call function_call custom_tool_call local_shell_call
web_search_call
"""
_CALL_TYPES = frozenset(_CALL_TYPES_TEXT.split())
_RESULT_SUFFIXES = ("tool_result", "_call_output")  # suffixes of the types of tool results
_ARGUMENT_FIELDS = ("input", "arguments", "args", "action", "summary")
_OUTPUT_FIELDS = ("output", "content", "text", "result", "error")


def content_messages(
    content: object, *, voice: Voice, speaker: str = "", at: datetime | None = None
) -> list[TranscriptMessage]:
    """Return a message for each part of *content*, without blank ones."""
    parts = content if isinstance(content, list | tuple) else [content]
    messages = [_part_message(part, voice, speaker, at) for part in parts]
    return [message for message in messages if message.text.strip()]


def mark_doubtful(messages: list[TranscriptMessage]) -> list[TranscriptMessage]:
    """
    Return the parts of one user message; the user's are pasted if it is doubtful who wrote them.

    Of several texts the user typed at most one. A text beside a tool result may belong to it.
    """
    is_beside_result = any(message.voice is Voice.TOOL for message in messages)
    if sum(message.voice is Voice.USER for message in messages) < 2 and not is_beside_result:
        return messages
    return [
        replace(message, voice=Voice.PASTED) if message.voice is Voice.USER else message
        for message in messages
    ]


def is_tool_call(kind: str) -> bool:
    """Return whether a part of type *kind* is a tool call."""
    return kind in _CALL_TYPES


def is_tool_result(kind: str) -> bool:
    """Return whether a part of type *kind* is a tool result."""
    return kind.endswith(_RESULT_SUFFIXES)


def part_text(part: JsonRecord) -> str:
    """Return the text of a text part, or '' for thinking, images and other parts."""
    kind = text_at(part, "type")
    if kind == "refusal":
        return text_at(part, "refusal")
    if kind not in _TEXT_TYPES or part.get("thought"):
        return ""
    return text_at(part, "text") or text_at(record_at(part, "text"), "value")


def tool_call_message(call: JsonRecord, *, at: datetime | None = None) -> TranscriptMessage:
    """Return a tool call as a message with the tool's voice: its name and arguments."""
    function = record_at(call, "function") or call
    name = text_at(function, "name") or text_at(call, "type").removesuffix("_call")
    values = (function.get(key) for key in _ARGUMENT_FIELDS)
    arguments = next((value for value in values if value is not None), None)
    return TranscriptMessage(Voice.TOOL, _call_text(name, arguments), name, at)


def tool_output_text(value: object) -> str:
    """Return the output of a tool as text, without its JSON wrappers."""
    if isinstance(value, str):
        # Codex wraps the output of a command in JSON once more.
        inner = parse_json(value) if value.startswith('{"output"') else None
        return text_at(inner, "output") if is_record(inner) else value
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, (_output_line(item) for item in value)))
    return _output_line(value)


def first_timestamp(messages: Iterable[TranscriptMessage]) -> datetime | None:
    """Return the first time in *messages*, or None."""
    return next((message.at for message in messages if message.at), None)


def _part_message(
    part: object, voice: Voice, speaker: str, at: datetime | None
) -> TranscriptMessage:
    if isinstance(part, str):
        return TranscriptMessage(voice, part, speaker, at)
    if not is_record(part):
        return TranscriptMessage(voice, "", speaker, at)
    kind = text_at(part, "type")
    if is_tool_call(kind):
        return tool_call_message(part, at=at)
    if is_tool_result(kind):
        return TranscriptMessage(Voice.TOOL, _result_text(part), text_at(part, "name"), at)
    return TranscriptMessage(voice, part_text(part), speaker, at)


def _result_text(part: JsonRecord) -> str:
    output = next((part[key] for key in _OUTPUT_FIELDS if part.get(key) is not None), None)
    return tool_output_text(output)


def _output_line(value: object) -> str:
    if isinstance(value, str):
        return value
    if not is_record(value):
        return ""
    return text_at(value, *_OUTPUT_FIELDS) or ("" if "type" in value else _compact(value))


def _call_text(name: str, arguments: object) -> str:
    inner = parse_json(arguments) if isinstance(arguments, str) else arguments
    plain = arguments if isinstance(arguments, str) else ""
    text = f"{name} {_compact(inner) if is_record(inner) else plain}".strip()
    if len(text) <= MAX_CALL_CHARS:
        return text
    # Redacted here already, because half a secret behind the cut would not be recognized.
    return redact(text[: 2 * MAX_CALL_CHARS]).text[: MAX_CALL_CHARS - 1] + "…"


def _compact(value: JsonRecord) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=_to_serializable)
    except (TypeError, ValueError, RecursionError):
        return "…"  # too deeply nested, or keys that cannot be sorted
    return "" if text == "{}" else text


def _to_serializable(value: object) -> object:
    return dict(value) if is_record(value) else f"<{type(value).__name__}>"
