"""The command `vault`."""

from collections.abc import Iterator

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import with_store
from recollect.cli.output import Output, safe, warnings
from recollect.cli.progress import show_status


@click.command()
@click.argument("folder")
@click.option(
    "--plain", is_flag=True, help="Write unencrypted files, although the store is encrypted."
)
@with_store
def vault(rec: LocalRecollect, *, folder: str, plain: bool) -> Output:
    """
    Write memories, decisions and blocks as Markdown, and take over edits made there.

    Run it again after editing: an edited page becomes a candidate or a proposal in the inbox, and
    so does a page that you wrote. Pages of what is not active any more are removed.
    """
    with show_status("Writing pages …"):
        report = rec.engine.write_vault(folder, plain=plain)

    def lines() -> Iterator[str]:
        counts = f"{report.written} pages written, {report.unchanged} unchanged"
        yield f"{counts}, {report.removed} removed in {safe(folder)}."
        for name in report.proposed:
            yield f"[yellow]{safe(name)}: edit proposed; review it with `recollect inbox`[/yellow]"
        yield from warnings(report.notes)

    return Output(report, lines())
