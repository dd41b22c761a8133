"""Commands about blocks, under the seed's name for them: memory."""

from collections.abc import Callable
from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, store_options
from recollect.cli.render import print_json, say, shown, standard_input
from recollect.domain.block import DEFAULT_LIMIT, Block

Command = Callable[..., Any]


@click.group()
def memory() -> None:
    """
    Blocks: labelled text that is always in an agent's context.

    A block is named by its id, or by --agent and --label.

    \b
    Examples:
      recollect memory create --agent coder --label goals --description "What it works towards"
      recollect memory update --agent coder --label persona --content "I answer in short sentences."
      recollect memory list --agent coder
      recollect memory history --agent coder --label persona
    """


def _which(command: Command) -> Command:
    """Give *command* the ways to name one block."""
    for option in (
        click.option("--conversation", help="The conversation, for one of session scope, by id."),
        click.option("--project", help="The project, for a block of project scope."),
        click.option("--label", help="The block's label."),
        click.option("--agent", help="The agent that has it."),
        click.argument("block_id", metavar="[BLOCK]", required=False),
    ):
        command = option(command)
    return command


def _target(given: dict[str, Any]) -> tuple[str | None, str, dict[str, Any]]:
    """Return agent, label or id, and where, out of the options."""
    block_id, agent, label = (given.pop(name) for name in ("block_id", "agent", "label"))
    where = {name: given.pop(name) for name in ("project", "conversation")}
    if block_id:
        return None, block_id, {}
    if not label or not (agent or any(where.values())):
        raise click.UsageError(
            "name a block by its id, or by --agent (--project, --conversation) and --label"
        )
    return agent, label, {name: value for name, value in where.items() if value}


@memory.command()
@click.option("--agent", help="The agent it is for.")
@click.option("--label", required=True, help="Its label, one of a kind for the agent.")
@click.option("--description", default="", help="What it is for; the model sees it.")
@click.option("--value", "--content", "value", default="", help="What it says ('-' reads input).")
@click.option("--limit", type=int, default=DEFAULT_LIMIT, show_default=True, help="Characters.")
@click.option("--read-only", is_flag=True, help="It cannot be edited.")
@click.option("--hidden", is_flag=True, help="It stays out of prompts.")
@click.option(
    "--scope",
    type=click.Choice(["global", "project", "agent"]),
    help="Whose it is. Default: the agent's, or the project's.",
)
@click.option("--project", help="The project, for project scope.")
@creating_store_options
def create(recollect: LocalRecollect, *, as_json: bool, label: str, value: str, **given: Any) -> None:
    """Make a block of an agent, a project, or everybody."""
    text = standard_input() if value == "-" else value
    made = recollect.blocks.create(label, text, **given)
    if as_json:
        print_json(made)
    else:
        say(f"Made block {shown(made.label)} of {made.scope} scope: {made.id}")


@memory.command("list")
@click.option("--agent", help="Those this agent sees.")
@click.option("--project", help="In this project.")
@store_options
def list_(recollect: LocalRecollect, *, as_json: bool, agent: str | None, project: str | None) -> None:
    """List the blocks an agent sees, or all."""
    found = recollect.blocks.list(agent, project=project)
    if as_json:
        print_json(found)
        return
    if not found:
        say("There are no blocks here.")
    for block in found:
        _print_block(block)


