"""Commands about files an agent has open, and search in files."""

from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, store_options
from recollect.cli.render import print_json, say, shown

_PROJECT = click.option(
    "--project", required=True, help="The project's folder ('.' is here), or its name."
)
_AGENT = click.option("--agent", required=True, help="The agent, by name or id.")


@click.group()
def files() -> None:
    """
    Files: windows an agent has open, and search in a project's files.

    \b
    Examples:
      recollect files open notes.md --agent coder --project .
      recollect files grep "deploy" --project . --include "*.md"
      recollect files index --project . --include "*.md"
      recollect search files --query "when do we deploy?" --project .
    """


@files.command("open")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--offset", default=0, help="Lines to leave out at the beginning.")
@click.option("--length", type=int, help="How many lines.")
@click.option("--most-open", default=5, show_default=True, help="Files open at once at most.")
@_AGENT
@_PROJECT
@store_options
def open_(
    memory: LocalRecollect,
    *,
    as_json: bool,
    paths: tuple[str, ...],
    offset: int,
    length: int | None,
    agent: str,
    **given: Any,
) -> None:
    """Open files for an agent; the least recently used are closed to make room."""
    requests = [{"path": path, "offset": offset, "length": length} for path in paths]
    windows = memory.files.open(agent, requests, **given)
    if as_json:
        print_json(windows)
        return
    for one in windows:
        lines = f"{one.first_line}–{one.last_line} of {one.total_lines}"
        say(f"[bold]{shown(one.path)}[/bold] [dim]{lines}[/dim]")
        say(shown(one.text))


@files.command("list")
@_AGENT
@store_options
def list_(memory: LocalRecollect, *, as_json: bool, agent: str) -> None:
    """
    List what an agent has open, least recently used first.

    \b
    Example:
      recollect files list --agent coder
    """
    windows = memory.files.list_open(agent)
    if as_json:
        print_json(windows)
        return
    for one in windows:
        say(f"{shown(one.path)} [dim]{one.first_line}–{one.last_line} of {one.total_lines}[/dim]")


@files.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_AGENT
@store_options
def close(memory: LocalRecollect, *, as_json: bool, paths: tuple[str, ...], agent: str) -> None:
    """
    Close files of an agent; all without PATH.

    \b
    Example:
      recollect files close --agent coder
    """
    closed = memory.files.close(agent, list(paths) or None)
    print_json(closed) if as_json else say(f"Closed {len(closed)} files.")


@files.command()
@click.argument("pattern")
@click.option("--include", help="Only files of this form (*.py).")
@click.option("--context", "context_lines", default=0, help="Lines around a match.")
@click.option("--offset", default=0, help="Matches to leave out: the next page.")
@_PROJECT
@creating_store_options
def grep(memory: LocalRecollect, *, as_json: bool, pattern: str, **given: Any) -> None:
    """Search files by a regular expression, 20 matches a page."""
    page = memory.files.grep(pattern, **given)
    if as_json:
        print_json(page)
        return
    for match in page.matches:
        say(f"[dim]{shown(match.path)}:{match.line}[/dim] {shown(match.text)}")
    if page.next_offset is not None:
        say(f"[dim]more: --offset {page.next_offset}[/dim]")
    for note in (*([page.stopped] if page.stopped else []), *page.skipped):
        say(f"[yellow]{shown(note)}[/yellow]")
    if not page.matches:
        say("Nothing matches.")


@files.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_PROJECT
@store_options
def forget(memory: LocalRecollect, *, as_json: bool, paths: tuple[str, ...], project: str) -> None:
    """
    Remove what is kept of a project's files; of all without PATH.

    \b
    Example:
      recollect files forget notes.md --project .
    """
    count = memory.files.forget(list(paths) or None, project=project)
    print_json({"files": count}) if as_json else say(f"Forgotten: {count} files.")


@files.command()
@click.option("--include", help="Only files of this form (*.py).")
@_PROJECT
@creating_store_options
def index(memory: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """Read a project's files for search by words and meaning."""
    count = memory.files.index(**given)
    print_json({"files": count}) if as_json else say(f"Read {count} files.")
