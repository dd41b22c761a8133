"""
The notes of Claude, in Markdown: CLAUDE.md, rules, auto-memory, the memory tool.

CLAUDE.md and the rules are the user's own notes; auto-memory and the files of the memory tool were
written by an agent, and are read as its summary. ~/.claude/CLAUDE.md holds everywhere, a project's
in that project, auto-memory in the project whose sessions lie beside it. The folder of a memory
tool tells no project. Lines that only point to other files (`@path`) say nothing by themselves.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.domain.capture_event import CaptureMode
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.service.imports.claude_code import config_folder, working_folder_of
from recollect.service.imports.history_source import (
    HistorySource,
    ImportedConversation,
    UserEnvironment,
    files_with_suffix,
    matching_files,
)
from recollect.text.front_matter import parse_front_matter
from recollect.wire.material_files import read_text_file

FORMAT = "claude-memory"
_OWN = ("CLAUDE.md", "CLAUDE.local.md")
_OF_PROJECT = (*_OWN, ".claude/CLAUDE.md", ".claude/rules/**/*.md")
_OF_HOME = ("CLAUDE.md", "rules/**/*.md", "projects/*/memory/**/*.md")
_POINTS = re.compile(r"^\s*(?:[-*]\s+)?@\S+\s*$", re.MULTILINE)


def _roots(environment: UserEnvironment) -> Sequence[Path]:
    return [config_folder(environment)]


def _files(folder: Path) -> Iterator[Path]:
    if (folder / "projects").is_dir() or folder.name == ".claude":
        return matching_files(folder, *_OF_HOME)
    of_project = list(matching_files(folder, *_OF_PROJECT))
    return iter(of_project) if of_project else files_with_suffix(folder, (".md", ".txt"))


def _read(path: Path, environment: UserEnvironment) -> Iterator[ImportedConversation]:
    text = read_text_file(path)
    matter = parse_front_matter(text) if text.startswith("---") else None
    body = _POINTS.sub("", text if matter is None or not matter.fields else matter.body)
    if not body.strip():
        return
    by_user = path.name in _OWN or "rules" in path.parts[-3:-1]
    folder, project = _folder_and_project(path, environment)
    # A file of a repository may be by anybody who can write to it.
    message = TranscriptMessage(Voice.PASTED if by_user else Voice.ASSISTANT, body)
    transcript = Transcript(
        messages=(message,),
        format=FORMAT,
        title=path.name,
        session=f"claude-memory {path.absolute()}"[-200:],
        folder=folder,
    )
    yield ImportedConversation(
        transcript=transcript,
        mode=CaptureMode.NOTE if by_user else CaptureMode.SUMMARY,
        project=project,
    )


def _folder_and_project(path: Path, environment: UserEnvironment) -> tuple[str, str]:
    """Return the folder the notes are about, or a name for it, or neither: they hold everywhere."""
    where = path.absolute()
    home = config_folder(environment).absolute()
    below = where.relative_to(home).parts if where.is_relative_to(home) else ()
    if below[:1] == ("projects",) and len(below) > 2:
        folder = home / "projects" / below[1]
        working_folder = working_folder_of(folder)
        return working_folder, "" if working_folder else below[1].strip("-")
    if below:
        return "", ""
    if ".claude" in where.parts:
        return str(Path(*where.parts[: where.parts.index(".claude")])), ""
    return (str(where.parent), "") if path.name in _OWN else ("", "")


SOURCE = HistorySource(
    name="claude-memory",
    about="CLAUDE.md, Claude Code's auto-memory, and the memory tool's folder.",
    roots=_roots,
    files=_files,
    read=_read,
)
