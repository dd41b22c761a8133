"""
Read transcripts of Codex: JSON Lines of {"timestamp", "type", "payload"} under ~/.codex/sessions.

Codex writes a message twice, as a `response_item` for the model and as an `event_msg` for the
screen: an event counts only if no item has the same text. Text that the program sends in the user's
name (environment, instructions, editor state) gets the system's voice. What another agent asks of a
subagent is not the user's. The JSON printed by `codex exec` is not supported.

The editor puts the selected text before the heading of the request, and the selection may contain
that heading too. The last heading is the editor's own. If there are several, the request counts as
pasted, because the user may also have pasted one.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.json_fields import (
    JsonRecord,
    is_record,
    record_at,
    text_at,
    time_at,
)
from recollect.text.transcripts.message_parts import (
    content_messages,
    first_timestamp,
    mark_doubtful,
)
from recollect.text.transcripts.speaker_labels import voice_of_role

FORMAT = "codex"

_LINE_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_EVENT_VOICES = {"user_message": Voice.USER, "agent_message": Voice.ASSISTANT}
_PROGRAM_PREFIXES = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
_SPAWNED_FIELDS = ("parent_thread_id", "agent_path", "agent_role", "agent_nickname")
_SCRIPT_ORIGINATORS = ("codex_exec", "codex_sdk")
_EDITOR_PREFIXES = ("# Context from my IDE setup", "# Files mentioned by the user")
_VOICES_OF_USER = (Voice.USER, Voice.PASTED)
_REQUEST_HEADING = "## My request for Codex:"
_IMAGE_TAG = re.compile(r"\s*</?image\b[^<>]*>\s*")  # surrounds an image, alone in its part


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether there are lines of Codex among *records*."""
    return any(text_at(r, "type") in _LINE_TYPES and is_record(r.get("payload")) for r in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return the one session in *records*."""
    headers = [record for record in records if text_at(record, "type") == "session_meta"]
    user_voice = _user_voice(headers)
    items = [_item_messages(record, user_voice) for record in records]
    item_counts = Counter(key for item in items for key in _message_keys(item))
    messages: list[TranscriptMessage] = []
    for record, item in zip(records, items, strict=True):
        events = _event_messages(record, user_voice)
        messages += [*item, *(event for event in events if not _is_repeated(item_counts, event))]
    turns = [record for record in records if text_at(record, "type") == "turn_context"]
    return [
        Transcript(
            messages=tuple(messages),
            format=FORMAT,
            session=_first_field(headers, "id"),
            folder=_first_field(headers, "cwd") or _first_field(turns, "cwd"),
            started_at=_start_time(headers) or first_timestamp(messages),
        )
    ]


def _user_voice(headers: Sequence[JsonRecord]) -> Voice:
    """Return whose words the messages with the role `user` are."""
    payloads = [record_at(header, "payload") for header in headers]
    sources = [payload.get("source") for payload in payloads]
    is_spawned = any(payload.get(field) for payload in payloads for field in _SPAWNED_FIELDS)
    if is_spawned or any(is_record(source) or source == "mcp" for source in sources):
        return Voice.OTHER  # a subagent, or Codex as the tool of another agent
    is_script = "exec" in sources or any(
        text_at(payload, "originator").startswith(_SCRIPT_ORIGINATORS) for payload in payloads
    )
    return Voice.PASTED if is_script else Voice.USER  # a script may compose the prompt


def _item_messages(record: JsonRecord, user_voice: Voice) -> list[TranscriptMessage]:
    at = time_at(record, "timestamp")
    payload = record_at(record, "payload")
    match text_at(record, "type"):
        case "compacted":
            return content_messages(payload.get("message"), voice=Voice.SYSTEM, at=at)
        case "response_item" if text_at(payload, "type") in ("message", ""):
            voice, speaker = voice_of_role(text_at(payload, "role"))
            voice = user_voice if voice is Voice.USER else voice
            if voice in _VOICES_OF_USER and text_at(payload, "author"):
                voice = Voice.OTHER  # another agent
            messages = content_messages(payload.get("content"), voice=voice, speaker=speaker, at=at)
            parts = [part for message in messages for part in _split_program_text(message)]
            return mark_doubtful(parts)
        case "response_item":
            return content_messages([payload], voice=Voice.TOOL, at=at)
        case _:
            return []


def _event_messages(record: JsonRecord, user_voice: Voice) -> list[TranscriptMessage]:
    payload = record_at(record, "payload")
    voice = _EVENT_VOICES.get(text_at(payload, "type"))
    if voice is None or text_at(record, "type") != "event_msg":
        return []
    if text_at(payload, "kind") not in ("", "plain"):  # environment or instructions, as an item too
        return []
    voice = user_voice if voice is Voice.USER else voice
    at = time_at(record, "timestamp")
    messages = content_messages(text_at(payload, "message"), voice=voice, at=at)
    return [part for message in messages for part in _split_program_text(message)]


def _split_program_text(message: TranscriptMessage) -> list[TranscriptMessage]:
    """Split *message* into the user's own text and program text with the system's voice."""
    if message.voice not in _VOICES_OF_USER:
        return [message]
    text = message.text.lstrip()
    if text.startswith(_PROGRAM_PREFIXES):
        return [replace(message, voice=Voice.SYSTEM)]
    if _IMAGE_TAG.fullmatch(text):
        return []
    if not text.startswith(_EDITOR_PREFIXES):
        return [message]
    editor, heading, request = text.rpartition(_REQUEST_HEADING)
    if not heading:
        return [replace(message, voice=Voice.SYSTEM)]
    voice = Voice.PASTED if _REQUEST_HEADING in editor else message.voice
    typed = [replace(message, text=request.strip(), voice=voice)] if request.strip() else []
    return [replace(message, voice=Voice.SYSTEM, text=editor.strip()), *typed]


def _message_keys(messages: Sequence[TranscriptMessage]) -> set[tuple[Voice, str]]:
    """Return the texts in which an event may repeat *messages*: each part, or all joined."""
    texts = [message.text for message in messages if message.voice in _VOICES_OF_USER]
    joined = {(Voice.USER, separator.join(texts).strip()) for separator in ("", "\n")}
    return {_message_key(message) for message in messages} | joined


def _is_repeated(item_counts: Counter[tuple[Voice, str]], message: TranscriptMessage) -> bool:
    key = _message_key(message)
    item_counts[key] -= 1
    return item_counts[key] >= 0


def _message_key(message: TranscriptMessage) -> tuple[Voice, str]:
    voice = Voice.USER if message.voice in _VOICES_OF_USER else message.voice
    return voice, message.text.strip()


def _first_field(records: Sequence[JsonRecord], name: str) -> str:
    values = (text_at(record_at(record, "payload"), name) for record in records)
    return next(filter(None, values), "")


def _start_time(headers: Sequence[JsonRecord]) -> datetime | None:
    times = (
        time_at(record_at(header, "payload"), "timestamp") or time_at(header, "timestamp")
        for header in headers
    )
    return next(filter(None, times), None)
