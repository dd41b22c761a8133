"""
The review in a terminal: one candidate after the other, a key for each decision, and undo.

Candidates come group by group; a capital decides over the rest of a group. What is shown was read
when the review began: what somebody else has decided since is skipped, or told and gone past.
"""

from dataclasses import dataclass

import click

from recollect.app.local import LocalRecollect
from recollect.cli.render import say, shown
from recollect.domain.memory import Status
from recollect.domain.maintenance import ReviewVerdict, Waiting
from recollect.errors import RecollectError

_KEYS = (
    "[bold]k[/bold]eep  [bold]r[/bold]eject  [bold]s[/bold]kip  [bold]u[/bold]ndo  "
    "[bold]q[/bold]uit"
)
_REPLACE = "  [bold]x[/bold] keep and replace the other"
_VERDICTS = {
    "k": ReviewVerdict.KEEP,
    "K": ReviewVerdict.KEEP,
    "x": ReviewVerdict.REPLACE,
    "r": ReviewVerdict.REJECT,
    "R": ReviewVerdict.REJECT,
}


@dataclass(frozen=True)
class _Decided:
    ids: tuple[str, ...]  # the leads that were decided by one key, in the order shown
    verdict: ReviewVerdict


def review(memory: LocalRecollect, waiting: list[Waiting]) -> None:
    """Go through what waits until the end or until the reviewer quits."""
    decided: list[_Decided] = []
    at = 0
    group = ""
    while at < len(waiting):
        one = waiting[at]
        if not _waits(memory, one):
            at += 1  # decided along with another one, or by somebody else
            continue
        if one.group != group:
            group = one.group
            in_group = sum(other.group == group for other in waiting)
            say(f"\n[bold cyan]{shown(group)}[/bold cyan] [dim]({in_group})[/dim]")
        rest = [other for other in waiting[at:] if other.group == group]
        _show(one, at + 1, len(waiting))
        match _key(one, len(rest)):
            case "s":
                at += 1
            case "u" if decided:
                at, group = _taken_back(memory, waiting, decided.pop()), ""
            case "u":
                say("[dim]There is nothing to undo yet.[/dim]")
            case "q":
                break
            case key:
                chosen = (
                    [other for other in rest if _waits(memory, other)] if key in "KR" else [one]
                )
                ids = tuple(other.memory.id for other in chosen)
                if _done(memory, ids, _VERDICTS[key]):
                    decided.append(_Decided(ids, _VERDICTS[key]))
                    at += 1
    _sum_up(memory, waiting, decided)


def _waits(memory: LocalRecollect, one: Waiting) -> bool:
    try:
        return memory.memories.get(one.memory.id).status is Status.INBOX
    except RecollectError:  # forgotten meanwhile
        return False


def _done(memory: LocalRecollect, ids: tuple[str, ...], verdict: ReviewVerdict) -> bool:
    reason = "" if verdict is ReviewVerdict.REJECT else "reviewed"
    try:
        memory.inbox.decide(ids, verdict.value, reason=reason)
    except RecollectError as error:  # somebody else decided meanwhile: say so and go on
        say(f"[red]{shown(str(error))}[/red]")
        return False
    return True


def _taken_back(memory: LocalRecollect, waiting: list[Waiting], last: _Decided) -> int:
    """Undo what one key did; return where the first of it stands."""
    place = next(i for i, one in enumerate(waiting) if one.memory.id == last.ids[0])
    try:
        back = memory.inbox.undo(last.ids)
    except RecollectError as error:
        say(f"[red]{shown(str(error))}[/red]")
        return place
    others = f" and {len(back) - 1} others" if len(back) > 1 else ""
    say(f"[yellow]Undone: {shown(back[0].content)}{others}[/yellow]")
    return place


def _sum_up(memory: LocalRecollect, waiting: list[Waiting], decided: list[_Decided]) -> None:
    rejected = sum(len(one.ids) for one in decided if one.verdict is ReviewVerdict.REJECT)
    kept = sum(len(one.ids) for one in decided) - rejected
    left = memory.maintenance.status().memories_by_status.get(Status.INBOX, 0)
    say(f"{kept} kept, {rejected} rejected; {left} left in the inbox.")
    if waiting and waiting[0].of > len(waiting):
        say(f"[dim]{waiting[0].of - len(waiting)} more were not shown; see --limit.[/dim]")


def _show(one: Waiting, number: int, of: int) -> None:
    found = one.memory
    sure = f"{found.confidence:.0%} sure"
    often = f" · in {one.sessions} sessions" if one.sessions > 1 else ""
    say(f"\n[dim]{number} of {of} · {found.type} · {found.scope} · {sure}{often}[/dim]")
    say(f"[bold]{shown(found.content)}[/bold]")
    if found.rationale:
        say(f"[dim]because[/dim] {shown(found.rationale)}")
    for piece in found.evidence[:3]:
        say(f"  [green]“{shown(piece.quote)}”[/green]")
    said = f"said by {one.voice} in " if one.voice else "from "
    say(f"  [dim]{said}{shown(one.source)}[/dim]")
    # Every wording is shown, for all of them are decided with it; the same words only once.
    wordings = dict.fromkeys(twin.content for twin in one.also if twin.content != found.content)
    for wording in wordings:
        say(f"  [cyan]also: {shown(wording)}[/cyan]")
    if len(one.also) > len(wordings):
        say(f"  [cyan]and {len(one.also) - len(wordings)} more in the same words[/cyan]")
    if one.known is not None:
        say(f"  [yellow]known already: {shown(one.known.content)}[/yellow]")
    for rival in one.rivals:
        say(f"  [red]speaks against: {shown(rival.content)}[/red] [dim]({rival.status})[/dim]")
    for flag in found.metadata.get("flags", ()):
        say(f"  [yellow]{shown(str(flag))}[/yellow]")
    if one.why:
        say(f"  [dim]{shown(one.why)}[/dim]")


def _key(one: Waiting, rest: int) -> str:
    bulk = ""
    if rest > 1:
        bulk = f"[bold]K[/bold]eep or [bold]R[/bold]eject the {rest} left of this group  "
    say(bulk + _KEYS + (_REPLACE if one.rivals else ""))
    while True:
        try:
            key = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return "q"
        if key == "\x1b":
            return "q"
        if key in ("K", "R") and rest > 1:
            return key
        key = key.lower()
        if key in tuple("krsuq") or (key == "x" and one.rivals):
            return key
