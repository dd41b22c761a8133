"""
Commands of the reviewer: inbox, promote, reject, undo, consolidate, maintain, confirm.

In a terminal `recollect inbox` goes through the candidates one by one (cli/reviewing.py). Anywhere
else it prints the same list, group by group.
"""

import sys
from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import given_filters, place_options, store_options
from recollect.cli.render import print_json, print_memory, say, shown
from recollect.cli.reviewing import review
from recollect.domain.memory import Memory
from recollect.domain.maintenance import Waiting


@click.command()
@place_options
@click.option("--type", "types", multiple=True, help="Only of this type.")
@click.option("-n", "--limit", default=50, show_default=True, help="How many lines at most.")
@click.option("--list", "only_list", is_flag=True, help="Print the list, ask nothing.")
@store_options
def inbox(memory: LocalRecollect, *, as_json: bool, limit: int, only_list: bool, **given: Any) -> None:
    """
    Go through the candidates that wait for a decision: keep, reject, skip, undo.

    They come in groups, the most certain first; those that say the same are shown as one.

    \b
    Examples:
      recollect inbox
      recollect inbox --list --project site
    """
    asked = given_filters(given)
    if any(name in asked for name in ("project", "repo", "agent", "session")):
        asked["everywhere"] = False
    waiting = memory.inbox.list(limit=limit, **asked)
    if as_json:
        print_json(waiting)
    elif only_list or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _print_groups(waiting)
    else:
        review(memory, waiting)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", default="", help="Why.")
@click.option("--replace", is_flag=True, help="Supersede what it speaks against.")
@store_options
def promote(
    memory: LocalRecollect, *, as_json: bool, memory_ids: tuple[str, ...], reason: str, replace: bool
) -> None:
    """Make candidates active, all or none."""
    kept = memory.inbox.promote(memory_ids, reason=reason, replaces=replace)
    _print_all(kept, as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", default="", help="Why.")
@store_options
def reject(memory: LocalRecollect, *, as_json: bool, memory_ids: tuple[str, ...], reason: str) -> None:
    """Turn candidates down, all or none; they are archived with the reason."""
    _print_all(memory.inbox.reject(memory_ids, reason), as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@store_options
def undo(memory: LocalRecollect, *, as_json: bool, memory_ids: tuple[str, ...]) -> None:
    """Take back the last change of a memory's status, and what it changed along with it."""
    _print_all(memory.inbox.undo(memory_ids), as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="[ID]...", nargs=-1)
@store_options
def consolidate(memory: LocalRecollect, *, as_json: bool, memory_ids: tuple[str, ...]) -> None:
    """Compare candidates with what is known again, all of the inbox where none is named."""
    counts = memory.consolidate(memory_ids or None)
    if as_json:
        print_json(counts)
    else:
        say(", ".join(f"{count} {name}" for name, count in counts.items()) or "Nothing waits.")


@click.command()
@click.option("-n", "--limit", default=100, show_default=True, help="How many to look at.")
@store_options
def maintain(memory: LocalRecollect, *, as_json: bool, limit: int) -> None:
    """Embed what waits, prune the log, point out twins, and ask about facts gone stale."""
    done = memory.maintenance.run(limit=limit)
    if as_json:
        print_json(done)
        return
    say(f"{done.embedded} embedded; {done.taken_over} jobs were left by their worker.")
    if done.pruned:
        say(f"{done.pruned} old retrievals removed from the log (setting keep_retrievals).")
    for pair in done.twins:
        say(f"[yellow]Twins?[/yellow] {shown(pair.memory.content)}  [dim]{pair.memory.id}[/dim]")
        say(f"         {shown(pair.other.content)}  [dim]{pair.other.id}[/dim]")
    for one in done.stale:
        say(f"[yellow]Still true?[/yellow] {shown(one.content)}")
        since = f"not confirmed since {one.confirmed_at:%Y-%m-%d}"
        say(f"   [dim]{since}; recollect confirm {one.id}[/dim]")


@click.command()
@click.argument("memory_id", metavar="ID")
@store_options
def confirm(memory: LocalRecollect, *, as_json: bool, memory_id: str) -> None:
    """Say that a memory is still true: it counts as fresh again."""
    _print_all([memory.memories.confirm(memory_id)], as_json=as_json)


def _print_groups(waiting: list[Waiting]) -> None:
    group = ""
    for one in waiting:
        if one.group != group:
            group = one.group
            say(f"[bold cyan]{shown(group)}[/bold cyan]")
        print_memory(one.memory)
        if one.also:
            say(f"[cyan]and {len(one.also)} that say the same[/cyan]")
        if one.known is not None:
            say(f"[yellow]known already: {one.known.id}[/yellow]")
        for rival in one.rivals:
            say(f"[red]speaks against {rival.id}[/red]")
    of = waiting[0].of if waiting else 0
    more = f", {of - len(waiting)} more behind --limit" if of > len(waiting) else ""
    say(f"[dim]{len(waiting)} waiting{more}[/dim]")


def _print_all(memories: list[Memory], *, as_json: bool) -> None:
    if as_json:
        print_json(memories if len(memories) != 1 else memories[0])
        return
    for one in memories:
        print_memory(one)
