"""
The command `inbox`, and the decisions on candidates: promote, reject, undo.

In a terminal `recollect inbox` reviews the candidates one by one (cli/inbox_review.py). Elsewhere
it prints the same list, group by group.
"""

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.inbox_review import quote_lines, review
from recollect.cli.memory_text import memory_lines
from recollect.cli.options import (
    DefaultGroup,
    ids_argument,
    project_option,
    reason_option,
    request_options,
    with_store,
)
from recollect.cli.output import Output, safe, shorten, text_argument, wants_json, warnings
from recollect.cli.proposal_review import proposal_lines, review_proposals
from recollect.domain.block import BlockProposal
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory
from recollect.errors import NotFound
from recollect.wire.requests.inbox import ListInboxRequest

_list_options = request_options(ListInboxRequest, without=("everywhere",))


@click.group(cls=DefaultGroup, default="review")
def inbox() -> None:
    """
    Review candidates: memories that wait for a decision, and edits of blocks that agents propose.

    `recollect inbox` shows them one by one in a terminal, with the keys keep, reject, edit,
    skip, undo and quit. Anywhere else, or with --list, it prints the list.
    """


@inbox.command("review")
@_list_options
@click.option("--list", "only_list", is_flag=True, help="Print the list and ask nothing.")
@with_store
def review_(rec: LocalRecollect, *, only_list: bool, **filters: Any) -> Output | None:
    """Decide on candidates one by one: keep, reject, edit, skip, undo. The default command."""
    candidates, proposals = _candidates(rec, filters), _proposals(rec, filters)
    if wants_json() or only_list or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Output(candidates, _inbox_lines(proposals, candidates))
    if review_proposals(rec, proposals):
        review(rec, candidates)
    return None


@inbox.command("list")
@_list_options
@with_store
def list_(rec: LocalRecollect, **filters: Any) -> Output:
    """List candidates in groups, the most certain first; duplicates are shown as one."""
    candidates = _candidates(rec, filters)
    return Output(candidates, _inbox_lines(_proposals(rec, filters), candidates))


@inbox.command("proposals")
@click.option("--agent", help="Only for blocks this agent sees.")
@project_option
@with_store
def proposals_(rec: LocalRecollect, *, agent: str | None, project: str | None) -> Output:
    """List the edits of shared blocks that agents proposed."""
    proposals = rec.blocks.proposals(agent, project=project)
    return Output(proposals, chain(_proposal_list(proposals), [_count(proposals)]))


@inbox.command()
@click.argument("proposal_id", metavar="PROPOSAL")
@click.option("--content", help="The text to write instead ('-' reads standard input).")
@reason_option
@with_store
def accept(rec: LocalRecollect, *, proposal_id: str, content: str | None, reason: str) -> Output:
    """Accept a proposed edit of a block, or write another text in its place."""
    value = None if content is None else text_argument(content)
    decided = rec.blocks.accept(proposal_id, value=value, reason=reason)
    return Output(decided, proposal_lines(decided))


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
    return _decision_output(
        rec.inbox.promote(memory_ids, reason=reason, replaces=replace, scope=scope)
    )


@inbox.command()
@ids_argument
@reason_option
@with_store
def reject(rec: LocalRecollect, *, memory_ids: tuple[str, ...], reason: str) -> Output:
    """Archive candidates with the reason, all or none; or reject a proposed edit of a block."""
    if proposal := _proposal_among(rec, memory_ids):
        rejected = rec.blocks.reject(proposal.id, reason)
        return Output(rejected, proposal_lines(rejected))
    return _decision_output(rec.inbox.reject(memory_ids, reason))


@inbox.command()
@ids_argument
@with_store
def undo(rec: LocalRecollect, *, memory_ids: tuple[str, ...]) -> Output:
    """Undo the last change of a memory's status, or the decision about an edit of a block."""
    if proposal := _proposal_among(rec, memory_ids):
        undone = rec.blocks.undo(proposal.id)
        return Output(undone, proposal_lines(undone))
    return _decision_output(rec.inbox.undo(memory_ids))


def _candidates(rec: LocalRecollect, filters: dict[str, Any]) -> list[InboxItem]:
    has_place = bool({"project", "repo", "agent", "session"} & {*filters})
    return rec.inbox.list(everywhere=not has_place, **filters)


def _proposals(rec: LocalRecollect, filters: dict[str, Any]) -> list[BlockProposal]:
    """Return the proposals that belong to a list of candidates; none if it is filtered by more."""
    place = {name: filters[name] for name in ("agent", "project") if name in filters}
    if {*filters} - {*place} - {"grouped", "limit"}:
        return []
    return rec.blocks.proposals(**place)


def _proposal_among(rec: LocalRecollect, ids: tuple[str, ...]) -> BlockProposal | None:
    """Return the proposal that is named, None if memories are named."""
    if len(ids) != 1:
        return None
    try:
        return rec.blocks.proposal(ids[0])
    except NotFound:
        return None


def _inbox_lines(proposals: list[BlockProposal], candidates: list[InboxItem]) -> Iterator[str]:
    if proposals:
        yield "[bold cyan]proposed edits of blocks[/bold cyan]"
        yield from _proposal_list(proposals)
        yield _count(proposals)
    yield from _candidate_lines(candidates)


def _proposal_list(proposals: list[BlockProposal]) -> Iterator[str]:
    return chain.from_iterable(map(proposal_lines, proposals))


def _count(proposals: list[BlockProposal]) -> str:
    return f"[dim]{len(proposals)} proposed edits; see `recollect inbox accept`[/dim]"


def _candidate_lines(candidates: list[InboxItem]) -> Iterator[str]:
    group = ""
    for candidate in candidates:
        if candidate.group != group:
            if group:
                yield ""
            group = candidate.group
            yield f"[bold cyan]{safe(group)}[/bold cyan]"
        mark = "- "
        for line in _lines_of(candidate):
            yield mark + line.replace("\n", "\n  ")
            mark = "  "
    total = candidates[0].of if candidates else 0
    more = f", {total - len(candidates)} more; see --limit" if total > len(candidates) else ""
    yield f"[dim]{len(candidates)} candidates{more}[/dim]"


def _lines_of(candidate: InboxItem) -> Iterator[str]:
    yield from memory_lines(candidate.memory)
    yield f"[dim]{safe(candidate.place)} · {safe(candidate.source)}[/dim]"
    if candidate.duplicates:
        yield f"[cyan]and {len(candidate.duplicates)} duplicates[/cyan]"
    if candidate.already_stored is not None:
        yield from warnings([f"already stored: {candidate.already_stored.id}"])
    for rival in candidate.conflicts:
        where = f"({rival.status}) · {rival.observed_at:%Y-%m-%d}"
        text = safe(shorten(rival.content, 200))
        yield f"[red]contradicts {rival.id}: {text}[/red] [dim]{where}[/dim]"
        yield from quote_lines(rival)


def _decision_output(memories: list[Memory]) -> Output:
    return Output(memories[0] if len(memories) == 1 else memories, memory_lines(*memories))
