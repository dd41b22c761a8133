"""
Render a transcript as the text of a source, and find its messages in it again.

The text of a source is what a person would read: each message after its speaker's name. Position,
voice and time of each turn are stored beside the text, so that no line of it can pretend to be
another speaker's. A message of the user that contains text of others has several turns, one for
each voice. Secrets are redacted here, before anything is stored.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.source import Redaction, Source
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.lazy_dataclass import dataclass
from recollect.text.clean_text import clean
from recollect.text.message_voices import VoicedPart, voiced_parts
from recollect.text.redact import redact

GAP = "\n\n"
LEAD_IN_CHARS = 60  # "Orla rang. They only want twenty now": the name is in the words before
TYPED_CHECKED = "typed_checked"  # metadata of a source: turns in the user's voice are plainly typed


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """A message in a source, or a part of one: its span, voice, speaker and time."""

    start: int
    end: int
    voice: Voice
    speaker: str
    at: datetime


@dataclass(frozen=True)
class TranscriptText:
    """A transcript as text, with the positions of its turns and its redactions."""

    content: str
    turns: tuple[tuple[int, int, str, str, int | None], ...]
    redactions: tuple[Redaction, ...]


def render_transcript(transcript: Transcript) -> TranscriptText:
    """Return the text of *transcript*, without its secrets, and where each turn stands in it."""
    pieces: list[str] = []
    turns = []
    redactions: list[Redaction] = []
    length = 0
    for message in transcript.messages:
        redacted = redact(clean(message.text).strip())
        if not redacted.text.strip():
            redactions += [Redaction(item.kind, length, length) for item in redacted.redactions]
            continue
        head = _speaker_prefix(message, alone=len(transcript.messages) == 1)
        start = length + len(head)
        end = start + len(redacted.text)
        pieces += [head, redacted.text, GAP]
        at = to_micros(message.at) if message.at else None
        turns += [
            (start + part.start, start + part.end, part.voice.value, message.speaker, at)
            for part in _voiced_parts(redacted.text, message.voice)
        ]
        redactions += [
            Redaction(item.kind, item.start + start, item.end + start)
            for item in redacted.redactions
        ]
        length = end + len(GAP)
    return TranscriptText("".join(pieces).removesuffix(GAP), tuple(turns), tuple(redactions))


def turns_in_source(source: Source) -> list[SourceTurn]:
    """Return the turns of a captured source."""
    metadata: Mapping[str, Any] = source.metadata
    default = source.observed_at
    turns = [
        SourceTurn(start, end, Voice(voice), speaker, default if at is None else from_micros(at))
        for start, end, voice, speaker, at in metadata.get("turns", ())
    ]
    if metadata.get(TYPED_CHECKED):
        return turns
    # Captured before voices distinguished what was typed.
    return [
        replace(turn, start=turn.start + part.start, end=turn.start + part.end, voice=part.voice)
        for turn in turns
        for part in _voiced_parts(source.content[turn.start : turn.end], turn.voice)
    ]


def lead_in(source: Source, start: int) -> str:
    """Return the last words that the same speaker said before *start* in the same turn."""
    for turn in turns_in_source(source):
        if turn.start <= start < turn.end:
            words = source.content[max(turn.start, start - LEAD_IN_CHARS) : start]
            is_cut = start - LEAD_IN_CHARS > turn.start
            return (words.partition(" ")[2] if is_cut else words).strip()
    return ""


def _voiced_parts(text: str, voice: Voice) -> list[VoicedPart]:
    """Return the parts of a message: those of the user's may have other voices."""
    if voice not in (Voice.USER, Voice.PASTED):
        return [VoicedPart(0, len(text), voice)]
    parts = voiced_parts(text)
    if voice is Voice.USER:
        return parts
    return [replace(part, voice=voice) if part.voice is Voice.USER else part for part in parts]


def _speaker_prefix(message: TranscriptMessage, *, alone: bool) -> str:
    is_of_user = message.voice in (Voice.USER, Voice.PASTED)
    if alone and not message.speaker and is_of_user:
        return ""  # a note has no speakers
    if message.speaker and is_of_user:
        return f"{message.speaker} (user): "  # the voice distinguishes it from another source
    role = Voice.USER if is_of_user else message.voice
    return f"{message.speaker or role.value.capitalize()}: "
