"""The command `block`: edit the text that is always in an agent's context."""

from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import (
    agent_option,
    project_option,
    reason_option,
    with_new_store,
    with_store,
    yes_option,
)
from recollect.cli.output import Callback, Output, ask, safe, text_argument
from recollect.domain.block import DEFAULT_LIMIT, Block, authorship_note

_label_option = click.option("--label", required=True, help="The block's label.")


@click.group()
def block() -> None:
    """
    Edit blocks: labelled text that is always in an agent's context.

    A block is named by its id, or by --label and --agent (--project, --conversation). Every change
    is a new version; old versions stay in the history.
    """


def _block_options(command: Callback) -> Callback:
    """Give *command* the ways to name one block."""
    for option in (
        click.option("--conversation", help="The conversation of a session block, by id."),
        click.option("--project", help="The project of a project block."),
        click.option("--label", help="The block's label."),
        click.option("--agent", help="The agent that has it."),
        click.argument("block_id", metavar="[BLOCK]", required=False),
    ):
        command = option(command)
    return command


def _block_address(options: dict[str, Any]) -> tuple[str | None, str, dict[str, Any]]:
    """Remove from *options* what names a block; return its agent, label or id, and place."""
    block_id, agent, label = (options.pop(name) for name in ("block_id", "agent", "label"))
    place = {name: options.pop(name) for name in ("project", "conversation")}
    if block_id:
        return None, block_id, {}
    if not label or not (agent or any(place.values())):
        raise click.UsageError(
            "name a block by its id, or by --agent (--project, --conversation) and --label"
        )
    return agent, label, {name: value for name, value in place.items() if value}


@block.command()
@click.option("--agent", help="The agent it is for.")
@_label_option
@click.option("--description", default="", help="What it is for; the model sees it.")
@click.option("--value", "--content", "value", default="", help="The text ('-' reads input).")
@click.option("--limit", type=int, default=DEFAULT_LIMIT, show_default=True, help="Characters.")
@click.option("--read-only", is_flag=True, help="It cannot be edited.")
@click.option("--hidden", is_flag=True, help="It is not added to prompts.")
@click.option(
    "--scope",
    type=click.Choice(["global", "project", "agent"]),
    help="Who shares it. Default: agent, or project without --agent.",
)
@project_option
@with_new_store
def create(rec: LocalRecollect, *, label: str, value: str, **settings: Any) -> Output:
    """Create a block of an agent, of a project, or global."""
    created = rec.blocks.create(label, text_argument(value), **settings)
    return Output(created, f"Created block {safe(created.label)}, {created.scope}: {created.id}")


@block.command("list")
@click.option("--agent", help="Only blocks this agent sees.")
@project_option
@with_store
def list_(rec: LocalRecollect, *, agent: str | None, project: str | None) -> Output:
    """List the blocks an agent sees, or all blocks."""
    blocks = rec.blocks.list(agent, project=project)
    return Output(blocks, _block_lines(*blocks) if blocks else "There are no blocks here.")


@block.command()
@_block_options
@with_store
def show(rec: LocalRecollect, **options: Any) -> Output:
    """Print a block."""
    agent, label, place = _block_address(options)
    item = rec.blocks.get(agent, label, **place)
    return Output(item, _block_lines(item))


@block.command()
@_block_options
@click.option("--content", help="The whole new text ('-' reads standard input).")
@click.option("--append", help="Text to add at the end.")
@click.option("--replace", nargs=2, metavar="OLD NEW", help="Replace OLD, which occurs once.")
@click.option("--insert", help="Text to insert at --line.")
@click.option("--line", type=int, default=-1, help="Insert after this many lines; -1 is the end.")
@click.option("--expect", "expected_version", type=int, help="Only if this is its version.")
@click.option(
    "--author", metavar="AGENT", help="Edit as this agent: a shared block is not changed."
)
@reason_option
@with_store
def update(
    rec: LocalRecollect,
    *,
    content: str | None,
    append: str | None,
    replace: tuple[str, str] | None,
    insert: str | None,
    line: int,
    author: str | None,
    **options: Any,
) -> Output:
    """
    Edit the text of a block.

    With --author the edit is an agent's: of a shared block it is proposed, and waits in the inbox.
    """
    agent, label, place = _block_address(options)
    edit: dict[str, Any] = {**options, **place}
    if author is not None:
        edit |= {"by": "agent", "author": author}
    if sum(text is not None for text in (content, append, replace, insert)) != 1:
        raise click.UsageError("use one of --content, --append, --replace, --insert")
    if content is not None:
        item = rec.blocks.set(agent, label, text_argument(content), **edit)
    elif append is not None:
        item = rec.blocks.append(agent, label, append, **edit)
    elif replace is not None:
        item = rec.blocks.replace(agent, label, *replace, **edit)
    else:
        item = rec.blocks.insert(agent, label, insert or "", line, **edit)
    if item.proposal_id:
        return Output(item, f"Proposed, see `recollect inbox`: {item.proposal_id}")
    return Output(item, f"Block {safe(item.label)} is at version {item.version}.")


