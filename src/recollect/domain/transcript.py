"""
What was said, by whom and when: raw material once its form has been understood.

A `Said` is one message of a transcript. Whose voice it is decides what may be learnt from it: the
user speaks for the user; an assistant, a tool or another person does not. This file knows nothing
of file formats (see text/transcripts) or of storage.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Voice(StrEnum):
    """Who speaks, as far as trust is concerned."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # tool calls and their output, web pages, files that were read
    SYSTEM = "system"  # prompts, notices, text a program put in
    OTHER = "other"  # a person who is not known to be the user


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message: *speaker* is the name as written, '' where there is only a role."""

    voice: Voice
    text: str
    speaker: str = ""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One session or conversation, in order. `place` is the directory it was held in, if told."""

    messages: tuple[TranscriptMessage, ...]
    format: str
    title: str = ""
    session: str = ""
    folder: str = ""
    started_at: datetime | None = None
