"""Commands that check and maintain a store: status, doctor, verify, rebuild, maintain, …"""

import os
import platform
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.repair_store import repair_store
from recollect.app.store_encryption import encrypted_files
from recollect.cli.options import limit_option, with_store
from recollect.cli.output import (
    Output,
    counts,
    database,
    safe,
    warnings,
    with_output,
)
from recollect.cli.progress import progress_line, show_status
from recollect.config import config_path, is_postgres_address, load_settings
from recollect.domain.maintenance import ClientActivity, MaintenanceReport, StoreStatus
from recollect.errors import RecollectError
from recollect.text.bpe_tokenizer import has_tables
from recollect.text.token_counter import ESTIMATED

SHOWN_CLIENTS = 5
_PASSED, _FAILED = "[green]✓[/green]", "[red]✗[/red]"


@click.command()
@with_store
def status(rec: LocalRecollect) -> Output:
    """Print what the store holds and how much of it is embedded."""
    store, clients = rec.maintenance.status(), rec.maintenance.clients(limit=SHOWN_CLIENTS)

    def lines() -> Iterator[str]:
        yield f"[bold]{safe(store.path)}[/bold]  {store.bytes / 1e6:.1f} MB, schema {store.schema}"
        total = f"{sum(store.memories_by_status.values())} memories"
        by_status = counts(store.memories_by_status)
        yield f"{total}: {by_status}" if by_status else total
        yield f"{store.counts['projects']} projects, {store.counts['retrievals']} logged retrievals"
        if store.jobs:
            yield "jobs: " + counts(store.jobs)
        embedded = store.embedded.get(store.embedder, 0)
        yield f"embedder {safe(store.embedder)}: {embedded} embedded, {store.waiting} pending"
        if store.serving not in ("", store.embedder):
            yield f"{safe(store.serving)} answers until then"
        if clients:
            yield "clients: " + ", ".join(map(_client_line, clients))
        if not has_tables():
            yield f"[dim]token counts: {safe(ESTIMATED)}[/dim]"
        yield from warnings([store.read_only] if store.read_only else [])
        yield from warnings(store.unfinished)

    return Output(store, lines())


def _client_line(client: ClientActivity) -> str:
    return f"{safe(client.name)} [dim]{client.last_seen_at:%Y-%m-%d %H:%M}[/dim]"


@click.command()
@with_store
def doctor(rec: LocalRecollect) -> Output:
    """
    Check this installation: file, permissions, space, indexes, embedder, queue.

    The exit code is 1 if a check fails.
    """
    checks = list(_checks(rec))
    value = [{"check": name, "ok": ok, "detail": detail} for name, ok, detail in checks]
    lines = (f"{_PASSED if ok else _FAILED} {name}: {safe(detail)}" for name, ok, detail in checks)
    return Output(value, lines, failed=not all(ok for _, ok, _ in checks))


@click.command()
@with_store
def verify(rec: LocalRecollect) -> Output:
    """Check the database file, its rules and its indexes. The exit code is 1 if one is wrong."""
    with show_status("Verifying …"):
        result = rec.maintenance.verify()

    def lines() -> Iterator[str]:
        broken = {problem.check for problem in result.problems}
        for name in result.checks:
            yield f"{_FAILED if name in broken else _PASSED} {name}"
        for problem in result.problems:
            yield f"[red]{problem.check}: {safe(problem.detail)}; {problem.remedy}[/red]"

    value = {"ok": result.ok, "checks": result.checks, "problems": result.problems}
    return Output(value, lines(), failed=not result.ok)


@click.command()
@click.option("--no-embed", is_flag=True, help="Do not embed; later searches do it.")
@with_store
def rebuild(rec: LocalRecollect, *, no_embed: bool) -> Output:
    """Rebuild every index from the memories, and embed what is pending."""
    with show_status("Rebuilding …"):
        rebuilt = dict(rec.maintenance.rebuild())
    pending = rec.maintenance.status().waiting
    if pending and not no_embed:
        embedded = 0
        with progress_line("Embedding …") as progress:
            for done in rec.engine.drain_in_steps():
                embedded += done
                progress.update(embedded, pending)
        rebuilt["embedded"] = pending - rec.maintenance.status().waiting
    return Output(rebuilt, f"Rebuilt: {counts(rebuilt)}.")


