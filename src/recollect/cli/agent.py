"""
The command `agent`: create, list, change, move, copy, merge and delete agents.

Deciding tool calls is in `approvals.py`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.approvals import approvals
from recollect.cli.options import (
    agent_argument,
    project_option,
    request_options,
    with_new_store,
    with_store,
    yes_option,
)
from recollect.cli.output import (
    Output,
    ask,
    counts,
    receipt_lines,
    safe,
    text_argument,
    warnings,
    with_output,
)
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import RUNTIME, AgentFormat, AgentMerge
from recollect.domain.context_bundle import WindowOverview
from recollect.domain.sleeptime import (
    FREQUENCY,
    MAX_FREQUENCY,
    SleeptimeRun,
    sleeptime_frequency,
)
from recollect.text.bpe_tokenizer import has_tables
from recollect.text.token_counter import ESTIMATED, counter_for
from recollect.wire.requests.agents import CreateAgentRequest, UpdateAgentRequest


@click.group()
def agent() -> None:
    """Create, list, copy, merge and delete agents. AGENT is a name or an id."""


agent.add_command(approvals)


@agent.command()
@click.option("--name", required=True, help="The name, unique in the store.")
@request_options(CreateAgentRequest)
@click.option("--bare", is_flag=True, help="Without the default blocks.")
@with_new_store
def create(rec: LocalRecollect, *, name: str, bare: bool, **settings: Any) -> Output:
    """Create an agent with the default blocks."""
    created = rec.agents.create(name, default_blocks=not bare, **settings)

    def lines() -> Iterator[str]:
        labels = ", ".join(block.label for block in rec.blocks.list(created)) or "no blocks"
        yield f"Created agent {safe(created.name)} with {labels}: {created.id}"

    return Output(created, lines())


@agent.command("list")
@click.option("--pinned", type=click.Choice(["local", "global"]), help="Only agents pinned so.")
@click.option("--project", help="Leave out agents pinned to other projects.")
@with_store
def list_(rec: LocalRecollect, *, pinned: str | None, project: str | None) -> Output:
    """List the agents, pinned ones first."""
    agents = rec.agents.list(pinned=pinned, project=project)

    def lines() -> Iterator[str]:
        if not agents:
            yield "There are no agents yet; `recollect agent create --name NAME` creates one."
        for item in agents:
            pin = f" [yellow]pinned {item.pinned.value}[/yellow]" if item.pinned else ""
            model = f" · {safe(item.model)}" if item.model else ""
            yield f"[bold]{safe(item.name)}[/bold]{pin}  [dim]{item.id}{model}[/dim]"

    return Output(agents, lines())


@agent.command()
@agent_argument
@project_option
@with_store
def info(rec: LocalRecollect, *, agent: str, project: str | None) -> Output:
    """Print an agent, its blocks, skills, last conversations and the size of its context."""
    item = rec.agents.get(agent)
    blocks = rec.blocks.list(item, project=project)
    window = rec.agents.context_window(item, project=project)
    skills = [loaded.skill.name for loaded in rec.skills.loaded(item)]
    recent = rec.conversations.list(agent=item, limit=3)

    def lines() -> Iterator[str]:
        yield from _agent_lines(item)
        for block in blocks:
            size = f"{len(block.value)} of {block.limit}" if block.limit else str(len(block.value))
            kind = f"{block.scope}{', read-only' if block.read_only else ''}"
            yield f"  [bold]{safe(block.label)}[/bold] [dim]{kind}, {size} characters[/dim]"
        if skills:
            yield f"skills: {safe(', '.join(skills))}"
        for conversation in recent:
            title = safe(conversation.title or conversation.id)
            yield f"[dim]{conversation.started_at:%Y-%m-%d %H:%M} {title}[/dim]"
        used = f"window: {window.used} of {window.window_tokens} tokens"
        yield f"{used} [dim]({window.counted_by})[/dim]"
        yield from warnings([window.warning] if window.warning else [])

    parts = {"agent": item, "blocks": blocks, "window": window, "skills": skills}
    return Output({**parts, "conversations": recent}, lines())


@agent.command()
@agent_argument
@request_options(UpdateAgentRequest)
@with_store
def update(rec: LocalRecollect, *, agent: str, **changes: Any) -> Output:
    """Change an agent's name, model, description or system prompt."""
    if not changes:
        raise click.UsageError("nothing to change; use --name, --model, --description, …")
    return _agent_output(rec.agents.update(agent, **changes))


@agent.command()
@agent_argument
@click.option("--local", is_flag=True, help="Only in --project.")
@click.option("--off", is_flag=True, help="Remove the pin.")
@project_option
@with_store
def pin(rec: LocalRecollect, *, agent: str, local: bool, off: bool, project: str | None) -> Output:
    """Pin an agent, everywhere or in one project: pinned agents are listed first."""
    where = "" if off else "local" if local else "global"
    item = rec.agents.pin(agent, where, project=project)
    return Output(item, f"{safe(item.name)}: {item.pinned.value or 'not pinned'}")


