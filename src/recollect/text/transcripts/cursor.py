"""
Sessions of Cursor's agent: JSON Lines under ~/.cursor/projects/*/agent-transcripts.

Each line is `{"role", "message": {"content": […]}}`, without a time. What the user typed stands in
`<user_query>`; around it stands what the program added. Older transcripts are plain text with
`user:` and `assistant:` before each message; this file knows those only by the same mark.
"""

import re
from collections.abc import Sequence

from recollect.domain.transcript import Said, Transcript, Voice
from recollect.text.transcripts import plain
from recollect.text.transcripts.fields import Record, is_record, record_at, text_at
from recollect.text.transcripts.labels import VOICE_OF_ROLE, voice_of_role
from recollect.text.transcripts.parts import said_in

FORMAT = "cursor"

_TYPED = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)


def recognises(records: Sequence[Record]) -> bool:
    """Tell whether there are lines of Cursor among *records*."""
    return any(_is_line(record) for record in records)


def parse(records: Sequence[Record]) -> list[Transcript]:
    """Return the one session that *records* tell of."""
    said = [one for record in records if _is_line(record) for one in _said(record)]
    return [Transcript(said=tuple(said), format=FORMAT)]


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
    said = said_in(content, voice=voice, speaker=speaker)
    return [part for one in said for part in _typed(one)]


def _typed(said: Said) -> list[Said]:
    """Return *said* as what the program added, then what the user typed."""
    if said.voice is not Voice.USER or "<user_query>" not in said.text:
        return [said]
    typed = "\n".join(part.strip() for part in _TYPED.findall(said.text))
    added = _TYPED.sub("", said.text).strip()
    both = [Said(Voice.SYSTEM, added, at=said.at), Said(Voice.USER, typed, said.speaker, said.at)]
    return [one for one in both if one.text]
