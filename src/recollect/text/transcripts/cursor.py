"""
Sessions of Cursor's agent: JSON Lines under ~/.cursor/projects/*/agent-transcripts.

Each line is `{"role", "message": {"content": […]}}`, mostly without a time. What the user typed
stands in `<user_query>`; what else is sent in the user's name (open files, reminders) is the
system's. A line tells neither session nor folder: whoever hands the file over has to know. Older
transcripts are plain text with `user:` and `assistant:` before each message.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts import plain
from recollect.text.transcripts.fields import Record, is_record, moment_at, record_at, text_at
from recollect.text.transcripts.labels import VOICE_OF_ROLE, voice_of_role
from recollect.text.transcripts.parts import first_time, said_in

FORMAT = "cursor"

_TYPED = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_REMINDER = re.compile(r"<(system[-_]reminder)>.*?</\1>", re.DOTALL)


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are lines of Cursor among *records*."""
    return any(_is_line(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return the one session that *records* tell of."""
    said = tuple(one for record in records if _is_line(record) for one in _said(record))
    return [Transcript(said=said, format=FORMAT, started_at=first_time(said))]


def parse_text(text: str) -> list[Transcript]:
    """Return the session that a plain text is, or none where it is no dialogue."""
    found = plain.parse(text)
    if found.format != plain.DIALOGUE:
        return []
    said = [part for one in found.said for part in _typed(one)]
    return [Transcript(said=tuple(said), format=FORMAT)]


def _is_line(record: Record) -> bool:
    known = text_at(record, "role").casefold() in VOICE_OF_ROLE and "type" not in record
    return known and is_record(record.get("message"))


def _said(record: Record) -> list[Said]:
    voice, speaker = voice_of_role(text_at(record, "role"))
    content = record_at(record, "message").get("content")
    at = moment_at(record, "timestamp", "created_at")
    said = said_in(content, voice=voice, speaker=speaker, at=at)
    return [part for one in said for part in _typed(one)]


def _typed(said: Said) -> list[Said]:
    """Return *said* as what the program added, then what the user typed."""
    if said.voice is not Voice.USER:
        return [said]
    if "<user_query>" in said.text:
        typed = "\n".join(part.strip() for part in _TYPED.findall(said.text))
        added = _TYPED.sub("", said.text).strip()
    else:
        typed = _REMINDER.sub("", said.text).strip()
        added = "\n".join(match.group() for match in _REMINDER.finditer(said.text))
    both = [Said(Voice.SYSTEM, added, at=said.at), replace(said, text=typed)]
    return [one for one in both if one.text]
