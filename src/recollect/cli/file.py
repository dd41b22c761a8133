"""The command `file`: files an agent has open, and search in files."""

from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import agent_option, with_new_store, with_store
from recollect.cli.output import Output, receipt_lines, safe, warnings

_project_option = click.option(
    "--project", required=True, help="The project's folder ('.' is here), or its name."
)
_include_option = click.option("--include", help="Only files that match (*.py).")
_paths_argument = click.argument("paths", nargs=-1, metavar="[PATH]...")


@click.group()
def file() -> None:
    """Open files for an agent, and index and search the files of a project."""


@file.command("open")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--offset", default=0, help="Lines to skip at the beginning.")
@click.option("--length", type=int, help="Number of lines.")
@click.option("--most-open", default=5, show_default=True, help="Maximum number of open files.")
@agent_option
@_project_option
@with_store
def open_(
    rec: LocalRecollect,
    *,
    paths: tuple[str, ...],
    offset: int,
    length: int | None,
    agent: str,
    **settings: Any,
) -> Output:
    """Open files for an agent; if too many are open, the least recently used are closed."""
    requests = [{"path": path, "offset": offset, "length": length} for path in paths]
    windows = rec.files.open(agent, requests, **settings)

    def lines() -> Iterator[str]:
        for window in windows:
            span = f"{window.first_line}–{window.last_line} of {window.total_lines}"
            yield f"[bold]{safe(window.path)}[/bold] [dim]{span}[/dim]"
            yield safe(window.text)

    return Output(windows, lines())


@file.command("list")
@agent_option
@with_store
def list_(rec: LocalRecollect, *, agent: str) -> Output:
    """List the files an agent has open, the least recently used first."""
    windows = rec.files.list_open(agent)

    def lines() -> Iterator[str]:
        for window in windows:
            span = f"{window.first_line}–{window.last_line} of {window.total_lines}"
            yield f"{safe(window.path)} [dim]{span}[/dim]"

    return Output(windows, lines())


@file.command()
@_paths_argument
@agent_option
@with_store
def close(rec: LocalRecollect, *, paths: tuple[str, ...], agent: str) -> Output:
    """Close files of an agent; without PATH, all."""
    closed = rec.files.close(agent, list(paths) or None)
    return Output(closed, f"Closed {len(closed)} files.")


@file.command()
@click.argument("pattern")
@_include_option
@click.option("--context", "context_lines", default=0, help="Lines around a match.")
@click.option("--offset", default=0, help="Matches to skip: the next page.")
@_project_option
@with_new_store
def grep(rec: LocalRecollect, *, pattern: str, **settings: Any) -> Output:
    """Search files by a regular expression, 20 matches per page."""
    page = rec.files.grep(pattern, **settings)

    def lines() -> Iterator[str]:
        for match in page.matches:
            yield f"[dim]{safe(match.path)}:{match.line}[/dim] {safe(match.text)}"
        if page.next_offset is not None:
            yield f"[dim]more: --offset {page.next_offset}[/dim]"
        yield from warnings([*([page.stopped] if page.stopped else []), *page.skipped])
        if not page.matches:
            yield "Nothing matches."

    return Output(page, lines())


@file.command()
@_paths_argument
@_project_option
@with_store
def forget(rec: LocalRecollect, *, paths: tuple[str, ...], project: str) -> Output:
    """Remove files of a project from the index; without PATH, all. The files stay on disk."""
    receipt = rec.files.forget(list(paths) or None, project=project)
    return Output(receipt, receipt_lines("Removed", receipt.removed, receipt.kept))


@file.command()
@_include_option
@_project_option
@with_new_store
def index(rec: LocalRecollect, **settings: Any) -> Output:
    """Index the files of a project for search by words and meaning."""
    count = rec.files.index(**settings)
    return Output({"files": count}, f"Indexed {count} files.")
