"""
Read conversations exported from Claude.ai: lists of `chat_messages` from `human` or `assistant`.

A message has its text in the parts of `content`, or in older exports only in `text`. Attached files
are not the user's words and get the tool's voice. An edited conversation contains every branch in
the order written; all of them are read.
"""

from collections.abc import Sequence

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.json_fields import JsonRecord, records_at, text_at, time_at
from recollect.text.transcripts.message_parts import (
    content_messages,
    first_timestamp,
    mark_doubtful,
)
from recollect.text.transcripts.speaker_labels import voice_of_role

FORMAT = "claude-ai"


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether there are such conversations among *records*."""
    return any(_is_conversation(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return a transcript for each conversation."""
    return [_transcript(record) for record in records if _is_conversation(record)]


def _is_conversation(record: JsonRecord) -> bool:
    return isinstance(record.get("chat_messages"), list)


def _transcript(conversation: JsonRecord) -> Transcript:
    records = records_at(conversation, "chat_messages")
    messages = tuple(message for record in records for message in _parse_message(record))
    return Transcript(
        messages=messages,
        format=FORMAT,
        title=text_at(conversation, "name", "title"),
        session=text_at(conversation, "uuid"),
        started_at=time_at(conversation, "created_at") or first_timestamp(messages),
    )


def _parse_message(record: JsonRecord) -> list[TranscriptMessage]:
    at = time_at(record, "created_at")
    voice, speaker = voice_of_role(text_at(record, "sender"))
    parts = content_messages(record.get("content"), voice=voice, speaker=speaker, at=at)
    messages = mark_doubtful(parts)
    if not any(message.voice in (voice, Voice.PASTED) for message in messages):
        messages += content_messages(text_at(record, "text"), voice=voice, speaker=speaker, at=at)
    for attachment in records_at(record, "attachments"):
        text, name = text_at(attachment, "extracted_content"), text_at(attachment, "file_name")
        messages += content_messages(text, voice=Voice.TOOL, speaker=name, at=at)
    return messages
