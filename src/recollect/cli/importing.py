"""
The import command: a file that `recollect export` wrote, or the past of another program.

Each source of the table in service/imports is a command of its own. Progress goes to the terminal
only; what came in, and what could not be read, is said in the end, and the exit code is 1 where a
file was refused.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from recollect.app.local import LocalRecollect
from recollect.cli.capturing import work_off
from recollect.cli.options import creating_store_options
from recollect.cli.render import print_json, say, shown
from recollect.cli.searching import DefaultGroup
from recollect.config import load_settings
from recollect.domain.import_progress import FileOutcome, ImportStep
from recollect.domain.memory import Status
from recollect.errors import RecollectError
from recollect.server.listen_address import NotRecollectServer, fetch_health
from recollect.service.imports.past import PastSource
from recollect.service.imports.sources import SOURCES

_errors = Console(stderr=True)
SHOWN_REFUSED = 20


@dataclass
class Tally:
    """What an import has done so far."""

    conversations: int = 0
    known: int = 0
    left_out: int = 0
    of: int = 0  # files there are
    files: Counter[FileOutcome] = field(default_factory=Counter)
    refused: list[dict[str, str]] = field(default_factory=list)

    def add(self, step: ImportStep) -> None:
        """Count the last step of a file."""
        self.of = step.of
        if step.outcome is None:
            return
        self.conversations += step.conversations
        self.known += step.known
        self.left_out += step.left_out
        self.files[step.outcome] += 1
        if step.outcome is FileOutcome.REFUSED:
            self.refused.append({"path": step.path, "reason": step.reason})


@click.group("import", cls=DefaultGroup, default="file")
def import_() -> None:
    """
    Bring in what `recollect export` wrote, or what other programs remember.

    `recollect import claude-code` looks where that program keeps its files; a path says where
    else. What comes in waits in the inbox; nothing of it becomes active by itself. An import can be
    stopped at any time and run again: everything comes in once.

    \b
    Examples:
      recollect import backup.jsonl.gz
      recollect import claude-code session.jsonl --dry-run
      recollect import claude-memory notes.md --project site
    """


@import_.command("file")
@click.argument("path", type=click.Path(path_type=Path))
@creating_store_options
def from_file(memory: LocalRecollect, *, as_json: bool, path: Path) -> None:
    """Add everything of an exported file, all or none; what is here stays."""
    with _errors.status("Importing …"):
        done = memory.import_(path)
    if as_json:
        print_json(done)
        return
    added = ", ".join(f"{count} {table}" for table, count in done.added.items()) or "nothing"
    say(f"Added {added}; {done.unchanged} rows were here already.")
    for conflict in done.conflicts:
        say(f"[yellow]{shown(conflict)}[/yellow]")


def _command(source: PastSource) -> click.Command:
    """Return the command that brings one source in."""

    @click.command(source.name, help=source.about)
    @click.argument("paths", nargs=-1, metavar="[PATH]...", required=source.needs_path)
    @click.option("--since", help="Only what was said since then (2026-05-08).")
    @click.option(
        "--project", help="Only what was held in this project; what tells none goes to it."
    )
    @click.option("-n", "--limit", type=int, help="How many conversations at most.")
    @click.option("--dry-run", is_flag=True, help="Say what would come in; store nothing.")
    @click.option("--no-work", is_flag=True, help="Leave reading it to a worker.")
    @creating_store_options
    def command(memory: LocalRecollect, **given: Any) -> None:
        _import(memory, source, **given)

    return command


for one in SOURCES.values():
    import_.add_command(_command(one))


def _import(
    memory: LocalRecollect,
    source: PastSource,
    *,
    as_json: bool,
    paths: tuple[str, ...],
    dry_run: bool,
    no_work: bool,
    **given: Any,
) -> None:
    before = _waiting(memory)
    tally = Tally()
    steps = memory.engine.import_history_in_steps(source.name, paths, dry_run=dry_run, **given)
    with _progress() as progress:
        task = progress.add_task("Importing", total=None, told="")
        for step in steps:
            tally.add(step)
            so_far = tally.conversations + (0 if step.outcome else step.conversations)
            progress.update(
                task, completed=step.number, total=step.of, told=f"{so_far} conversations"
            )
    leave = "dry run" if dry_run else _left_to(memory, no_work=no_work)
    if not leave:
        work_off(memory, counting=lambda: f"{_waiting(memory) - before} candidates")
    _tell(memory, source, tally, before=before, leave=leave, as_json=as_json)
    if tally.refused:
        sys.exit(1)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files  {task.fields[told]}"),
        console=_errors,
        transient=True,
        disable=not _errors.is_terminal,
    )


def _waiting(memory: LocalRecollect) -> int:
    return memory.maintenance.status().memories_by_status.get(Status.INBOX, 0)


def _left_to(memory: LocalRecollect, *, no_work: bool) -> str:
    """Return who reads what came in, '' where it is to be done here and now."""
    if no_work:
        return "a worker"
    settings = load_settings()
    try:
        serving = fetch_health(settings.host, settings.port, settings.token)
    except (NotRecollectServer, RecollectError):
        return ""  # whoever listens there does not work for us
    path = Path(memory.maintenance.status().path)
    same = serving is not None and Path(str(serving.get("database_path", ""))) == path
    return "the server" if same else ""


def _tell(
    memory: LocalRecollect,
    source: PastSource,
    tally: Tally,
    *,
    before: int,
    leave: str,
    as_json: bool,
) -> None:
    waiting = _waiting(memory)
    if as_json:
        print_json(
            {
                "source": source.name,
                "files": {one.value: tally.files[one] for one in FileOutcome},
                "conversations": tally.conversations,
                "known": tally.known,
                "left_out": tally.left_out,
                "candidates": waiting - before,
                "waiting": waiting,
                "left_to": leave,
                "refused": tally.refused,
            }
        )
        return
    files = ", ".join(f"{count} {name.value}" for name, count in sorted(tally.files.items()))
    would = "would come in" if leave == "dry run" else "came in"
    say(f"{tally.conversations} conversations {would}, {tally.known} were known.")
    say(f"[dim]Files: {files or f'none found for {source.name}'}.[/dim]")
    for one in tally.refused[:SHOWN_REFUSED]:
        say(f"[red]Refused: {shown(one['path'])}[/red]\n  [dim]{shown(one['reason'])}[/dim]")
    if len(tally.refused) > SHOWN_REFUSED:
        say(f"[red]and {len(tally.refused) - SHOWN_REFUSED} more; see --json[/red]")
    if tally.of > sum(tally.files.values()) or tally.files[FileOutcome.PARTLY]:
        say("[dim]The limit was reached; run it again for the rest.[/dim]")
    if leave in ("a worker", "the server") and tally.conversations:
        say(f"[dim]Left to {leave} to be read; `recollect work --once` does it now.[/dim]")
    elif tally.conversations and not leave:
        say(f"{waiting - before} more candidates wait in the inbox; see: recollect inbox")
