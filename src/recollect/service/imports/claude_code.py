"""
Claude Code: ~/.claude/projects/*/*.jsonl, a file for each session.

Files of sub-agents (`agent-*.jsonl`) are not imported. The transcript itself names the working
folder of its session.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    matching_files,
    read_conversations,
)
from recollect.text.transcripts import claude_code_transcript
from recollect.text.transcripts.json_fields import is_record, text_at
from recollect.text.transcripts.json_records import parse_json

HEAD_LINES = 50


def config_folder(environment: UserEnvironment) -> Path:
    """Return the configuration folder of Claude Code."""
    return environment.folder("CLAUDE_CONFIG_DIR", ".claude")


def working_folder_of(project_folder: Path) -> str:
    """Return the working folder that a session below *project_folder* names, else ''."""
    for path in sorted(project_folder.glob("*.jsonl"), reverse=True):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                for _, line in zip(range(HEAD_LINES), lines, strict=False):
                    record = parse_json(line)
                    if is_record(record) and (cwd := text_at(record, "cwd")):
                        return cwd
        except OSError:
            continue  # another session may name it
    return ""


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    return [config_folder(environment) / "projects"]


def _files(folder: Path) -> Iterator[Path]:
    for path in matching_files(folder, "*/*.jsonl", "*.jsonl"):
        if not path.name.startswith("agent-"):
            yield path


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    for transcript in read_conversations(path, claude_code_transcript, "session of Claude Code"):
        yield ImportedConversation(transcript=transcript)


SOURCE = HistorySource(
    name="claude-code",
    about="Sessions of Claude Code (~/.claude/projects).",
    roots=_roots,
    files=_files,
    read=_read,
)
