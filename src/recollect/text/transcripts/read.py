"""
Any text that records who said what, understood by its shape.

Each format has its file beside this one, with `recognises` and `parse`; the first that recognises
the text takes it, and plain text takes what is left. This file knows no format, and reads no file:
names and endings do not count. Texts are handed on as written; nothing is cleaned or redacted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.domain.transcript import Transcript
from recollect.errors import InvalidInput
from recollect.text.transcripts import (
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    cursor,
    gemini,
    messages,
    plain,
)
from recollect.text.transcripts.decode import decode
from recollect.text.transcripts.fields import Record


class _Format(Protocol):
    def recognises(self, records: Sequence[Record]) -> bool: ...

    def parse(self, records: Sequence[Record]) -> list[Transcript]: ...


# Messages last: the others also hold things with a role.
_FORMATS: tuple[_Format, ...] = (
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    gemini,
    cursor,
    messages,
)


@dataclass(frozen=True)
class Reading:
    """The conversations of a text, and how many of its lines were broken and skipped."""

    transcripts: tuple[Transcript, ...]
    skipped: int = 0


def read_transcripts(text: str) -> list[Transcript]:
    """Return every conversation in *text* in which something was said, in the order written."""
    return list(read(text).transcripts)


def read(text: str) -> Reading:
    """Return what `read_transcripts` does, and how much of *text* was skipped as broken."""
    if not text.lstrip("\ufeff").strip():
        raise InvalidInput("The transcript is empty; give the text of a session or conversation.")
    decoded = decode(text)
    for form in _FORMATS:
        if form.recognises(decoded.records):
            found = form.parse(decoded.records)
            return Reading(tuple(one for one in found if one.said), decoded.skipped)
    return Reading((plain.parse(text),))
