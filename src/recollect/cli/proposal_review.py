"""
Proposed edits of blocks in a terminal: the lines that show one, and the review one by one.

An agent's edit of a shared block waits here, because other agents and clients are shown the text.
"""

from collections.abc import Callable, Iterator

import click

from recollect.api.recollect import Recollect
from recollect.cli.diff_lines import diff_lines
from recollect.cli.output import print_text, safe
from recollect.domain.block import BlockProposal, ProposalState
from recollect.errors import RecollectError

_KEYS = (
    "[bold]k[/bold]eep  [bold]r[/bold]eject  [bold]s[/bold]kip  [bold]u[/bold]ndo  "
    "[bold]q[/bold]uit"
)


def proposal_lines(proposal: BlockProposal) -> Iterator[str]:
    """Yield a proposal: who wants to change what, the difference, and its id."""
    head = (
        f"block {safe(proposal.label)} ({safe(proposal.place)}), by agent {safe(proposal.author)}"
    )
    yield f"[bold]{head}[/bold]"
    yield from diff_lines(proposal.diff)
    if proposal.is_outdated and proposal.state is ProposalState.PENDING:
        yield "  [yellow]the block changed after this was proposed; its text is now:[/yellow]"
        yield f"  {safe(proposal.current_value) or '(empty)'}"
        yield "  [yellow]the proposed text:[/yellow]"
        yield f"  {safe(proposal.value) or '(empty)'}"
    reason = f"{safe(proposal.reason)} · " if proposal.reason else ""
    decision = f": {safe(proposal.decision)}" if proposal.decision else ""
    yield f"  [dim]{reason}{proposal.proposed_at:%Y-%m-%d %H:%M} · {proposal.id}[/dim]"
    if proposal.state is not ProposalState.PENDING:
        yield f"  [dim]{proposal.state}{decision}[/dim]"


def review_proposals(rec: Recollect, proposals: list[BlockProposal]) -> bool:
    """Show the proposals one by one; return whether the reviewer wants to go on."""
    if proposals:
        count = len(proposals)
        print_text(f"\n[bold cyan]Proposed edits of blocks[/bold cyan] [dim]({count})[/dim]")
    decided: list[int] = []  # the positions of the proposals decided here
    position = 0
    while position < len(proposals):
        print_text(proposal_lines(proposals[position]))
        match _read_key():
            case "q":
                return False
            case "s":
                position += 1
            case "u" if decided:
                position = decided.pop()
                _apply_decision(rec.blocks.undo, proposals[position])
            case "u":
                print_text("[dim]There is nothing to undo yet.[/dim]")
            case key:
                if _decide(rec, proposals[position], key):
                    decided.append(position)
                position += 1
    return True


def _decide(rec: Recollect, proposal: BlockProposal, key: str) -> bool:
    return _apply_decision(rec.blocks.reject if key == "r" else rec.blocks.accept, proposal)


def _apply_decision(decide: Callable[[str], BlockProposal], proposal: BlockProposal) -> bool:
    """Decide; print the result, or why it is not possible."""
    try:
        proposal = decide(proposal.id)
    except RecollectError as error:
        print_text(f"[red]{safe(error)}[/red]")
        return False
    print_text(f"[yellow]{proposal.state}: block {safe(proposal.label)}[/yellow]")
    return True


def _read_key() -> str:
    print_text(_KEYS)
    while True:
        try:
            key = click.getchar().lower()
        except (KeyboardInterrupt, EOFError):
            return "q"
        if key == "\x1b":
            return "q"
        if key in tuple("krsuq"):
            return key
