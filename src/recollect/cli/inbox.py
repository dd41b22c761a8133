"""
The command `inbox`, and the decisions on candidates: promote, reject, undo.

In a terminal `recollect inbox` reviews the candidates one by one (cli/inbox_review.py). Elsewhere
it prints the same list, group by group.
"""

import sys
from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.inbox_review import review
from recollect.cli.memory_text import memory_lines
from recollect.cli.options import (
    DefaultGroup,
    ids_argument,
    reason_option,
    request_options,
    with_store,
)
from recollect.cli.output import Output, safe, wants_json, warnings
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory
from recollect.wire.requests.inbox import ListInboxRequest

_list_options = request_options(ListInboxRequest, without=("everywhere",))


@click.group(cls=DefaultGroup, default="review")
def inbox() -> None:
    """
    Review candidates: memories that wait for a decision.

    `recollect inbox` shows them one by one in a terminal, with the keys keep, reject, skip, undo
    and quit. Anywhere else, or with --list, it prints the list.
    """


@inbox.command("review")
@_list_options
@click.option("--list", "only_list", is_flag=True, help="Print the list and ask nothing.")
@with_store
def review_(rec: LocalRecollect, *, only_list: bool, **filters: Any) -> Output | None:
    """Decide on candidates one by one: keep, reject, skip, undo. The default command."""
    candidates = _candidates(rec, filters)
    if wants_json() or only_list or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Output(candidates, _candidate_lines(candidates))
    review(rec, candidates)
    return None


@inbox.command("list")
@_list_options
@with_store
def list_(rec: LocalRecollect, **filters: Any) -> Output:
    """List candidates in groups, the most certain first; duplicates are shown as one."""
    candidates = _candidates(rec, filters)
    return Output(candidates, _candidate_lines(candidates))


@inbox.command()
@ids_argument
@reason_option
@click.option("--replace", is_flag=True, help="Supersede the memory it contradicts.")
@click.option("--scope", type=click.Choice(["global"]), help="Show it in every project.")
@with_store
def promote(
    rec: LocalRecollect, *, memory_ids: tuple[str, ...], reason: str, replace: bool, scope: str
) -> Output:
    """Make candidates active, all or none."""
    return _decided(rec.inbox.promote(memory_ids, reason=reason, replaces=replace, scope=scope))


@inbox.command()
@ids_argument
@reason_option
@with_store
def reject(rec: LocalRecollect, *, memory_ids: tuple[str, ...], reason: str) -> Output:
    """Archive candidates with the reason, all or none."""
    return _decided(rec.inbox.reject(memory_ids, reason))


@inbox.command()
@ids_argument
@with_store
def undo(rec: LocalRecollect, *, memory_ids: tuple[str, ...]) -> Output:
    """Undo the last change of a memory's status, and what else that change did."""
    return _decided(rec.inbox.undo(memory_ids))


def _candidates(rec: LocalRecollect, filters: dict[str, Any]) -> list[InboxItem]:
    has_place = bool({"project", "repo", "agent", "session"} & {*filters})
    return rec.inbox.list(everywhere=not has_place, **filters)


def _candidate_lines(candidates: list[InboxItem]) -> Iterator[str]:
    group = ""
    for candidate in candidates:
        if candidate.group != group:
            group = candidate.group
            yield f"[bold cyan]{safe(group)}[/bold cyan]"
        yield from memory_lines(candidate.memory)
        if candidate.duplicates:
            yield f"[cyan]and {len(candidate.duplicates)} duplicates[/cyan]"
        if candidate.already_stored is not None:
            yield from warnings([f"already stored: {candidate.already_stored.id}"])
        for rival in candidate.conflicts:
            yield f"[red]contradicts {rival.id}[/red]"
    total = candidates[0].of if candidates else 0
    more = f", {total - len(candidates)} more; see --limit" if total > len(candidates) else ""
    yield f"[dim]{len(candidates)} candidates{more}[/dim]"


def _decided(memories: list[Memory]) -> Output:
    return Output(memories[0] if len(memories) == 1 else memories, memory_lines(*memories))