@agent.command()
@agent_argument
@click.option(
    "--every",
    type=click.IntRange(0, MAX_FREQUENCY),
    help="Run after this many turns, and at the end of a conversation; 0: never.",
)
@click.option("--now", is_flag=True, help="Read the agent's last conversation now.")
@click.option("--undo", "undo_id", metavar="RUN", help="Take back what a run did.")
@with_store
def sleeptime(
    rec: LocalRecollect, *, agent: str, every: int | None, now: bool, undo_id: str | None
) -> Output:
    """
    Read conversations in the background and propose edits of memory; list what that did.

    Memories wait in the inbox or, if the policy allows it, become active; edits of shared blocks
    wait in the inbox as a diff. Nothing is deleted, and every run can be undone.
    """
    if every is not None:
        _set_frequency(rec, agent, every)
    if undo_id is not None:
        undone = rec.agents.undo_sleeptime(undo_id)
        return Output(undone, chain(_sleeptime_lines([undone]), warnings(undone.remaining)))
    if now:
        for conversation in rec.conversations.list(agent=agent, limit=1):
            rec.agents.sleep(conversation)
    runs = rec.agents.sleeptime_runs(agent)
    frequency = sleeptime_frequency(rec.agents.get(agent))
    when = f"after every {frequency} turns" if frequency else "off; --every N turns it on"
    return Output(
        {"frequency": frequency, "runs": runs},
        chain([f"sleeptime: {when}"], _sleeptime_lines(runs)),
    )


def _set_frequency(rec: LocalRecollect, agent: str, every: int) -> None:
    metadata = dict(rec.agents.get(agent).metadata)
    runtime = metadata.get(RUNTIME)
    metadata[RUNTIME] = {**(runtime if isinstance(runtime, dict) else {}), FREQUENCY: every}
    rec.agents.update(agent, metadata=metadata)


def _sleeptime_lines(runs: Sequence[SleeptimeRun]) -> Iterator[str]:
    for run in runs:
        proposed = sum(bool(edit.proposal_id) for edit in run.edits)
        applied = len(run.edits) - proposed
        yield (
            f"[bold]{run.requested_at:%Y-%m-%d %H:%M}[/bold] {run.state}: "
            f"{len(run.memory_ids)} memories, {applied} edits of blocks applied, {proposed} "
            "proposed "
            f"[dim]{safe(run.made_by)} {run.id}[/dim]"
        )
        if run.note:
            yield f"  [dim]{safe(run.note)}[/dim]"


@agent.command()
@agent_argument
@click.option("-o", "--output", required=True, help="The file to write (.gz compresses).")
@click.option(
    "--format",
    "file_format",
    type=click.Choice([choice.value for choice in AgentFormat]),
    help="recollect holds everything, af is Letta's format. Default: by the file's ending.",
)
@click.option(
    "--plain", is_flag=True, help="Write unencrypted files, although the store is encrypted."
)
@with_store
def export(
    rec: LocalRecollect, *, agent: str, output: str, file_format: str | None, plain: bool
) -> Output:
    """Write an agent to a file of Recollect or of Letta (.af)."""
    file_format = file_format or ("af" if output.endswith(".af") else "recollect")
    exported = rec.agents.export(agent, output, format=file_format, plain=plain)

    def lines() -> Iterator[str]:
        written = {name: count for name, count in exported.counts.items() if count}
        yield f"Wrote {safe(exported.path)}: {counts(written)}."
        yield from warnings(exported.notes)

    return Output(exported, lines())


@agent.command("import")
@click.argument("file")
@click.option("--name", help="The name of the new agent. Default: the name in the file.")
@click.option("--trust", is_flag=True, help="A large file, and with its git remotes: you know it.")
@with_new_store
def import_(rec: LocalRecollect, *, file: str, name: str | None, trust: bool) -> Output:
    """
    Create an agent from a file of Recollect or of Letta (.af), all or nothing.

    What the file says is redacted, and told to that agent only.
    """
    imported = rec.agents.import_(file, name, trust=trust)

    def lines() -> Iterator[str]:
        for item in (imported.agent, *imported.others):
            yield from _agent_lines(item)
        yield from (f"[red]{safe(conflict)}[/red]" for conflict in imported.conflicts)
        yield from warnings(imported.notes)

    return Output(imported, lines())


@agent.command()
@agent_argument
@click.option("--name", required=True, help="The name of the copy.")
@click.option("--conversations", is_flag=True, help="Copy the conversations too.")
@with_store
def clone(rec: LocalRecollect, *, agent: str, name: str, conversations: bool) -> Output:
    """Make an independent copy of an agent."""
    return _agent_output(rec.agents.clone(agent, name, conversations=conversations))