@click.command()
@click.option("--db", help="The damaged file. Default: RECOLLECT_DB, the configuration file.")
@click.option("--to", type=click.Path(path_type=Path), help="The new file. Default: *.rescued.db.")
@with_output
def repair(db: str | None, *, to: Path | None) -> Output:
    """
    Rescue what can be read of a damaged store into a new file.

    The damaged file is not changed. The result names the rows that are lost or altered, by table.
    The exit code is 1 if there are any.
    """
    settings = load_settings(db=database(db))
    path = settings.db_path
    to = to or path.with_name(f"{path.stem}.rescued{path.suffix}")
    with show_status("Reading what can be read …"):
        report = repair_store(settings, to)
        with LocalRecollect(load_settings(db=str(to))) as rec:
            problems = rec.maintenance.verify().problems

    def lines() -> Iterator[str]:
        yield f"Rescued into {safe(to)}: {counts(report.rescued) or 'nothing'}."
        yield from warnings(report.describe() or ["Nothing was damaged."])
        for problem in problems:
            yield f"[red]{problem.check}: {safe(problem.detail)}; {problem.remedy}[/red]"
        yield f"[dim]{safe(path)} was not changed. To use the rescued store,[/dim]"
        yield "[dim]stop every program that uses the old one, move its files away,[/dim]"
        yield f"[dim]and rename {safe(to.name)} to {safe(path.name)}.[/dim]"

    return Output(report, lines(), failed=bool(problems) or not report.is_complete)


@click.command()
@limit_option(100)
@with_store
def maintain(rec: LocalRecollect, *, limit: int) -> Output:
    """
    Embed what is pending, prune the log, and list duplicates and outdated facts.

    Nothing is deleted: you decide with `recollect forget` and `recollect confirm`.
    """
    report = rec.maintenance.run(limit=limit)
    return Output(report, _report_lines(report))


@click.command()
@click.argument("memory_ids", metavar="[ID]...", nargs=-1)
@with_store
def consolidate(rec: LocalRecollect, *, memory_ids: tuple[str, ...]) -> Output:
    """Compare candidates with stored memories again; without ID, all candidates."""
    outcomes = rec.consolidate(memory_ids or None)
    return Output(outcomes, counts(outcomes) or "There are no candidates.")


def _report_lines(report: MaintenanceReport) -> Iterator[str]:
    yield f"{report.embedded} embedded; {report.taken_over} jobs taken over from lost workers."
    if report.pruned:
        limits = "settings keep_retrievals_days and keep_retrievals_mb"
        yield f"{report.pruned} old retrievals removed from the log ({limits})."
    for pair in report.duplicates:
        for label, memory in (("Duplicates?", pair.memory), ("           ", pair.other)):
            yield f"[yellow]{label}[/yellow] {safe(memory.content)}  [dim]{memory.id}[/dim]"
    for memory in report.stale:
        yield f"[yellow]Still true?[/yellow] {safe(memory.content)}"
        since = f"not confirmed since {memory.confirmed_at:%Y-%m-%d}"
        yield f"   [dim]{since}; recollect confirm {memory.id}[/dim]"


def _file_checks(
    rec: LocalRecollect, path: Path, *, is_encrypted: bool
) -> Iterator[tuple[str, bool, str]]:
    """Yield the checks of a store in a file."""
    mode = path.stat().st_mode & 0o777
    private = os.name != "posix" or mode & 0o077 == 0
    yield "privacy", private, f"mode {mode:o}" + ("" if private else f"; run: chmod 600 {path}")
    yield encryption_check(path, is_encrypted)
    yield from backup_check(rec)
    yield from team_backup_check(rec)
    yield from sync_check(rec)
    free = shutil.disk_usage(path.parent).free
    yield "space", free > 100_000_000, f"{free / 1e9:.1f} GB free"


