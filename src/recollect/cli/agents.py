"""Commands about agents: create, list, info, update, pin, delete, and moving them around."""

from collections.abc import Sequence
from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, given_filters, store_options
from recollect.cli.render import print_json, print_receipt, say, shown
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import AgentFormat


@click.group()
def agent() -> None:
    """
    Agents: who remembers. An agent is named by its name or its id.

    \b
    Examples:
      recollect agent create --name coder --model claude-sonnet-4
      recollect agent list
      recollect agent info coder
      recollect agent export coder --output coder.json
      recollect agent import coder.json --name coder-2
    """


@agent.command()
@click.option("--name", required=True, help="Its name, unique in the store.")
@click.option("--model", default="", help="The language model it runs on.")
@click.option("--description", default="", help="What it is for.")
@click.option("--system-prompt", default="", help="Its instructions.")
@click.option("--bare", is_flag=True, help="Without the blocks every agent starts with.")
@creating_store_options
def create(memory: LocalRecollect, *, as_json: bool, name: str, bare: bool, **given: Any) -> None:
    """Make an agent with the blocks every agent starts with."""
    made = memory.agents.create(name, default_blocks=not bare, **given)
    if as_json:
        print_json(made)
    else:
        labels = ", ".join(block.label for block in memory.blocks.list(made)) or "no blocks"
        say(f"Made agent {shown(made.name)} with {labels}: {made.id}")


@agent.command("list")
@click.option("--pinned", type=click.Choice(["local", "global"]), help="Only those pinned so.")
@click.option("--project", help="Leave out those pinned to other projects.")
@store_options
def list_(memory: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """List the agents, pinned ones first."""
    found = memory.agents.list(**given_filters(given))
    if as_json:
        print_json(found)
        return
    if not found:
        say("There are no agents yet; `recollect agent create --name NAME` makes one.")
    for one in found:
        pin = f" [yellow]pinned {one.pinned.value}[/yellow]" if one.pinned else ""
        model = f" · {shown(one.model)}" if one.model else ""
        say(f"[bold]{shown(one.name)}[/bold]{pin}  [dim]{one.id}{model}[/dim]")


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--project", help="With the blocks and the window in this project.")
@store_options
def info(memory: LocalRecollect, *, as_json: bool, name: str, project: str | None) -> None:
    """Print what an agent is, its blocks, and what fills its context window."""
    found = memory.agents.get(name)
    blocks = memory.blocks.list(found, project=project)
    window = memory.agents.context_window(found, project=project)
    skills = [one.skill.name for one in memory.skills.loaded(found)]
    talks = memory.conversations.list(agent=found, limit=3)
    if as_json:
        told = {"agent": found, "blocks": blocks, "window": window, "skills": skills}
        print_json({**told, "conversations": talks})
        return
    _print_agent(found)
    for block in blocks:
        size = f"{len(block.value)} of {block.limit}" if block.limit else str(len(block.value))
        marks = f"{block.scope}{', read-only' if block.read_only else ''}"
        say(f"  [bold]{shown(block.label)}[/bold] [dim]{marks}, {size} characters[/dim]")
    if skills:
        say(f"skills: {shown(', '.join(skills))}")
    for talk in talks:
        say(f"[dim]{talk.started_at:%Y-%m-%d %H:%M} {shown(talk.title or talk.id)}[/dim]")
    say(f"window: {window.used} of {window.window_tokens} tokens [dim]({window.counted_by})[/dim]")
    if window.warning:
        say(f"[yellow]{window.warning}[/yellow]")


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--name", "new_name", help="Another name.")
@click.option("--model", help="Another model.")
@click.option("--description", help="Another description.")
@click.option("--system-prompt", help="Other instructions.")
@store_options
def update(
    memory: LocalRecollect, *, as_json: bool, name: str, new_name: str | None, **given: Any
) -> None:
    """
    Change an agent.

    \b
    Example:
      recollect agent update coder --description "Writes and reviews code."
    """
    changes = given_filters({"name": new_name, **given})
    if not changes:
        raise click.UsageError("nothing to change: give --name, --model, --description, …")
    kept = memory.agents.update(name, **changes)
    print_json(kept) if as_json else _print_agent(kept)


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--local", is_flag=True, help="Only in the project given.")
@click.option("--off", is_flag=True, help="No longer.")
@click.option("--project", help="The project of a local pin.")
@store_options
def pin(
    memory: LocalRecollect, *, as_json: bool, name: str, local: bool, off: bool, project: str | None
) -> None:
    """
    Keep an agent at hand: everywhere, or in one project.

    \b
    Example:
      recollect agent pin coder --local --project site
    """
    kept = memory.agents.pin(name, "" if off else "local" if local else "global", project=project)
    print_json(kept) if as_json else say(f"{shown(kept.name)}: {kept.pinned.value or 'not pinned'}")


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("-o", "--output", required=True, help="The file to write (.gz compresses).")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in AgentFormat]),
    help="Ours, which carries everything, or Letta's. Default: by the file's ending.",
)
@store_options
def export(memory: LocalRecollect, *, as_json: bool, name: str, output: str, form: str | None) -> None:
    """
    Write an agent to a file, whole, or as Letta's .af.

    \b
    Example:
      recollect agent export coder --output coder.af
    """
    chosen = form or ("af" if output.endswith(".af") else "recollect")
    done = memory.agents.export(name, output, format=chosen)
    if as_json:
        print_json(done)
        return
    counts = ", ".join(f"{count} {what}" for what, count in done.counts.items() if count)
    say(f"Wrote {shown(str(done.path))}: {counts}.")
    _print_notes(done.notes)


