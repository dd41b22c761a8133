"""
Read transcripts in any supported format, detected from the content.

Each format has a module in this package with `recognises` and `parse`; the first that recognises
the text parses it, and plain_text.py parses the rest. File names play no part. Texts are returned
as written, neither cleaned nor redacted.
"""

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.transcripts import (
    chatgpt_export,
    claude_ai_export,
    claude_code_transcript,
    codex_transcript,
    cursor_transcript,
    gemini_transcript,
    message_list,
    plain_text,
)
from recollect.text.transcripts.json_fields import JsonRecord
from recollect.text.transcripts.json_records import decode_records


class _TranscriptFormat(Protocol):
    def recognises(self, records: Sequence[JsonRecord]) -> bool: ...

    def parse(self, records: Sequence[JsonRecord]) -> list[Transcript]: ...


# The message list is last: records of the other formats also have a role.
_FORMATS: tuple[_TranscriptFormat, ...] = (
    chatgpt_export,
    claude_ai_export,
    claude_code_transcript,
    codex_transcript,
    gemini_transcript,
    cursor_transcript,
    message_list,
)


@dataclass(frozen=True)
class ParsedTranscripts:
    """The conversations of a text, and how many of its lines were broken and skipped."""

    transcripts: tuple[Transcript, ...]
    skipped: int = 0


def read_transcripts(text: str) -> list[Transcript]:
    """Return every conversation in *text* that has messages, in the order written."""
    return list(parse_transcripts(text).transcripts)


def parse_transcripts(text: str) -> ParsedTranscripts:
    """Return the conversations in *text*, and how many broken lines were skipped."""
    if not text.lstrip("\ufeff").strip():
        raise InvalidInput("The transcript is empty; give the text of a session or conversation.")
    decoded = decode_records(text)
    for transcript_format in _FORMATS:
        if transcript_format.recognises(decoded.records):
            parsed = transcript_format.parse(decoded.records)
            transcripts = tuple(transcript for transcript in parsed if transcript.messages)
            return ParsedTranscripts(transcripts, decoded.skipped)
    return ParsedTranscripts((plain_text.parse(text),))
