"""Commands that look after a store: export, verify, rebuild, status, doctor."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from recollect.app.local import LocalRecollect
from recollect.cli.options import store_options
from recollect.cli.render import print_json, say, shown
from recollect.config import config_path
from recollect.domain.maintenance import StoreStatus
from recollect.errors import RecollectError

_errors = Console(stderr=True)


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@store_options
def export(memory: LocalRecollect, *, as_json: bool, path: Path) -> None:
    """
    Write everything to one file (.gz compresses).

    \b
    Example:
      recollect export backup.jsonl.gz
    """
    with _errors.status("Exporting …"):
        rows = memory.export(path)
    if as_json:
        print_json({"path": str(path), "rows": rows})
    else:
        say(f"Exported {rows} rows to {shown(str(path))}.")


@click.command()
@store_options
def verify(memory: LocalRecollect, *, as_json: bool) -> None:
    """Check the file, the rules and the indexes. Exit code 1 if anything is wrong."""
    with _errors.status("Verifying …"):
        result = memory.maintenance.verify()
    if as_json:
        print_json({"ok": result.ok, "checks": result.checks, "problems": result.problems})
    else:
        broken = {problem.check for problem in result.problems}
        for name in result.checks:
            say(f"{'[red]✗[/red]' if name in broken else '[green]✓[/green]'} {name}")
        for problem in result.problems:
            say(f"[red]{problem.check}: {shown(problem.detail)}; {problem.remedy}[/red]")
    if not result.ok:
        sys.exit(1)


@click.command()
@click.option("--no-embed", is_flag=True, help="Leave embeddings to later searches.")
@store_options
def rebuild(memory: LocalRecollect, *, as_json: bool, no_embed: bool) -> None:
    """Make every index anew from the memories, and embed what waits."""
    with _errors.status("Rebuilding …"):
        counts = dict(memory.maintenance.rebuild())
    waiting = memory.maintenance.status().waiting
    if waiting and not no_embed:
        with Progress(console=_errors, transient=True) as progress:
            task = progress.add_task("Embedding …", total=waiting)
            for done in memory.engine.drain_in_steps():
                progress.advance(task, done)
        counts["embedded"] = waiting
    if as_json:
        print_json(counts)
    else:
        say("Rebuilt: " + ", ".join(f"{count} {name}" for name, count in counts.items()) + ".")


@click.command()
@store_options
def status(memory: LocalRecollect, *, as_json: bool) -> None:
    """Say what is in the store and how far its indexes are."""
    found = memory.maintenance.status()
    if as_json:
        print_json(found)
        return
    say(f"[bold]{shown(found.path)}[/bold]  {found.bytes / 1e6:.1f} MB, schema {found.schema}")
    total = sum(found.memories_by_status.values())
    by_status = ", ".join(f"{count} {name}" for name, count in found.memories_by_status.items())
    say(f"{total} memories" + (f": {by_status}" if by_status else ""))
    say(f"{found.counts['projects']} projects, {found.counts['retrievals']} logged retrievals")
    embedded = found.embedded.get(found.embedder, 0)
    if found.jobs:
        say("jobs: " + ", ".join(f"{count} {state}" for state, count in found.jobs.items()))
    say(f"embedder {shown(found.embedder)}: {embedded} embedded, {found.waiting} waiting")
    if found.serving not in ("", found.embedder):
        say(f"{shown(found.serving)} answers until then")


@click.command()
@store_options
def doctor(memory: LocalRecollect, *, as_json: bool) -> None:
    """Check this installation: file, permissions, space, indexes, embedder, queue."""
    findings = list(_findings(memory))
    if as_json:
        print_json([{"check": name, "ok": ok, "detail": told} for name, ok, told in findings])
    else:
        for name, ok, told in findings:
            say(f"{'[green]✓[/green]' if ok else '[red]✗[/red]'} {name}: {shown(told)}")
    if not all(ok for _, ok, _ in findings):
        sys.exit(1)


def _findings(memory: LocalRecollect) -> Iterator[tuple[str, bool, str]]:
    yield "python", True, f"{platform.python_version()} on {platform.system()}"
    config = config_path(os.environ)
    yield "configuration", True, f"{config} ({'found' if config.exists() else 'none, defaults'})"
    found = memory.maintenance.status()
    path = Path(found.path)
    yield "store", True, f"{path}, schema {found.schema}, {found.bytes / 1e6:.1f} MB"
    mode = path.stat().st_mode & 0o777
    private = os.name != "posix" or mode & 0o077 == 0
    yield "privacy", private, f"mode {mode:o}" + ("" if private else f"; run: chmod 600 {path}")
    free = shutil.disk_usage(path.parent).free
    yield "space", free > 100_000_000, f"{free / 1e9:.1f} GB free"
    yield from _health(memory, found)
    try:
        yield "embedder", True, memory.models.check_embedder()
    except RecollectError as error:
        yield "embedder", False, f"{error} (search by words works without it)"


def _health(memory: LocalRecollect, found: StoreStatus) -> Iterator[tuple[str, bool, str]]:
    result = memory.maintenance.verify()
    broken = "; ".join(f"{one.check}: {one.remedy}" for one in result.problems)
    yield "indexes", result.ok, broken or f"{len(result.checks)} checks passed"
    yield "embeddings", True, f"{found.waiting} items wait to be embedded"
    jobs = found.jobs
    open_jobs = jobs.get("todo", 0) + jobs.get("doing", 0)
    due = f", next due {found.next_job_at:%Y-%m-%d %H:%M:%S} UTC" if found.next_job_at else ""
    yield "queue", True, f"{open_jobs} open, {jobs.get('done', 0)} done{due}"
    parked = jobs.get("parked", 0)
    yield "failed jobs", not parked, f"{parked} parked" + ("; recollect jobs list" * bool(parked))
    held = found.memories_by_status.get("inbox", 0)
    yield "inbox", True, f"{held} candidates wait" + ("; recollect inbox" * bool(held))
    junk = f"{found.rejected} of {found.extracted} extracted were rejected"
    yield "junk rate", True, f"{found.junk_rate:.0%} ({junk})"
    yield "contradictions", True, f"{found.contradictions} pairs stand against each other"
