"""
The data exports of ChatGPT and Claude.ai: conversations.json, in a zip or not.

Newer exports of ChatGPT have several such files with numbers. Neither names a project.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.service.imports.export_archive import objects_in, texts_of
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    TranscriptFormat,
    UserEnvironment,
    matching_files,
)
from recollect.text.transcripts import chatgpt_export, claude_ai_export

_NAME = "conversations"


def _nowhere(environment: UserEnvironment) -> Sequence[Path]:
    return []  # an export has no usual folder: its path must be given


def _files(folder: Path) -> Iterator[Path]:
    return matching_files(folder, f"*{_NAME}*.json", f"*/*{_NAME}*.json", "*.zip")


def _read(path: Path, format: TranscriptFormat, what: str) -> Iterator[ImportedConversation]:
    recognised = total = 0
    for text in texts_of(path, begins=_NAME):
        for record in objects_in(text, path):
            total += 1
            if not format.recognises([record]):
                continue
            recognised += 1
            for transcript in format.parse([record]):
                if transcript.messages:
                    yield ImportedConversation(transcript=transcript)
    if total and not recognised:
        raise InvalidInput(f"{path} is not an export of {what}")


def _read_chatgpt(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    return _read(path, chatgpt_export, "ChatGPT")


def _read_claude_ai(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    return _read(path, claude_ai_export, "Claude.ai")


CHATGPT = HistorySource(
    name="chatgpt",
    about="The data export of ChatGPT: its zip, or conversations.json.",
    roots=_nowhere,
    files=_files,
    read=_read_chatgpt,
    needs_path=True,
)
CLAUDE_AI = HistorySource(
    name="claude-ai",
    about="The data export of Claude.ai: its zip, or conversations.json.",
    roots=_nowhere,
    files=_files,
    read=_read_claude_ai,
    needs_path=True,
)