@agent.command()
@agent_argument
@click.option("--name", required=True, help="The name of the branch.")
@click.option("--at", help="Copy up to this message, by id. Default: everything.")
@with_store
def branch(rec: LocalRecollect, *, agent: str, name: str, at: str | None) -> Output:
    """Make a copy of an agent that can be merged back."""
    return _agent_output(rec.agents.branch(agent, name, at=at))


@agent.command()
@agent_argument
@click.argument("other", metavar="OTHER")
@click.option("--ours", multiple=True, metavar="LABEL", help="For this block, use AGENT's text.")
@click.option("--theirs", multiple=True, metavar="LABEL", help="For this block, use OTHER's text.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and change nothing.")
@with_store
def merge(
    rec: LocalRecollect,
    *,
    agent: str,
    other: str,
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    dry_run: bool,
) -> Output:
    """
    Merge what OTHER learned into AGENT.

    A block that both changed is a conflict and stays as it is, unless --ours or --theirs names it.
    """
    choices = dict.fromkeys(ours, "ours") | dict.fromkeys(theirs, "theirs")
    merged = rec.agents.merge(agent, other, take=choices or None, dry_run=dry_run)
    return Output(merged, _merge_lines(merged))


@agent.command()
@agent_argument
@yes_option
@with_store
def delete(rec: LocalRecollect, *, agent: str, yes: bool) -> Output:
    """Delete an agent and everything it owns, and print a receipt."""
    item = rec.agents.get(agent)
    ask(f"Delete agent {item.name!r} with its blocks, conversations and archive?", yes=yes)
    receipt = rec.agents.delete(item)
    return Output(receipt, receipt_lines("Deleted", receipt.removed, receipt.kept))


@agent.command()
@click.argument("name", metavar="AGENT", required=False)
@click.option("--agent", help="The agent, if it is not an argument.")
@project_option
@click.option("--conversation", help="With this conversation, by id.")
@click.option("--window", "window_tokens", type=int, help="The model's window, in tokens.")
@with_store
def window(rec: LocalRecollect, *, name: str | None, agent: str | None, **place: Any) -> Output:
    """Print how many tokens each section of an agent's context window uses."""
    if not (name or agent):
        raise click.UsageError("name an agent; `recollect agent list` shows them")
    overview = rec.agents.context_window(name or agent or "", **place)
    value = {"used": overview.used, "free": overview.free, "overview": overview}
    return Output(value, _window_lines(overview))


@agent.command()
@click.argument("text")
@click.option("--model", default="", help="The model whose tokens are counted: gpt-4o, …")
@with_output
def tokens(text: str, model: str) -> Output:
    """Count the tokens of TEXT. '-' reads standard input, @FILE reads a file."""
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            raise click.UsageError(f"cannot read {text[1:]!r}: {error}") from error
    else:
        text = text_argument(text)
    counter = counter_for(model)
    count = counter.count(text)
    value = {"tokens": count, "counted_by": counter.name, "exact": counter.exact}
    lines = [f"{count} tokens [dim]({counter.name})[/dim]"]
    return Output(value, lines if has_tables() else [*lines, f"[dim]{safe(ESTIMATED)}[/dim]"])


def _agent_output(item: Agent) -> Output:
    return Output(item, _agent_lines(item))


def _agent_lines(item: Agent) -> Iterator[str]:
    yield f"[bold]{safe(item.name)}[/bold]  [dim]{item.id}[/dim]"
    if item.description:
        yield safe(item.description)
    if item.model:
        yield f"[dim]model[/dim] {safe(item.model)}"


def _merge_lines(merged: AgentMerge) -> Iterator[str]:
    labels = safe(", ".join(merged.merged)) or "none"
    yield f"Merged blocks: {labels}; added passages: {merged.passages_added}."
    for conflict in merged.conflicts:
        label = safe(conflict.label)
        yield f"[red]Both changed {label}:[/red]"
        yield f"[dim]ours  [/dim] {safe(conflict.ours or '')}"
        yield f"[dim]theirs[/dim] {safe(conflict.theirs or '')}"
        yield f"[dim]choose with --ours {label} or --theirs {label}[/dim]"
    yield from warnings(merged.notes)


def _window_lines(overview: WindowOverview) -> Iterator[str]:
    for section in ("system", "blocks", "metadata", "summary", "messages", "tools", "files"):
        yield f"{section:>10} {getattr(overview, section):>8,}"
    total = f"of {overview.window_tokens:,} ({overview.counted_by})"
    yield f"{'free':>10} {overview.free:>8,} [dim]{total}[/dim]"
    yield from warnings([overview.warning] if overview.warning else [])
