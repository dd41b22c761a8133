"""
The review in a terminal: one candidate after the other, one key for each decision, and undo.

Candidates come group by group; a capital letter decides on the rest of a group. The list was read
when the review began: candidates that somebody else decided since are skipped.
"""

from collections.abc import Iterator

import click

from recollect.api.recollect import Recollect
from recollect.cli.inbox_edit import ask_for_edit
from recollect.cli.output import print_text, safe
from recollect.domain.maintenance import InboxItem, ReviewVerdict
from recollect.domain.memory import Memory, Status
from recollect.domain.transcript import Voice
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass

_KEYS = (
    "[bold]k[/bold]eep  [bold]r[/bold]eject  [bold]e[/bold]dit  [bold]s[/bold]kip  "
    "[bold]u[/bold]ndo  [bold]q[/bold]uit"
)
_REPLACE = "  [bold]x[/bold] keep and replace the other"
_VERDICTS = {
    "k": ReviewVerdict.KEEP,
    "x": ReviewVerdict.REPLACE,
    "r": ReviewVerdict.REJECT,
}


@dataclass(frozen=True)
class _Decision:
    ids: tuple[str, ...]  # the candidates decided by one key, in the order shown
    verdict: ReviewVerdict
    edited_id: str = ""  # of the memory that replaced an edited candidate; undone instead of it


def review(rec: Recollect, candidates: list[InboxItem]) -> None:
    """Show the candidates until the end, or until the reviewer quits."""
    decisions: list[_Decision] = []
    position = 0
    group = ""
    while position < len(candidates):
        candidate = candidates[position]
        if not _is_open(rec, candidate):
            position += 1  # decided together with another one, or by somebody else
            continue
        if candidate.group != group:
            group = candidate.group
            size = sum(other.group == group for other in candidates)
            print_text(f"\n[bold cyan]{safe(group)}[/bold cyan] [dim]({size})[/dim]")
        rest = [other for other in candidates[position:] if other.group == group]
        print_text(_candidate_lines(candidate, position + 1, len(candidates)))
        match _read_key(candidate, len(rest)):
            case "s":
                position += 1
            case "u" if decisions:
                position, group = _undo(rec, candidates, decisions.pop()), ""
            case "u":
                print_text("[dim]There is nothing to undo yet.[/dim]")
            case "q":
                break
            case "e":
                if edited := _edit(rec, candidate):
                    decisions.append(edited)
                    position += 1
            case key:
                chosen = [candidate]
                if key in "KR":
                    chosen = [other for other in rest if _is_open(rec, other)]
                decision = _Decision(
                    tuple(other.memory.id for other in chosen), _VERDICTS[key.lower()]
                )
                if _decide(rec, decision):
                    decisions.append(decision)
                    position += 1
                    candidates[position:position] = _other_sides(rec, chosen, candidates)
    _print_summary(rec, candidates, decisions)


def _other_sides(
    rec: Recollect, decided: list[InboxItem], candidates: list[InboxItem]
) -> list[InboxItem]:
    """Return the candidates that *decided* ones contradict, if they still wait for a decision."""
    listed = {candidate.memory.id for candidate in candidates}
    ids = [
        rival.id
        for candidate in decided
        for rival in candidate.conflicts
        if rival.status is Status.INBOX and rival.id not in listed
    ]
    return rec.inbox.items(list(dict.fromkeys(ids))) if ids else []


def _is_open(rec: Recollect, candidate: InboxItem) -> bool:
    try:
        return rec.memories.get(candidate.memory.id).status is Status.INBOX
    except RecollectError:  # deleted meanwhile
        return False


def _decide(rec: Recollect, decision: _Decision) -> bool:
    """Record a decision; print why if somebody else decided first."""
    reason = "" if decision.verdict is ReviewVerdict.REJECT else "reviewed"
    try:
        rec.inbox.decide(decision.ids, decision.verdict.value, reason=reason)
    except RecollectError as error:
        print_text(f"[red]{safe(error)}[/red]")
        return False
    return True


