"""The commands `backup` and `restore`."""

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.restore_backup import preview_restore, replace_by_backup, restore_backup
from recollect.cli.options import settings_with_passphrase, with_store, yes_option
from recollect.cli.output import Output, ask, database, safe, shorten, with_output
from recollect.cli.progress import show_status
from recollect.domain.backup import Backup, BackupReport, RestoreReport, RowDifference
from recollect.errors import InvalidInput

LINE_CHARS = 100  # of a row that differs; --json has more


@click.command()
@click.option("--to", help="The folder. Default: the setting backup_folder.")
@click.option("--keep", help="Days, weeks and months to keep. Default: backup_keep (7d,4w,12m).")
@click.option("--list", "lists", is_flag=True, help="List the backups; write none.")
@with_store
def backup(rec: LocalRecollect, *, to: str | None, keep: str | None, lists: bool) -> Output:
    """
    Write a verified backup of the store into a folder.

    Other programs may go on using the store. The backup of an encrypted store is encrypted. Backups
    of this store that are too old are deleted.
    """
    if lists:
        backups = rec.maintenance.backups(to)
        lines = [_describe(entry) for entry in backups] or ["There are no backups."]
        return Output(backups, lines)
    with show_status("Backing up …"):
        report = rec.maintenance.backup(to, keep=keep)
    return Output(report, _backup_lines(report))


@click.command()
@click.argument("backup_file", metavar="BACKUP", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), help="The new file.")
@click.option("--replace", is_flag=True, help="Replace the current store, and keep a copy of it.")
@click.option("--dry-run", is_flag=True, help="Check the backup and show what would change.")
@click.option(
    "--trust", is_flag=True, help="Accept an unencrypted backup although the store is encrypted."
)
@click.option("--db", help="The current store. Default: RECOLLECT_DB, the configuration file.")
@yes_option
@with_output
def restore(
    db: str | None,
    *,
    backup_file: Path,
    to: Path | None,
    replace: bool,
    dry_run: bool,
    trust: bool,
    yes: bool,
) -> Output:
    """
    Restore a backup into a new file, or in place of the store.

    BACKUP is the copy, its manifest, or a folder, of which the newest backup is taken.
    A backup that is incomplete or was altered is refused, and nothing is written.
    """
    settings = settings_with_passphrase(database(db))
    target = settings.db_path if replace else to
    if dry_run:
        report = preview_restore(settings, backup_file, target or settings.db_path, trust=trust)
    elif target is None or (replace and to is not None):
        raise InvalidInput("name the new file with --to, or --replace the current store")
    elif replace:
        ask(f"Replace {target} by the backup {backup_file}?", yes=yes)
        with show_status("Restoring …"):
            report = replace_by_backup(settings, backup_file, trust=trust)
    else:
        with show_status("Restoring …"):
            report = restore_backup(settings, backup_file, target, trust=trust)
    return Output(report, _restore_lines(report))


def _describe(backup: Backup) -> str:
    kind = "encrypted" if backup.is_encrypted else "plain"
    size = f"{backup.bytes / 1e6:.1f} MB"
    return f"{backup.created_at:%Y-%m-%d %H:%M} UTC  {size}, {kind}  {safe(backup.path)}"


def _describe_row(row: RowDifference) -> str:
    """Return a line as in a diff: what the backup has (+), and what only the store has (-)."""
    sign = "+" if row.in_store is None else "-" if row.in_backup is None else "~"
    return f"  {sign} {safe(shorten(row.in_backup or row.in_store or row.id, LINE_CHARS))}"


def _backup_lines(report: BackupReport) -> Iterator[str]:
    yield f"Verified: {_describe(report.backup)}"
    if report.deleted:
        yield f"[dim]{len(report.deleted)} older backups deleted, {report.kept} kept.[/dim]"


def _restore_lines(report: RestoreReport) -> Iterator[str]:
    if report.dry_run:
        yield f"The backup is intact: {_describe(report.backup)}"
    else:
        yield f"Restored {safe(report.to)} from {_describe(report.backup)}"
    store = "previous" if report.replaced else "current"
    for table, difference in report.differences.items():
        yield (
            f"{table}: {difference.only_in_backup} only in the backup, "
            f"{difference.only_in_store} only in the {store} store, {difference.changed} differ"
        )
        yield from map(_describe_row, difference.rows)
        count = difference.only_in_backup + difference.only_in_store + difference.changed
        if difference.rows and count > len(difference.rows):
            yield f"  [dim]… {count - len(difference.rows)} more[/dim]"
    if any(difference.rows for difference in report.differences.values()):
        yield f"[dim]+ in the backup only, - in the {store} store only, ~ in both, different[/dim]"
    if not report.was_compared:
        yield "[dim]Not compared: there is no current store, or no key opens it.[/dim]"
    elif not report.differences:
        yield f"[dim]No row differs from the {store} store.[/dim]"
    if report.replaced:
        yield f"[dim]The previous store is {safe(report.replaced)}.[/dim]"