@agent.command("import")
@click.argument("file")
@click.option("--name", help="Another name for it here.")
@creating_store_options
def import_(memory: LocalRecollect, *, as_json: bool, file: str, name: str | None) -> None:
    """
    Make an agent from a file of ours or of Letta (.af), all or nothing.

    \b
    Example:
      recollect agent import coder.af --name coder-3
    """
    done = memory.agents.import_(file, name)
    if as_json:
        print_json(done)
        return
    for made in (done.agent, *done.others):
        _print_agent(made)
    for conflict in done.conflicts:
        say(f"[red]{shown(conflict)}[/red]")
    _print_notes(done.notes)


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--name", "new_name", required=True, help="The copy's name.")
@click.option("--conversations", is_flag=True, help="With everything that was said.")
@store_options
def clone(
    memory: LocalRecollect, *, as_json: bool, name: str, new_name: str, conversations: bool
) -> None:
    """
    Make an independent copy of an agent.

    \b
    Example:
      recollect agent clone coder --name reviewer
    """
    made = memory.agents.clone(name, new_name, conversations=conversations)
    print_json(made) if as_json else _print_agent(made)


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--name", "new_name", required=True, help="The branch's name.")
@click.option("--at", help="Up to this message, by id. Default: everything.")
@store_options
def branch(memory: LocalRecollect, *, as_json: bool, name: str, new_name: str, at: str | None) -> None:
    """
    Make a copy that remembers where it left, so that it can be merged back.

    \b
    Example:
      recollect agent branch coder --name experiment
    """
    made = memory.agents.branch(name, new_name, at=at)
    print_json(made) if as_json else _print_agent(made)


@agent.command()
@click.argument("into", metavar="AGENT")
@click.argument("other", metavar="OTHER")
@click.option("--ours", multiple=True, metavar="LABEL", help="For this block take AGENT's text.")
@click.option("--theirs", multiple=True, metavar="LABEL", help="For this block take OTHER's text.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@store_options
def merge(
    memory: LocalRecollect,
    *,
    as_json: bool,
    into: str,
    other: str,
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    dry_run: bool,
) -> None:
    """
    Bring what OTHER learnt into AGENT; what both changed is shown, and left to you.

    \b
    Example:
      recollect agent merge coder experiment --dry-run
    """
    take = dict.fromkeys(ours, "ours") | dict.fromkeys(theirs, "theirs")
    done = memory.agents.merge(into, other, take=take or None, dry_run=dry_run)
    if as_json:
        print_json(done)
        return
    say(
        f"Blocks taken: {shown(', '.join(done.merged)) or 'none'}; passages: {done.passages_added}."
    )
    for one in done.conflicts:
        say(f"[red]Both changed {shown(one.label)}:[/red]")
        say(f"[dim]ours  [/dim] {shown(one.ours or '')}")
        say(f"[dim]theirs[/dim] {shown(one.theirs or '')}")
        say(f"[dim]take one with --ours {shown(one.label)} or --theirs {shown(one.label)}[/dim]")
    _print_notes(done.notes)


@agent.command()
@click.argument("name", metavar="AGENT")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_options
def delete(memory: LocalRecollect, *, as_json: bool, name: str, yes: bool) -> None:
    """
    Delete an agent with everything of its own, and print a receipt.

    \b
    Example:
      recollect agent delete experiment --yes
    """
    found = memory.agents.get(name)
    if not yes:
        question = f"Delete agent {found.name!r} with its blocks, conversations and archive?"
        click.confirm(question, abort=True, err=as_json)
    receipt = memory.agents.delete(found)
    if as_json:
        print_json(receipt)
        return
    print_receipt("Deleted", receipt.removed, receipt.kept)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        say(f"[yellow]{shown(note)}[/yellow]")


def _print_agent(found: Agent) -> None:
    say(f"[bold]{shown(found.name)}[/bold]  [dim]{found.id}[/dim]")
    if found.description:
        say(shown(found.description))
    if found.model:
        say(f"[dim]model[/dim] {shown(found.model)}")
