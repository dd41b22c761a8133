"""
The commands `import` and `export`: export files, and the history of other programs.

Each source in service/imports is a command of its own. Progress goes to the terminal only; the
result says what was imported and which files were refused. The exit code is 1 if one was.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.jobs import run_due_jobs
from recollect.cli.options import DefaultGroup, with_new_store, with_store
from recollect.cli.output import Output, counts, safe, text_argument, warnings
from recollect.cli.progress import progress_line, show_status
from recollect.config import load_settings
from recollect.domain.import_progress import FileOutcome, ImportStep
from recollect.domain.memory import Status
from recollect.errors import InvalidInput, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.server.listen_address import NotRecollectServer, fetch_health
from recollect.service.imports.history_source import HistorySource
from recollect.service.imports.source_table import SOURCES
from recollect.text.assistant_answer import PROMPT
from recollect.wire.material_files import read_text_file

REFUSED_SHOWN = 20
NO_SUCH_NAMES = "[dim]In a folder, files are found by the names that the client gives them.[/dim]"


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--plain", is_flag=True, help="Write unencrypted files, although the store is encrypted."
)
@click.option(
    "--synced",
    is_flag=True,
    help="Write only what sync sends: devices that have synced write the same bytes.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["recollect", "exchange", "memory-dir"]),
    default="recollect",
    help="exchange: a JSON file of the Open Memory Protocol; memory-dir: a folder of Markdown.",
)
@with_store
def export(
    rec: LocalRecollect, *, path: Path, plain: bool, synced: bool, file_format: str
) -> Output:
    """
    Write the whole store to one file (.gz compresses).

    The export of an encrypted store is encrypted with its key.
    Of a damaged store it writes what can be read and lists the rest; the exit code is 1 then.

    The formats of the Open Memory Protocol are for other programs: they hold memories, their
    sources and shared blocks, and nothing else.
    """
    if synced and file_format != "recollect":
        raise InvalidInput(f"--synced is for Recollect's own format, not for {file_format}")
    if file_format == "exchange":
        objects = rec.engine.export_exchange(path, plain=plain)
        value = {"path": str(path), "objects": objects}
        return Output(value, f"Exported {objects} objects to {safe(path)}.")
    if file_format == "memory-dir":
        files = rec.engine.write_memory_directory(path, plain=plain)
        return Output({"path": str(path), "files": files}, f"{files} files in {safe(path)}.")
    with show_status("Exporting …"):
        rows = rec.export(path, plain=plain, synced=synced)
    damage = rec.damage.describe() if rec.damage else []

    def lines() -> Iterator[str]:
        yield f"Exported {rows} rows to {safe(path)}."
        yield from warnings(f"Damaged: {line}" for line in damage)

    value = {"path": str(path), "rows": rows, "damage": damage}
    return Output(value, lines(), failed=bool(damage))


@click.group("import", cls=DefaultGroup, default="file")
def import_() -> None:
    """
    Import an export file of Recollect, or the history of another program.

    `recollect import claude-code` reads the usual folder of that program, or the given paths. What
    is imported waits in the inbox. An import can be stopped and run again: nothing is imported
    twice.
    """


@import_.command("file")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--trust", is_flag=True, help="Import everything as it is: you know who wrote it.")
@with_new_store
def from_file(rec: LocalRecollect, *, path: Path, trust: bool) -> Output:
    """
    Add what is in an export file, and merge memories and blocks that are here.

    What only one side changed is taken over. If two decisions disagree, the memory goes back to the
    inbox; of two edits of the same lines of a block, the other is a proposal. What was deleted
    there is deleted here.

    An export that this store wrote is imported as it is. Of any other file the memories and blocks
    become candidates in the inbox, redacted, and nothing else is imported; --trust imports it as it
    is. An import that was interrupted is continued by running it again.
    """
    with show_status("Importing …"):
        imported = rec.import_(path, trust=trust)

    def lines() -> Iterator[str]:
        yield f"Added {counts(imported.added) or 'nothing'}; {imported.unchanged} rows existed."
        if imported.merged or imported.deleted:
            deleted = f"; deleted {counts(imported.deleted)}" * bool(imported.deleted)
            merged = counts(imported.merged) or "nothing"
            yield f"Changed {merged}{deleted}, as on the other machine."
        if not imported.trusted:
            yield (
                "[yellow]This store did not write the file, so what it says waits in the inbox; "
                "see: recollect inbox[/yellow]"
            )
            if imported.left_out:
                yield (
                    f"[dim]Not imported: {counts(imported.left_out)}. If you know who wrote the "
                    "file, --trust imports everything as it is.[/dim]"
                )
        yield from warnings(imported.conflicts)

    return Output(imported, lines())


@import_.command("exchange")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--trust", is_flag=True, help="Make memories active and carry out deletions.")
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="THERE=HERE",
    help="A name in its policies, and the name here. May be repeated.",
)
@click.option("--derive-anew", is_flag=True, help="Take sources only, under new ids.")
@with_new_store
def exchange(
    rec: LocalRecollect, *, path: Path, trust: bool, mapped: tuple[str, ...], derive_anew: bool
) -> Output:
    """
    Import a memory exchange: a JSON file of the Open Memory Protocol.

    Its memories wait in the inbox, and its deletions are not carried out, unless you --trust it.
    What is rejected or unresolved is listed with the reason.
    """
    names = dict(entry.split("=", 1) for entry in mapped if "=" in entry)
    if len(names) < len(mapped):
        raise InvalidInput("--map needs two names: --map THERE=HERE")
    receipt = rec.engine.import_exchange(
        path, trust=trust, principals=names, derive_anew=derive_anew
    )

    def lines() -> Iterator[str]:
        yield f"{counts(receipt.counts) or 'Nothing'} of {safe(path)}."
        for entry in receipt.entries:
            if entry.status in ("rejected", "unresolved"):
                yield f"{entry.status}: {safe(entry.target)}: {safe(entry.reason)}"
        yield from warnings(receipt.conflicts)

    return Output(receipt.model_dump(mode="json"), lines())


def _source_command(source: HistorySource) -> click.Command:
    """Return the command that imports one source."""

    @click.command(source.name, help=source.about)
    @click.argument("paths", nargs=-1, metavar="[PATH]...", required=source.needs_path)
    @click.option("--since", help="Only what was said since then (2026-05-08).")
    @click.option("--project", help="Only sessions of this project; also for those without one.")
    @click.option("-n", "--limit", type=int, help="How many conversations at most.")
    @click.option("--dry-run", is_flag=True, help="Count what would be imported; store nothing.")
    @click.option("--no-work", is_flag=True, help="Leave the extraction to a worker.")
    @with_new_store
    def command(rec: LocalRecollect, **options: Any) -> Output:
        return _import_history(rec, source, **options)

    return command


@import_.command("assistant")
@click.argument("path", required=False, metavar="[FILE]")
@click.option("--name", default="another assistant", help="The assistant, such as ChatGPT.")
@click.option("--project", help="The project that entries about projects belong to.")
@with_new_store
def assistant(rec: LocalRecollect, *, path: str | None, name: str, project: str | None) -> Output:
    """
    Import memories from ChatGPT, Claude or Gemini.

    Without FILE it prints the prompt to paste there. Save the answer and import it; `-` reads what
    is piped in. Each entry waits in the inbox, and none becomes active by itself.
    """
    if path is None:
        return Output({"prompt": PROMPT}, [*map(safe, PROMPT.splitlines())])
    text = text_argument(path) if path == "-" else read_text_file(Path(path))
    imported = rec.captures.add_assistant_memories(text, assistant=name, project=project)
    added = imported.added.get("memories", 0)
    return Output(imported, f"{added} candidates in the inbox; {imported.unchanged} were known.")


for _source in SOURCES.values():
    import_.add_command(_source_command(_source))


@dataclass
class ImportTally:
    """What an import has done so far."""

    conversations: int = 0
    known: int = 0
    left_out: int = 0
    total_files: int = 0
    files: Counter[FileOutcome] = field(default_factory=Counter)
    refused: list[dict[str, str]] = field(default_factory=list)

    def add(self, step: ImportStep) -> None:
        """Count the last step of a file."""
        self.total_files = step.of
        if step.outcome is None:
            return
        self.conversations += step.conversations
        self.known += step.known
        self.left_out += step.left_out
        self.files[step.outcome] += 1
        if step.outcome is FileOutcome.REFUSED:
            self.refused.append({"path": step.path, "reason": step.reason})


def _import_history(
    rec: LocalRecollect,
    source: HistorySource,
    *,
    paths: tuple[str, ...],
    dry_run: bool,
    no_work: bool,
    **filters: Any,
) -> Output:
    before = _inbox_size(rec)
    tally = ImportTally()
    steps = rec.engine.import_history_in_steps(source.name, paths, dry_run=dry_run, **filters)
    with progress_line("Importing") as progress:
        for step in steps:
            tally.add(step)
            so_far = tally.conversations + (0 if step.outcome else step.conversations)
            progress.update(step.number, step.of, f"files, {so_far} conversations")
    left_to = "dry run" if dry_run else _other_worker(rec, no_work=no_work)
    if not left_to:
        run_due_jobs(rec, describe=lambda: f"{_inbox_size(rec) - before} candidates")
    candidates = _inbox_size(rec)
    value = {
        "source": source.name,
        "files": {outcome.value: tally.files[outcome] for outcome in FileOutcome},
        "conversations": tally.conversations,
        "known": tally.known,
        "left_out": tally.left_out,
        "candidates": candidates - before,
        "waiting": candidates,
        "left_to": left_to,
        "refused": tally.refused,
    }
    lines = _tally_lines(source, tally, candidates=candidates - before, left_to=left_to)
    if paths and not tally.total_files:
        lines = chain(lines, [NO_SUCH_NAMES])
    return Output(value, lines, failed=bool(tally.refused))


def _inbox_size(rec: LocalRecollect) -> int:
    return rec.maintenance.status().memories_by_status.get(Status.INBOX, 0)


def _other_worker(rec: LocalRecollect, *, no_work: bool) -> str:
    """Return who extracts from what was imported, '' if it is done here and now."""
    if no_work:
        return "a worker"
    settings = load_settings()
    try:
        health = fetch_health(settings.host, settings.port, settings.token)
    except (NotRecollectServer, RecollectError):
        return ""
    path = Path(rec.maintenance.status().path)
    is_same = health is not None and Path(str(health.get("database_path", ""))) == path
    return "the server" if is_same else ""


def _tally_lines(
    source: HistorySource, tally: ImportTally, *, candidates: int, left_to: str
) -> Iterator[str]:
    files = counts({outcome.value: tally.files[outcome] for outcome in sorted(tally.files)})
    verb = "would be imported" if left_to == "dry run" else "imported"
    yield f"{tally.conversations} conversations {verb}, {tally.known} were known."
    yield f"[dim]Files: {files or f'none found for {source.name}'}.[/dim]"
    for refusal in tally.refused[:REFUSED_SHOWN]:
        yield f"[red]Refused: {safe(refusal['path'])}[/red]\n  [dim]{safe(refusal['reason'])}[/dim]"
    if len(tally.refused) > REFUSED_SHOWN:
        yield f"[red]and {len(tally.refused) - REFUSED_SHOWN} more; see --json[/red]"
    if tally.total_files > sum(tally.files.values()) or tally.files[FileOutcome.PARTLY]:
        yield "[dim]The limit was reached; run it again for the rest.[/dim]"
    if left_to in ("a worker", "the server") and tally.conversations:
        yield f"[dim]Left to {left_to}; `recollect work --once` extracts the memories now.[/dim]"
    elif tally.conversations and not left_to:
        yield f"{candidates} more candidates in the inbox; see: recollect inbox"
