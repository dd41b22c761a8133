"""Codex: ~/.codex/sessions/**/rollout-*.jsonl, a file for each session, and those archived."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    matching_files,
    read_conversations,
)
from recollect.text.transcripts import codex_transcript


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    folder = environment.folder("CODEX_HOME", ".codex")
    return [folder / "sessions", folder / "archived_sessions"]


def _files(folder: Path) -> Iterator[Path]:
    return matching_files(folder, "**/rollout-*.jsonl")


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    for transcript in read_conversations(path, codex_transcript, "session of Codex"):
        yield ImportedConversation(transcript=transcript)


SOURCE = HistorySource(
    name="codex",
    about="Sessions of Codex (~/.codex/sessions).",
    roots=_roots,
    files=_files,
    read=_read,
)
