"""
A parsed transcript: who said what, and when.

The voice of a text decides what may be learnt from it: only the user can state facts about the
user, and only what the user plainly typed becomes active without a person. File formats are parsed
in text/transcripts; text/message_voices.py finds the parts of a message that nobody typed.
"""

from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class Voice(StrEnum):
    """The speaker of a text, as far as trust is concerned."""

    USER = "user"  # typed by the user
    PASTED = (
        "pasted"  # in a message of the user, but perhaps not typed: pasted, quoted or retrieved
    )
    ASSISTANT = "assistant"
    TOOL = "tool"  # tool calls and their output, web pages, files that were read
    SYSTEM = "system"  # prompts, notices, text a program put in
    OTHER = "other"  # another agent, or a person who is not known to be the user


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
