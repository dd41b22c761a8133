"""
Claude Code: ~/.claude/projects/*/*.jsonl, a file for each session.

Files of sub-agents (`agent-*.jsonl`) are a tool's work and left out. Which folder a session was
held in stands in the transcript itself.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.service.imports.history_source import ImportedConversation, UserEnvironment, HistorySource, read_conversations, matching_files
from recollect.text.transcripts import claude_code_transcript
from recollect.text.transcripts.json_fields import is_record, text_at
from recollect.text.transcripts.json_records import parse_json

HEAD_LINES = 50


def config_folder(machine: UserEnvironment) -> Path:
    """Return where Claude Code keeps what it knows."""
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def place_of(project_folder: Path) -> str:
    """Return the working folder that the sessions below *project_folder* tell of, else ''."""
    for path in sorted(project_folder.glob("*.jsonl"), reverse=True):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                for _, line in zip(range(HEAD_LINES), lines, strict=False):
                    record = parse_json(line)
                    if is_record(record) and (cwd := text_at(record, "cwd")):
                        return cwd
        except OSError:
            continue  # another session may tell it
    return ""


def _roots(machine: UserEnvironment) -> Sequence[Path]:
    return [config_folder(machine) / "projects"]


def _files(folder: Path) -> Iterator[Path]:
    for path in matching_files(folder, "*/*.jsonl", "*.jsonl"):
        if not path.name.startswith("agent-"):
            yield path


def _read(path: Path, machine: UserEnvironment) -> Iterator[ImportedConversation]:
    for one in read_conversations(path, claude_code_transcript, "session of Claude Code"):
        yield ImportedConversation(transcript=one)


SOURCE = HistorySource(
    name="claude-code",
    about="Sessions of Claude Code (~/.claude/projects).",
    roots=_roots,
    files=_files,
    read=_read,
)
