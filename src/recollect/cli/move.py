"""The command `move`."""

from collections.abc import Iterator

import click

from recollect.app.move_store import move_store
from recollect.cli.options import DB_HELP, settings_with_passphrase
from recollect.cli.output import Output, counts, database, safe, with_output
from recollect.cli.progress import progress_line
from recollect.domain.move_report import MoveReport


@click.command()
@click.option("--to", required=True, help="Where to: postgresql://… or a new file.")
@click.option("--plain", is_flag=True, help="Allow an encrypted store to become a plain one.")
@click.option("--db", help=DB_HELP)
@with_output
def move(db: str | None, *, to: str, plain: bool) -> Output:
    """
    Copy the store to another database and compare the two.

    Rows, vectors and the logs are copied to an empty place; of a team also the users, the members
    and the stores of all of them. Then all rows are compared by their hashes, and a sample of
    rankings. The source is not changed. If it is interrupted, run it again. Stop the programs that
    write to the store first.
    """
    settings = settings_with_passphrase(database(db))
    with progress_line("Moving") as line:
        report = move_store(settings, to, plain=plain, report=line.draw)
    return Output(report, _lines(report))


def _lines(report: MoveReport) -> Iterator[str]:
    yield f"Copied {safe(report.source)} to {safe(report.target)}."
    yield counts(report.rows)
    if report.stores > 1:
        yield f"{report.stores} stores: the first one, and those of users and projects."
    compared = f"every row, {report.vectors} vectors and {report.compared_rankings} rankings"
    yield f"[dim]Compared and equal: {compared}.[/dim]"
    yield f"[dim]Use it with: export RECOLLECT_DB={safe(report.target)}[/dim]"
