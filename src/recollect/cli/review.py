"""
Commands of the reviewer: inbox, promote, reject, undo, consolidate, maintain, confirm.

In a terminal `recollect inbox` goes through the candidates one by one; each key does one thing and
can be taken back. Anywhere else it prints the list.
"""

import sys
from typing import Any

import click

from recollect.app import Recollect
from recollect.cli.options import given_filters, place_options, store_options
from recollect.cli.render import print_json, print_memory, say, shown
from recollect.domain.memory import Memory, Status
from recollect.domain.upkeep import Waiting
from recollect.errors import RecollectError

_KEYS = (
    "[bold]k[/bold]eep  [bold]r[/bold]eject  [bold]s[/bold]kip  [bold]u[/bold]ndo  "
    "[bold]q[/bold]uit"
)
_REPLACE = "  [bold]x[/bold] keep and replace the other"


@click.command()
@place_options
@click.option("--type", "types", multiple=True, help="Only of this type.")
@click.option("-n", "--limit", default=50, show_default=True, help="How many at most.")
@click.option("--list", "only_list", is_flag=True, help="Print the list, ask nothing.")
@store_options
def inbox(memory: Recollect, *, as_json: bool, limit: int, only_list: bool, **given: Any) -> None:
    """
    Go through the candidates that wait for a decision: keep, reject, skip, undo.

    \b
    Examples:
      recollect inbox
      recollect inbox --list --project site
    """
    asked = given_filters(given)
    if any(name in asked for name in ("project", "repo", "agent", "session")):
        asked["everywhere"] = False
    waiting = memory.waiting(limit=limit, **asked)
    if as_json:
        print_json([one.memory for one in waiting])
    elif only_list or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for one in waiting:
            print_memory(one.memory)
        say(f"[dim]{len(waiting)} waiting[/dim]")
    else:
        _review(memory, waiting)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", default="", help="Why.")
@click.option("--replace", is_flag=True, help="Supersede what it speaks against.")
@store_options
def promote(
    memory: Recollect, *, as_json: bool, memory_ids: tuple[str, ...], reason: str, replace: bool
) -> None:
    """Make candidates active, all or none."""
    kept = memory.promote_many(memory_ids, reason=reason, replaces=replace)
    _print_all(kept, as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", default="", help="Why.")
@store_options
def reject(memory: Recollect, *, as_json: bool, memory_ids: tuple[str, ...], reason: str) -> None:
    """Turn candidates down, all or none; they are archived with the reason."""
    _print_all(memory.reject_many(memory_ids, reason), as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="ID...", nargs=-1, required=True)
@store_options
def undo(memory: Recollect, *, as_json: bool, memory_ids: tuple[str, ...]) -> None:
    """Take back the last change of a memory's status, and what it changed along with it."""
    _print_all(memory.undo_many(memory_ids), as_json=as_json)


@click.command()
@click.argument("memory_ids", metavar="[ID]...", nargs=-1)
@store_options
def consolidate(memory: Recollect, *, as_json: bool, memory_ids: tuple[str, ...]) -> None:
    """Compare candidates with what is known again, all of the inbox where none is named."""
    counts = memory.consolidate(memory_ids or None)
    if as_json:
        print_json(counts)
    else:
        say(", ".join(f"{count} {name}" for name, count in counts.items()) or "Nothing waits.")


@click.command()
@click.option("-n", "--limit", default=100, show_default=True, help="How many to look at.")
@store_options
def maintain(memory: Recollect, *, as_json: bool, limit: int) -> None:
    """Embed what waits, point out twins, and ask about facts that have gone stale."""
    done = memory.maintain(limit=limit)
    if as_json:
        print_json(done)
        return
    say(f"{done.embedded} embedded; {done.taken_over} jobs were left by their worker.")
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
def confirm(memory: Recollect, *, as_json: bool, memory_id: str) -> None:
    """Say that a memory is still true: it counts as fresh again."""
    _print_all([memory.confirm(memory_id)], as_json=as_json)


def _review(memory: Recollect, waiting: list[Waiting]) -> None:
    decided: list[tuple[str, str]] = []  # what was decided, and by which key
    at = 0
    while at < len(waiting):
        one = waiting[at]
        if memory.get(one.memory.id).status is not Status.INBOX:
            at += 1  # decided along with another one, or by somebody else
            continue
        _show(one, at + 1, len(waiting))
        match _key(one):
            case "k" | "x" | "r" as key if _done(memory, one.memory.id, key):
                decided.append((one.memory.id, key))
                at += 1
            case "s":
                at += 1
            case "u" if decided:
                back = memory.undo(decided.pop()[0])
                at = next(i for i, other in enumerate(waiting) if other.memory.id == back.id)
                say(f"[yellow]Undone: {shown(back.content)}[/yellow]")
            case "u":
                say("[dim]There is nothing to undo yet.[/dim]")
            case "q":
                break
    rejected = sum(key == "r" for _, key in decided)
    left = len(memory.inbox(limit=1_000))
    say(f"{len(decided) - rejected} kept, {rejected} rejected; {left} left in the inbox.")


def _done(memory: Recollect, memory_id: str, key: str) -> bool:
    try:
        if key == "r":
            memory.reject(memory_id)
        else:
            memory.promote(memory_id, reason="reviewed", replaces=key == "x")
    except RecollectError as error:  # somebody else decided meanwhile: say so and go on
        say(f"[red]{shown(str(error))}[/red]")
        return False
    return True


def _show(one: Waiting, number: int, of: int) -> None:
    found = one.memory
    sure = f"{found.confidence:.0%} sure"
    say(f"\n[dim]{number} of {of} · {found.type} · {found.scope} · {sure}[/dim]")
    say(f"[bold]{shown(found.content)}[/bold]")
    if found.rationale:
        say(f"[dim]because[/dim] {shown(found.rationale)}")
    for piece in found.evidence[:3]:
        say(f"  [green]“{shown(piece.quote)}”[/green]")
    said = f"said by {one.voice} in " if one.voice else "from "
    say(f"  [dim]{said}{shown(one.source)}[/dim]")
    for rival in one.rivals:
        say(f"  [red]speaks against: {shown(rival.content)}[/red] [dim]({rival.status})[/dim]")
    for flag in found.metadata.get("flags", ()):
        say(f"  [yellow]{shown(str(flag))}[/yellow]")
    if one.why:
        say(f"  [dim]{shown(one.why)}[/dim]")


def _key(one: Waiting) -> str:
    say(_KEYS + (_REPLACE if one.rivals else ""))
    while True:
        try:
            key = click.getchar().lower()
        except (KeyboardInterrupt, EOFError):
            return "q"
        if key == "\x1b":
            return "q"
        if key in "krsuq" or (key == "x" and one.rivals):
            return key


def _print_all(memories: list[Memory], *, as_json: bool) -> None:
    if as_json:
        print_json(memories if len(memories) != 1 else memories[0])
        return
    for one in memories:
        print_memory(one)
