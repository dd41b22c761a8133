"""
A parsed transcript: who said what, and when.

The voice of a message decides what may be learnt from it: only the user can state facts about the
user. File formats are parsed in text/transcripts.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Voice(StrEnum):
    """The speaker of a text, as far as trust is concerned."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # tool calls and their output, web pages, files that were read
    SYSTEM = "system"  # prompts, notices, text a program put in
    OTHER = "other"  # a person who is not known to be the user


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message: *speaker* is the name as written, '' if there is only a role."""

    voice: Voice
    text: str
    speaker: str = ""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One session or conversation. `folder` is its working directory, if known."""

    messages: tuple[TranscriptMessage, ...]
    format: str
    title: str = ""
    session: str = ""
    folder: str = ""
    started_at: datetime | None = None
