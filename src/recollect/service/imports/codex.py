"""Codex: ~/.codex/sessions/**/rollout-*.jsonl, a file for each session, and those archived."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.service.imports.past import Item, Machine, PastSource, conversations, matching
from recollect.text.transcripts import codex_transcript


def _roots(machine: Machine) -> Sequence[Path]:
    folder = machine.folder("CODEX_HOME", ".codex")
    return [folder / "sessions", folder / "archived_sessions"]


def _files(folder: Path) -> Iterator[Path]:
    return matching(folder, "**/rollout-*.jsonl")


def _read(path: Path, machine: Machine) -> Iterator[Item]:
    for one in conversations(path, codex_transcript, "session of Codex"):
        yield Item(transcript=one)


SOURCE = PastSource(
    name="codex",
    about="Sessions of Codex (~/.codex/sessions).",
    roots=_roots,
    files=_files,
    read=_read,
)