def _checks(rec: LocalRecollect) -> Iterator[tuple[str, bool, str]]:
    """Yield the name, result and details of every check of `doctor`."""
    yield "python", True, f"{platform.python_version()} on {platform.system()}"
    config = config_path(os.environ)
    yield "configuration", True, f"{config} ({'found' if config.exists() else 'none, defaults'})"
    store = rec.maintenance.status()
    yield "store", True, f"{store.path}, schema {store.schema}, {store.bytes / 1e6:.1f} MB"
    yield "access", rec.damage is None, store.read_only or "can be read and written"
    if not is_postgres_address(store.path):
        yield from _file_checks(rec, Path(store.path), is_encrypted=store.is_encrypted)
    yield from _health_checks(rec, store)
    yield "token counts", True, "exact for OpenAI's models" if has_tables() else ESTIMATED
    try:
        yield "embedder", True, rec.models.check_embedder()
    except RecollectError as error:
        yield "embedder", False, f"{error} (search by words works without it)"


def encryption_check(path: Path, is_store_encrypted: bool) -> tuple[str, bool, str]:
    """Return the check of `doctor` that says what is encrypted."""
    plain = [file.path for file in encrypted_files(path) if not file.is_encrypted]
    if not is_store_encrypted:
        return "encryption", True, "the store is not encrypted (recollect encrypt)"
    if plain:
        return (
            "encryption",
            False,
            (
                f"not encrypted: {', '.join(plain)}; `recollect rekey` encrypts snapshots; "
                "delete a rescued copy"
            ),
        )
    return "encryption", True, "store, write-ahead log and copies beside it are encrypted"


def backup_check(rec: LocalRecollect) -> Iterator[tuple[str, bool, str]]:
    """Yield the check of `doctor` that says how old the newest backup is."""
    settings = load_settings()
    if not settings.backup_folder:
        yield "backups", True, "none configured (setting backup_folder)"
        return
    backups = rec.maintenance.backups(settings.backup_folder)
    if not backups:
        yield "backups", not settings.backup_every_hours, "none yet; run: recollect backup"
        return
    age = datetime.now(UTC) - backups[0].created_at
    every = timedelta(hours=settings.backup_every_hours)
    detail = f"{len(backups)}, newest {backups[0].created_at:%Y-%m-%d %H:%M} UTC"
    yield "backups", not every or age < 2 * every, detail


def team_backup_check(rec: LocalRecollect) -> Iterator[tuple[str, bool, str]]:
    """Yield the check of `doctor` that names the stores of a team without a new backup."""
    if rec.engine.team_backups is not None and rec.engine.team.directory.has_users():
        overdue = rec.engine.team_backups.overdue()
        detail = f"none, or an old one: {', '.join(overdue)}; `recollect serve` makes them"
        yield "team backups", not overdue, detail if overdue else "every user and project has one"


def sync_check(rec: LocalRecollect) -> Iterator[tuple[str, bool, str]]:
    """Yield the check of `doctor` that says when a store that syncs did so, and what failed."""
    status = rec.sync.status()
    if not status.is_set_up:
        return
    at = f"{status.synced_at:%Y-%m-%d %H:%M} UTC" if status.synced_at else "never"
    detail = f"last sync {at}, {status.unsent} records not sent"
    yield "sync", not status.problems, "; ".join([detail, *status.problems])


def _health_checks(rec: LocalRecollect, store: StoreStatus) -> Iterator[tuple[str, bool, str]]:
    result = rec.maintenance.verify()
    problems = "; ".join(
        f"{problem.check}: {problem.detail}; {problem.remedy}" for problem in result.problems
    )
    yield "indexes", result.ok, problems or f"{len(result.checks)} checks passed"
    yield "embeddings", True, f"{store.waiting} items pending"
    jobs = store.jobs
    open_jobs = jobs.get("todo", 0) + jobs.get("doing", 0)
    due = f", next due {store.next_job_at:%Y-%m-%d %H:%M:%S} UTC" if store.next_job_at else ""
    yield "queue", True, f"{open_jobs} open, {jobs.get('done', 0)} done{due}"
    unfinished = "; ".join(store.unfinished)
    yield "unfinished work", not unfinished, unfinished or "none"
    parked = jobs.get("parked", 0)
    yield "failed jobs", not parked, f"{parked} parked" + ("; recollect jobs list" * bool(parked))
    candidates = store.memories_by_status.get("inbox", 0)
    hint = "; recollect inbox" * bool(candidates)
    yield "inbox", True, f"{candidates} candidates{hint}"
    rejected = f"{store.rejected} of {store.extracted} extracted were rejected"
    yield "junk rate", True, f"{store.junk_rate:.0%} ({rejected})"
    yield "contradictions", True, f"{store.contradictions} pairs of memories"
