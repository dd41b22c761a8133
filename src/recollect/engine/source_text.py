"""
Lay a transcript out as the text of a source, and read it back.

The text of a source is what a person would read: each message after its speaker's name. Where each
message stands, whose voice it is and when it was said is kept beside it, so that no line of the
text can pretend to be somebody else's. Secrets are taken out here, before anything is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.source import Redaction, Source
from recollect.domain.transcript import TranscriptMessage, Transcript, Voice
from recollect.text.clean_text import clean
from recollect.text.redact import possible_kinds, redact

GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """Characters *start* to *end* of a source, said in one voice."""

    start: int
    end: int
    voice: Voice
    speaker: str
    at: datetime


@dataclass(frozen=True)
class TranscriptText:
    """A transcript as text, with its turns and what was taken out of it."""

    content: str
    turns: tuple[tuple[int, int, str, str, int | None], ...]
    redactions: tuple[Redaction, ...]


def render_transcript(transcript: Transcript) -> TranscriptText:
    """Return the text of *transcript*, without its secrets, and where each message stands in it."""
    pieces: list[str] = []
    turns = []
    redactions: list[Redaction] = []
    length = 0
    # One look at the whole for signs of secrets spares most messages the look at each.
    texts = [clean(said.text).strip() for said in transcript.messages]
    kinds = possible_kinds("\n".join(texts))
    for said, text in zip(transcript.messages, texts, strict=True):
        kept = redact(text, kinds=kinds)
        if not kept.text.strip():
            redactions += [Redaction(one.kind, length, length) for one in kept.redactions]
            continue
        head = _speaker_prefix(said, alone=len(transcript.messages) == 1)
        start = length + len(head)
        end = start + len(kept.text)
        pieces += [head, kept.text, GAP]
        turns.append(
            (start, end, said.voice.value, said.speaker, to_micros(said.at) if said.at else None)
        )
        redactions += [
            Redaction(one.kind, one.start + start, one.end + start) for one in kept.redactions
        ]
        length = end + len(GAP)
    return TranscriptText("".join(pieces).removesuffix(GAP), tuple(turns), tuple(redactions))


def turns_in_source(source: Source) -> list[SourceTurn]:
    """Return the turns of a captured source."""
    told: Mapping[str, Any] = source.metadata
    return [
        SourceTurn(
            start=start,
            end=end,
            voice=Voice(voice),
            speaker=speaker,
            at=source.observed_at if at is None else from_micros(at),
        )
        for start, end, voice, speaker, at in told.get("turns", ())
    ]


def _speaker_prefix(said: TranscriptMessage, *, alone: bool) -> str:
    if alone and not said.speaker and said.voice is Voice.USER:
        return ""  # a note is not a conversation
    if said.speaker and said.voice is Voice.USER:
        return f"{said.speaker} (user): "  # whose voice it is makes it another source
    return f"{said.speaker or said.voice.value.capitalize()}: "
