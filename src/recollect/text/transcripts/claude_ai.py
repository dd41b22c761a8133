"""
Conversations exported from Claude.ai: each a list of `chat_messages`, sent by `human` or
`assistant`.

A message has its words in `content`, in parts, or in older exports in `text` alone; both are the
same words. What was attached is a file's text, not the user's, and so a tool's. A conversation that
was edited holds every branch in the order written; this file does not follow them.
"""

from collections.abc import Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts.fields import Record, moment_at, records_at, text_at
from recollect.text.transcripts.labels import voice_of_role
from recollect.text.transcripts.parts import first_time, said_in

FORMAT = "claude-ai"


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are such conversations among *records*."""
    return any(isinstance(record.get("chat_messages"), list) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return a transcript for each conversation."""
    return [_transcript(one) for one in records if isinstance(one.get("chat_messages"), list)]


def _transcript(conversation: Record) -> Transcript:
    said = tuple(
        one for message in records_at(conversation, "chat_messages") for one in _said(message)
    )
    return Transcript(
        said=said,
        format=FORMAT,
        title=text_at(conversation, "name", "title"),
        session=text_at(conversation, "uuid"),
        started_at=moment_at(conversation, "created_at") or first_time(said),
    )


def _said(message: Record) -> list[Said]:
    at = moment_at(message, "created_at")
    voice, speaker = voice_of_role(text_at(message, "sender"))
    said = said_in(message.get("content"), voice=voice, speaker=speaker, at=at)
    if not any(one.voice is voice for one in said):
        said += said_in(text_at(message, "text"), voice=voice, speaker=speaker, at=at)
    for attached in records_at(message, "attachments"):
        text = text_at(attached, "extracted_content")
        said += said_in(text, voice=Voice.TOOL, speaker=text_at(attached, "file_name"), at=at)
    return said
