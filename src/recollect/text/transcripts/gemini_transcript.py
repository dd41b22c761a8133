"""
Read transcripts of the Gemini CLI: JSON with a list of typed messages, or one message per line.

Thoughts are left out, and the project hash is not used as the place. File contents that the program
appends to the user's message get the tool's voice. Of a message written twice, the last version
counts. What a hook added to a message is left out: it stands between tags, at the beginning of the
text or in a part of its own, and the program has escaped the tags inside. Messages of the Gemini
API are read by message_list.py.
"""

import re
from collections.abc import Sequence

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts import message_parts
from recollect.text.transcripts.json_fields import (
    JsonRecord,
    is_record,
    record_at,
    records_at,
    text_at,
    time_at,
)

FORMAT = "gemini"

_VOICES = {
    "user": Voice.USER,
    "gemini": Voice.ASSISTANT,
    **dict.fromkeys(("info", "warning", "error"), Voice.SYSTEM),
}
_HOOK_CONTEXT = re.compile(r"\s*<hook_context>[^<>]*</hook_context>(?:\n\n|\s*\Z)")
_HOOK_CONTEXT_OF_TOOL = re.compile(r"\n\n<hook_context>[^<>]*</hook_context>\Z")
_FILES_HEADING = "\n--- Content from referenced files ---"
_SETUP_PREFIXES = (
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
)


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether *records* are such sessions, or the lines of one."""
    return any(_is_session(record) or _is_message(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return a transcript for each session, and one for messages written one per line."""
    sessions = [record for record in records if _is_session(record)]
    lines = [record for record in records if _is_message(record)]
    headers = (record for record in records if "sessionId" in record and not _is_session(record))
    transcripts = [_transcript(record, records_at(record, "messages")) for record in sessions]
    return [*transcripts, _transcript(next(headers, {}), lines)]


def _is_message(record: JsonRecord) -> bool:
    is_known_type = text_at(record, "type") in _VOICES and "role" not in record
    return is_known_type and "id" in record and ("content" in record or "toolCalls" in record)


def _is_session(record: JsonRecord) -> bool:
    return any(
        text_at(message, "type") in _VOICES and "role" not in message
        for message in records_at(record, "messages")
    )


def _transcript(session: JsonRecord, records: Sequence[JsonRecord]) -> Transcript:
    # A dict keeps the position of the first version and the text of the last.
    by_id = {text_at(record, "id") or id(record): record for record in records}
    user_voice = Voice.OTHER if text_at(session, "kind") == "subagent" else Voice.USER
    messages = tuple(
        message for record in by_id.values() for message in _parse_message(record, user_voice)
    )
    return Transcript(
        messages=messages,
        format=FORMAT,
        title=text_at(session, "summary"),
        session=text_at(session, "sessionId"),
        started_at=time_at(session, "startTime") or message_parts.first_timestamp(messages),
    )


def _parse_message(record: JsonRecord, user_voice: Voice) -> list[TranscriptMessage]:
    at = time_at(record, "timestamp")
    record = {**record, "content": _without_hook_context(record.get("content"))}
    text = _content_text(record["content"])
    voice = _VOICES.get(text_at(record, "type"), Voice.SYSTEM)
    messages = [TranscriptMessage(voice, text, at=at)]
    if voice is Voice.USER:
        typed, heading, files = text.partition(_FILES_HEADING)
        voice = Voice.PASTED if _is_doubtful(record, typed) else user_voice
        is_by_program = typed.lstrip().startswith(_SETUP_PREFIXES)
        messages = [TranscriptMessage(Voice.SYSTEM if is_by_program else voice, typed, at=at)]
        messages.append(TranscriptMessage(Voice.TOOL, (heading + files).strip(), at=at))
    for call in records_at(record, "toolCalls"):
        output = TranscriptMessage(Voice.TOOL, _tool_output(call), text_at(call, "name"), at)
        messages += [message_parts.tool_call_message(call, at=at), output]
    return [message for message in messages if message.text.strip()]


def _is_doubtful(record: JsonRecord, typed: str) -> bool:
    """Return whether *typed*, the text of a user message, may not be what the user typed."""
    if "displayContent" in record:  # what the user typed, if a command was expanded
        return _content_text(record["displayContent"]).strip() != typed.strip()
    parts = records_at(record, "content")
    texts = [text for part in parts if (text := message_parts.part_text(part)).strip()]
    is_beside_result = any("functionResponse" in part for part in parts)
    return is_beside_result or (len(texts) > 1 and texts[0].strip() != typed.strip())


def _without_hook_context(content: object) -> object:
    """Return *content* without what hooks added to it."""
    if isinstance(content, str):
        added = _HOOK_CONTEXT.match(content)
        return content[added.end() :] if added else content
    if not isinstance(content, list):
        return content
    parts: list[object] = []
    for part in content:
        text = part.get("text") if is_record(part) else part
        if not isinstance(text, str) or not (added := _HOOK_CONTEXT.match(text)):
            parts.append(part)
        elif rest := text[added.end() :]:
            parts.append({"text": rest})
    return parts


def _content_text(content: object) -> str:
    # Parts are pieces of one text, split anywhere, so they are joined without a separator.
    parts = content if isinstance(content, list) else [content]
    return "".join(
        part if isinstance(part, str) else message_parts.part_text(part) if is_record(part) else ""
        for part in parts
    )


def _tool_output(call: JsonRecord) -> str:
    responses = (record_at(part, "functionResponse") for part in records_at(call, "result"))
    outputs = (
        message_parts.tool_output_text(record_at(response, "response")) for response in responses
    )
    text = "\n".join(_HOOK_CONTEXT_OF_TOOL.sub("", output) for output in outputs if output)
    return text or text_at(call, "resultDisplay")
