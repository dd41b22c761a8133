"""
Read transcripts of Cursor's agent: JSON Lines under ~/.cursor/projects/*/agent-transcripts.

Each line is `{"role", "message": {"content": […]}}`, mostly without a time. The user's own text is
in `<user_query>`, at the end of the message; other text sent in the user's name (open files,
reminders) gets the system's voice. Attached files may contain such tags too: only the one query
that ends the message counts as typed. Lines have neither session nor folder, so the caller must
supply them. Older transcripts are plain text with `user:` and `assistant:` before each message.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts import plain_text
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
from recollect.text.transcripts.speaker_labels import VOICE_OF_ROLE, voice_of_role

FORMAT = "cursor"

_QUERY_START, _QUERY_END = "<user_query>", "</user_query>"
_NOTIFICATION_START = "<system_notification>"  # the query after it is the program's own
_REMINDER = re.compile(r"<(system[-_]reminder)>.*?</\1>", re.DOTALL)


def recognises(records: Sequence[JsonRecord]) -> bool:
    """Return whether there are lines of Cursor among *records*."""
    return any(_is_line(record) for record in records)


def parse(records: Sequence[JsonRecord]) -> list[Transcript]:
    """Return the one session in *records*."""
    lines = [record for record in records if _is_line(record)]
    per_line = [_content_messages(line) for line in lines]
    has_queries = any(_QUERY_START in message.text for line in per_line for message in line)
    messages = tuple(
        part
        for line in per_line
        for message in line
        for part in _split_program_text(message, has_queries=has_queries)
    )
    return [Transcript(messages=messages, format=FORMAT, started_at=first_timestamp(messages))]


def parse_text(text: str) -> list[Transcript]:
    """Return the session in a plain text, or an empty list if it is not a dialogue."""
    dialogue = plain_text.parse(text)
    if dialogue.format != plain_text.DIALOGUE:
        return []
    messages = [part for message in dialogue.messages for part in _split_program_text(message)]
    return [Transcript(messages=tuple(messages), format=FORMAT)]


def _is_line(record: JsonRecord) -> bool:
    is_known_role = text_at(record, "role").casefold() in VOICE_OF_ROLE and "type" not in record
    return is_known_role and is_record(record.get("message"))


def _content_messages(record: JsonRecord) -> list[TranscriptMessage]:
    """Return the messages of one line. Texts of the user are joined: the query ends them."""
    voice, speaker = voice_of_role(text_at(record, "role"))
    content = record_at(record, "message").get("content")
    at = time_at(record, "timestamp", "created_at")
    messages = content_messages(content, voice=voice, speaker=speaker, at=at)
    texts = [message.text for message in messages if message.voice is Voice.USER]
    if len(texts) > 1:
        others = [message for message in messages if message.voice is not Voice.USER]
        messages = [TranscriptMessage(voice, "\n".join(texts), speaker, at), *others]
    return mark_doubtful(messages)


def _split_program_text(
    message: TranscriptMessage, *, has_queries: bool = False
) -> list[TranscriptMessage]:
    """Return what the program added to *message*, then what the user typed."""
    if message.voice not in (Voice.USER, Voice.PASTED):
        return [message]
    voice = message.voice
    if _QUERY_START in message.text:
        added, _, query = message.text.rstrip().rpartition(_QUERY_START)
        typed = query.removesuffix(_QUERY_END)
        is_ambiguous = typed == query or _QUERY_START in added or _QUERY_END in typed
        if is_ambiguous or added.lstrip().startswith(_NOTIFICATION_START):
            voice = Voice.PASTED
    else:
        typed = _REMINDER.sub("", message.text)
        added = "\n".join(match.group() for match in _REMINDER.finditer(message.text))
        # If the session has queries, what the user types is in one.
        voice = Voice.PASTED if added or has_queries else voice
    parts = [
        TranscriptMessage(Voice.SYSTEM, added.strip(), at=message.at),
        replace(message, text=typed.strip(), voice=voice),
    ]
    return [part for part in parts if part.text]
