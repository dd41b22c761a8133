"""
What ChatGPT and Claude.ai hand out when asked for one's data: conversations.json, in a zip or not.

Newer exports of ChatGPT have several such files with numbers. Neither tells a project.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.service.imports.export_archive import objects_in, texts_of
from recollect.service.imports.history_source import TranscriptFormat, ImportedConversation, UserEnvironment, HistorySource, matching_files
from recollect.text.transcripts import chatgpt_export, claude_ai_export

_NAME = "conversations"


def _nowhere(machine: UserEnvironment) -> Sequence[Path]:
    return []  # an export lies where it was downloaded to: its path must be given


def _files(folder: Path) -> Iterator[Path]:
    return matching_files(folder, f"*{_NAME}*.json", f"*/*{_NAME}*.json", "*.zip")


def _read(path: Path, form: TranscriptFormat, what: str) -> Iterator[ImportedConversation]:
    found = 0
    seen = 0
    for text in texts_of(path, begins=_NAME):
        for record in objects_in(text, path):
            seen += 1
            if not form.recognises([record]):
                continue
            found += 1
            for one in form.parse([record]):
                if one.messages:
                    yield ImportedConversation(transcript=one)
    if seen and not found:
        raise InvalidInput(f"{path} is no export of {what}")


def _read_chatgpt(path: Path, machine: UserEnvironment) -> Iterator[ImportedConversation]:
    return _read(path, chatgpt_export, "ChatGPT")


def _read_claude_ai(path: Path, machine: UserEnvironment) -> Iterator[ImportedConversation]:
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