def _edit(rec: Recollect, candidate: InboxItem) -> _Decision | None:
    """Keep a candidate as the reviewer words it; return None if nothing was changed."""
    memory = candidate.memory
    try:
        changes = ask_for_edit(rec, memory)
        if not changes:
            print_text("[dim]Nothing was changed.[/dim]")
            return None
        edited = rec.memories.edit(memory.id, **changes, reason="reviewed")
    except click.Abort:
        print_text("\n[dim]Nothing was changed.[/dim]")
        return None
    except RecollectError as error:
        print_text(f"[red]{safe(error)}[/red]")
        return None
    print_text(f"[green]Kept as you wrote it: {safe(edited.content)}[/green]")
    return _Decision((memory.id,), ReviewVerdict.KEEP, edited.id)


def _undo(rec: Recollect, candidates: list[InboxItem], last: _Decision) -> int:
    """Undo one decision; return the position of its first candidate."""
    ids = [candidate.memory.id for candidate in candidates]
    try:
        memories = rec.inbox.undo(last.edited_id or last.ids)
    except RecollectError as error:
        print_text(f"[red]{safe(error)}[/red]")
    else:
        others = f" and {len(memories) - 1} others" if len(memories) > 1 else ""
        print_text(f"[yellow]Undone: {safe(memories[0].content)}{others}[/yellow]")
    return ids.index(last.ids[0])


def _print_summary(rec: Recollect, candidates: list[InboxItem], decisions: list[_Decision]) -> None:
    rejected = sum(
        len(decision.ids) for decision in decisions if decision.verdict is ReviewVerdict.REJECT
    )
    promoted = sum(len(decision.ids) for decision in decisions) - rejected
    left = rec.maintenance.status().memories_by_status.get(Status.INBOX, 0)
    print_text(f"{promoted} kept, {rejected} rejected; {left} left in the inbox.")
    if candidates and candidates[0].of > len(candidates):
        hidden = candidates[0].of - len(candidates)
        print_text(f"[dim]{hidden} more were not shown; see --limit.[/dim]")


def _candidate_lines(candidate: InboxItem, number: int, total: int) -> Iterator[str]:
    memory = candidate.memory
    sessions = f" · in {candidate.sessions} sessions" if candidate.sessions > 1 else ""
    kind = f"{memory.type} · {memory.scope} · {memory.confidence:.0%} sure{sessions}"
    yield f"\n[dim]{number} of {total} · {kind}[/dim]"
    yield f"[bold]{safe(memory.content)}[/bold]"
    if memory.rationale:
        yield f"[dim]because[/dim] {safe(memory.rationale)}"
    for evidence in memory.evidence[:3]:
        yield f"  [green]“{safe(evidence.quote)}”[/green]"
    speaker = f"said by {candidate.voice} in " if candidate.voice else "from "
    if candidate.voice == Voice.PASTED:
        speaker = "perhaps pasted, in "
    yield f"  [dim]{speaker}{safe(candidate.source)}[/dim]"
    # The decision covers all duplicates, so every wording is shown, each once.
    duplicates = candidate.duplicates
    wordings = dict.fromkeys(
        other.content for other in duplicates if other.content != memory.content
    )
    for wording in wordings:
        yield f"  [cyan]also: {safe(wording)}[/cyan]"
    if len(duplicates) > len(wordings):
        yield f"  [cyan]and {len(duplicates) - len(wordings)} more in the same words[/cyan]"
    if candidate.already_stored is not None:
        yield f"  [yellow]already stored: {safe(candidate.already_stored.content)}[/yellow]"
    for rival in candidate.conflicts:
        where = f"({rival.status}) · {rival.observed_at:%Y-%m-%d}"
        yield f"  [red]contradicts: {safe(rival.content)}[/red] [dim]{where}[/dim]"
        yield from quote_lines(rival)
    for flag in memory.provenance.flags:
        yield f"  [yellow]{safe(flag)}[/yellow]"
    if candidate.why:
        yield f"  [dim]{safe(candidate.why)}[/dim]"


def quote_lines(memory: Memory) -> Iterator[str]:
    """Yield the first quote of a memory, unless its content is the quote."""
    for evidence in memory.evidence[:1]:
        if evidence.quote != memory.content:
            yield f"    [green]“{safe(evidence.quote)}”[/green]"


def _read_key(candidate: InboxItem, rest: int) -> str:
    bulk = ""
    if rest > 1:
        bulk = f"[bold]K[/bold]eep or [bold]R[/bold]eject the {rest} left of this group  "
    print_text(bulk + _KEYS + (_REPLACE if candidate.conflicts else ""))
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
        if key in tuple("kresuq") or (key == "x" and candidate.conflicts):
            return key
