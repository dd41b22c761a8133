"""
Render a transcript as the text of a source, and find its messages in it again.

The text of a source is what a person would read: each message after its speaker's name. Position,
voice and time of each message are stored beside the text, so that no line of it can pretend to be
another speaker's. Secrets are redacted here, before anything is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.source import Redaction, Source
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.clean_text import clean
from recollect.text.redact import possible_kinds, redact

GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One message in a source: characters *start* to *end*, its voice, speaker and time."""

    start: int
    end: int
    voice: Voice
    speaker: str
    at: datetime


@dataclass(frozen=True)
class TranscriptText:
    """A transcript as text, with the positions of its messages and its redactions."""

    content: str
    turns: tuple[tuple[int, int, str, str, int | None], ...]
    redactions: tuple[Redaction, ...]


def render_transcript(transcript: Transcript) -> TranscriptText:
    """Return the text of *transcript*, without its secrets, and where each message stands in it."""
    pieces: list[str] = []
    turns = []
    redactions: list[Redaction] = []
    length = 0
    # One search of the whole text for signs of secrets saves a search of most messages.
    texts = [clean(message.text).strip() for message in transcript.messages]
    kinds = possible_kinds("\n".join(texts))
    for message, text in zip(transcript.messages, texts, strict=True):
        redacted = redact(text, kinds=kinds)
        if not redacted.text.strip():
            redactions += [Redaction(item.kind, length, length) for item in redacted.redactions]
            continue
        head = _speaker_prefix(message, alone=len(transcript.messages) == 1)
        start = length + len(head)
        end = start + len(redacted.text)
        pieces += [head, redacted.text, GAP]
        at = to_micros(message.at) if message.at else None
        turns.append((start, end, message.voice.value, message.speaker, at))
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
    return [
        SourceTurn(start, end, Voice(voice), speaker, default if at is None else from_micros(at))
        for start, end, voice, speaker, at in metadata.get("turns", ())
    ]


def _speaker_prefix(message: TranscriptMessage, *, alone: bool) -> str:
    if alone and not message.speaker and message.voice is Voice.USER:
        return ""  # a note has no speakers
    if message.speaker and message.voice is Voice.USER:
        return f"{message.speaker} (user): "  # the voice distinguishes it from another source
    return f"{message.speaker or message.voice.value.capitalize()}: "