@memory.command()
@_which
@store_options
def show(recollect: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """
    Print one block.

    \b
    Example:
      recollect memory show --agent coder --label persona
    """
    agent, label, where = _target(given)
    found = recollect.blocks.get(agent, label, **where)
    print_json(found) if as_json else _print_block(found)


@memory.command()
@_which
@click.option("--content", help="The whole new text ('-' reads standard input).")
@click.option("--append", help="Text to add at the end.")
@click.option("--replace", nargs=2, metavar="OLD NEW", help="Replace OLD, which occurs once.")
@click.option("--insert", help="Text to insert at --line.")
@click.option("--line", type=int, default=-1, help="After how many lines; -1 is the end.")
@click.option("--expect", "expected_version", type=int, help="Only if it is at this version.")
@click.option("--reason", default="", help="Why, for the history.")
@store_options
def update(
    recollect: LocalRecollect,
    *,
    as_json: bool,
    content: str | None,
    append: str | None,
    replace: tuple[str, str] | None,
    insert: str | None,
    line: int,
    expected_version: int | None,
    reason: str,
    **given: Any,
) -> None:
    """
    Edit a block's text; every value stays in its history.

    \b
    Examples:
      recollect memory update --agent coder --label persona --append "I write tests first."
      recollect memory update --agent coder --label persona --replace "short" "plain"
    """
    agent, label, where = _target(given)
    how: dict[str, Any] = {"expected_version": expected_version, "reason": reason, **where}
    chosen = [one for one in (content, append, replace, insert) if one is not None]
    if len(chosen) != 1:
        raise click.UsageError("give one of --content, --append, --replace, --insert")
    if content is not None:
        text = standard_input() if content == "-" else content
        kept = recollect.blocks.set(agent, label, text, **how)
    elif append is not None:
        kept = recollect.blocks.append(agent, label, append, **how)
    elif replace is not None:
        kept = recollect.blocks.replace(agent, label, *replace, **how)
    else:
        kept = recollect.blocks.insert(agent, label, insert or "", line, **how)
    if as_json:
        print_json(kept)
    else:
        say(f"Block {shown(kept.label)} is at version {kept.version}.")


@memory.command()
@_which
@click.option("--new-label", help="Another label.")
@click.option("--description", help="Another description.")
@click.option("--limit", type=int, help="Another limit, in characters.")
@click.option("--read-only/--writable", default=None, help="Whether it can be edited.")
@click.option("--hidden/--shown", default=None, help="Whether it stays out of prompts.")
@store_options
def settings(recollect: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """
    Change how a block is called, how long it may be, who may edit it.

    \b
    Example:
      recollect memory settings --agent coder --label goals --limit 5000
    """
    agent, label, where = _target(given)
    changes = {name: value for name, value in given.items() if value is not None}
    kept = recollect.blocks.update(agent, label, **changes, **where)
    print_json(kept) if as_json else _print_block(kept)


@memory.command()
@_which
@store_options
def history(recollect: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """Print every value a block has had: who set it, when, why."""
    agent, label, where = _target(given)
    found = recollect.blocks.history(agent, label, **where)
    if as_json:
        print_json(found)
        return
    for one in found:
        why = f": {shown(one.reason)}" if one.reason else ""
        say(f"[bold]{one.version}[/bold] [dim]{one.changed_at:%Y-%m-%d %H:%M} {one.by}{why}[/dim]")
        say(shown(one.value) or "[dim](empty)[/dim]")


@memory.command()
@_which
@click.option("--from", "older", type=int, required=True, help="The older version.")
@click.option("--to", "newer", type=int, help="The newer version. Default: today's.")
@store_options
def diff(
    recollect: LocalRecollect, *, as_json: bool, older: int, newer: int | None, **given: Any
) -> None:
    """
    Print what changed between two versions of a block.

    \b
    Example:
      recollect memory diff --agent coder --label persona --from 1
    """
    agent, label, where = _target(given)
    text = recollect.blocks.diff(agent, label, older, newer, **where)
    print_json({"diff": text}) if as_json else say(shown(text) or "They say the same.")


@memory.command()
@_which
@click.option("--to", "version", type=int, required=True, help="The version to go back to.")
@click.option("--reason", default="", help="Why, for the history.")
@store_options
def rollback(
    recollect: LocalRecollect, *, as_json: bool, version: int, reason: str, **given: Any
) -> None:
    """
    Give a block the value it had at a version; that is a new version itself.

    \b
    Example:
      recollect memory rollback --agent coder --label persona --to 2
    """
    agent, label, where = _target(given)
    kept = recollect.blocks.rollback(agent, label, version, reason=reason, **where)
    if as_json:
        print_json(kept)
    else:
        say(f"Block {shown(kept.label)} is at version {kept.version} and says what {version} said.")


@memory.command()
@click.argument("block_id", metavar="BLOCK")
@click.option("--agent", required=True, help="The agent that is to have it.")
@store_options
def attach(recollect: LocalRecollect, *, as_json: bool, block_id: str, agent: str) -> None:
    """Share a global block with an agent."""
    kept = recollect.blocks.attach(agent, block_id)
    print_json(kept) if as_json else say(f"{shown(agent)} has the block {shown(kept.label)} now.")


@memory.command()
@click.option("--agent", required=True, help="The agent that has it.")
@click.option("--label", required=True, help="The block's label.")
@store_options
def detach(recollect: LocalRecollect, *, as_json: bool, agent: str, label: str) -> None:
    """
    Take a shared block from an agent; the block stays.

    \b
    Example:
      recollect memory detach --agent coder --label style
    """
    kept = recollect.blocks.detach(agent, label)
    print_json(kept) if as_json else say(f"{shown(agent)} no longer has {shown(kept.label)}.")


@memory.command()
@_which
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_options
def delete(recollect: LocalRecollect, *, as_json: bool, yes: bool, **given: Any) -> None:
    """
    Remove a block with its history, for every agent that has it.

    \b
    Example:
      recollect memory delete --agent coder --label goals --yes
    """
    agent, label, where = _target(given)
    found = recollect.blocks.get(agent, label, **where)
    if not yes:
        click.confirm(f"Delete the block {found.label!r} for good?", abort=True, err=as_json)
    recollect.blocks.delete(None, found)
    print_json(found) if as_json else say(f"Deleted the block {shown(found.label)}.")


def _print_block(block: Block) -> None:
    size = f"{len(block.value)} of {block.limit}" if block.limit else str(len(block.value))
    marks = [block.scope.value, f"version {block.version}", f"{size} characters"]
    marks += ["read-only"] if block.read_only else []
    marks += ["hidden"] if block.hidden else []
    say(f"[bold]{shown(block.label)}[/bold]  [dim]{', '.join(marks)} · {block.id}[/dim]")
    if block.description:
        say(f"[dim]{shown(block.description)}[/dim]")
    say(shown(block.value) or "[dim](empty)[/dim]")