@block.command()
@_block_options
@click.option("--new-label", help="Another label.")
@click.option("--description", help="Another description.")
@click.option("--limit", type=int, help="Another limit, in characters.")
@click.option("--read-only/--writable", default=None, help="Whether it can be edited.")
@click.option("--hidden/--shown", default=None, help="Whether it is left out of prompts.")
@with_store
def settings(rec: LocalRecollect, **options: Any) -> Output:
    """Change a block's label, description, limit, or who can edit it."""
    agent, label, place = _block_address(options)
    changes = {name: value for name, value in options.items() if value is not None}
    item = rec.blocks.update(agent, label, **changes, **place)
    return Output(item, _block_lines(item))


@block.command()
@_block_options
@with_store
def history(rec: LocalRecollect, **options: Any) -> Output:
    """Print every version of a block: its text, who changed it, when and why."""
    agent, label, place = _block_address(options)
    versions = rec.blocks.history(agent, label, **place)

    def lines() -> Iterator[str]:
        for item in versions:
            reason = f": {safe(item.reason)}" if item.reason else ""
            change = f"{item.changed_at:%Y-%m-%d %H:%M} {item.by}{reason}"
            yield f"[bold]{item.version}[/bold] [dim]{change}[/dim]"
            yield safe(item.value) or "[dim](empty)[/dim]"

    return Output(versions, lines())


@block.command()
@_block_options
@click.option("--from", "older", type=int, required=True, help="The older version.")
@click.option("--to", "newer", type=int, help="The newer version. Default: the current one.")
@with_store
def diff(rec: LocalRecollect, *, older: int, newer: int | None, **options: Any) -> Output:
    """Print what changed between two versions of a block."""
    agent, label, place = _block_address(options)
    text = rec.blocks.diff(agent, label, older, newer, **place)
    return Output({"diff": text}, safe(text) or "The versions are equal.")


@block.command()
@_block_options
@click.option("--to", "version", type=int, required=True, help="The version to restore.")
@reason_option
@with_store
def rollback(rec: LocalRecollect, *, version: int, reason: str, **options: Any) -> Output:
    """Restore the text of an earlier version, as a new version."""
    agent, label, place = _block_address(options)
    item = rec.blocks.rollback(agent, label, version, reason=reason, **place)
    text = f"Block {safe(item.label)} is at version {item.version}, the text of version {version}."
    return Output(item, text)


@block.command()
@_block_options
@reason_option
@with_store
def confirm(rec: LocalRecollect, *, reason: str, **options: Any) -> Output:
    """Confirm the text of a block that an agent wrote; it is no longer marked."""
    agent, label, place = _block_address(options)
    item = rec.blocks.confirm(agent, label, reason=reason, **place)
    return Output(item, f"Block {safe(item.label)} is confirmed, at version {item.version}.")


@block.command()
@click.argument("block_id", metavar="BLOCK")
@agent_option
@with_store
def attach(rec: LocalRecollect, *, block_id: str, agent: str) -> Output:
    """Share a global block with an agent."""
    item = rec.blocks.attach(agent, block_id)
    return Output(item, f"Attached block {safe(item.label)} to {safe(agent)}.")


@block.command()
@agent_option
@_label_option
@with_store
def detach(rec: LocalRecollect, *, agent: str, label: str) -> Output:
    """Detach a shared block from an agent; the block is not deleted."""
    item = rec.blocks.detach(agent, label)
    return Output(item, f"Detached block {safe(item.label)} from {safe(agent)}.")


@block.command()
@_block_options
@yes_option
@with_store
def delete(rec: LocalRecollect, *, yes: bool, **options: Any) -> Output:
    """Delete a block with its history, for every agent that has it."""
    agent, label, place = _block_address(options)
    item = rec.blocks.get(agent, label, **place)
    ask(f"Delete the block {item.label!r} for good?", yes=yes)
    rec.blocks.delete(None, item)
    return Output(item, f"Deleted block {safe(item.label)}.")


def _block_lines(*blocks: Block) -> Iterator[str]:
    for item in blocks:
        size = f"{len(item.value)} of {item.limit}" if item.limit else str(len(item.value))
        marks = [item.scope.value, f"version {item.version}", f"{size} characters"]
        marks += ["read-only"] if item.read_only else []
        marks += ["hidden"] if item.hidden else []
        marks += [safe(note)] if (note := authorship_note(item)) else []
        yield f"[bold]{safe(item.label)}[/bold]  [dim]{', '.join(marks)} · {item.id}[/dim]"
        if item.description:
            yield f"[dim]{safe(item.description)}[/dim]"
        yield safe(item.value) or "[dim](empty)[/dim]"
