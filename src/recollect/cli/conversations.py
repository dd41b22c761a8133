"""Commands about what was said: conversations, messages, pins, compaction, the archive."""

import json
from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, given_filters, store_options
from recollect.cli.render import (
    print_hits,
    print_json,
    print_memory,
    print_receipt,
    say,
    shown,
    standard_input,
)
from recollect.domain.conversation import CompactionMode, Conversation, Message, Role


@click.group()
def conversation() -> None:
    """
    Conversations: what was said, for ever. CONVERSATION is an id, or 'last' with --agent.

    \b
    Examples:
      recollect conversation start --agent coder --project site --title "Billing"
      recollect conversation append last --agent coder user "We use PostgreSQL for billing."
      recollect conversation show last --agent coder
    """


def _agent_option(command: Any) -> Any:
    return click.option("--agent", help="The agent, where CONVERSATION is 'last'.")(command)


def _known(memory: LocalRecollect, written: str, agent: str | None) -> Conversation:
    if written != "last":
        return memory.conversations.get(written)
    if agent is None:
        raise click.UsageError("'last' needs --agent: the last conversation of whom?")
    found = memory.conversations.list(agent=agent, limit=1)
    if not found:
        raise click.UsageError(f"agent {agent} has had no conversation yet")
    return found[0]


@conversation.command()
@click.option("--agent", help="Whose conversation it is; made if there is none of that name.")
@click.option("--project", help="The project, by name, remote or path ('.' is here).")
@click.option("--title", default="", help="What it is about.")
@creating_store_options
def start(memory: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """Begin a conversation."""
    begun = memory.conversations.start(**given)
    print_json(begun) if as_json else say(f"Begun: {begun.id}")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.argument("role", type=click.Choice([role.value for role in Role]))
@click.argument("content")
@click.option("--name", default="", help="Who speaks, by name.")
@click.option("--created-at", help="When it was said (2026-05-08T13:56). Default: now.")
@_agent_option
@store_options
def append(
    memory: LocalRecollect,
    *,
    as_json: bool,
    which: str,
    role: str,
    content: str,
    agent: str | None,
    **given: Any,
) -> None:
    """Add a message ('-' reads standard input)."""
    text = standard_input() if content == "-" else content
    added = memory.conversations.append(_known(memory, which, agent), role, text, **given)
    print_json(added) if as_json else say(f"Message {added.position}, {added.tokens} tokens.")


@conversation.command("import")
@click.argument("which", metavar="CONVERSATION")
@click.argument("file", type=click.File("rb"))
@_agent_option
@store_options
def import_(memory: LocalRecollect, *, as_json: bool, which: str, file: Any, agent: str | None) -> None:
    """
    Add messages from a JSON list of {role, content, …}, all or none ('-' is input).

    \b
    Example:
      recollect conversation import last - --agent coder <<< '[{"role": "user", "content": "Hi"}]'
    """
    try:
        messages = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"this is no JSON that can be read: {error}") from error
    if not isinstance(messages, list):
        raise click.UsageError("a list of messages is expected: [{role, content, …}, …]")
    added = memory.conversations.append_many(_known(memory, which, agent), messages)
    print_json(added) if as_json else say(f"Added {len(added)} messages.")


@conversation.command("list")
@click.option("--agent", help="Of this agent.")
@click.option("--project", help="In this project.")
@click.option("-n", "--limit", default=20, show_default=True, help="How many at most.")
@store_options
def list_(memory: LocalRecollect, *, as_json: bool, **given: Any) -> None:
    """
    List conversations, the latest first.

    \b
    Example:
      recollect conversation list --agent coder
    """
    found = memory.conversations.list(**given_filters(given))
    if as_json:
        print_json(found)
        return
    for one in found:
        ended = f"–{one.ended_at:%H:%M}" if one.ended_at else ""
        when = f"{one.started_at:%Y-%m-%d %H:%M}{ended}"
        say(f"[bold]{when}[/bold] {shown(one.title)} [dim]{one.id}[/dim]")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.option("--start", default=0, help="From this position on.")
@click.option("-n", "--limit", default=50, show_default=True, help="How many at most.")
@_agent_option
@store_options
def show(
    memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None, start: int, limit: int
) -> None:
    """Print the messages of a conversation, a page at a time."""
    found = memory.conversations.messages(_known(memory, which, agent), start=start, limit=limit)
    if as_json:
        print_json(found)
        return
    for message in found:
        _print_message(message)
    if len(found) == limit:
        say(f"[dim]more: --start {found[-1].position + 1}[/dim]")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@_agent_option
@store_options
def end(memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None) -> None:
    """
    End a conversation.

    \b
    Example:
      recollect conversation end last --agent coder
    """
    ended = memory.conversations.end(_known(memory, which, agent))
    print_json(ended) if as_json else say(f"Ended: {ended.id}")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@_agent_option
@store_options
def resume(memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None) -> None:
    """
    Open an ended conversation again.

    \b
    Example:
      recollect conversation resume last --agent coder
    """
    found = memory.conversations.resume(_known(memory, which, agent))
    print_json(found) if as_json else say(f"Goes on: {found.id}")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.argument("title")
@_agent_option
@store_options
def rename(memory: LocalRecollect, *, as_json: bool, which: str, title: str, agent: str | None) -> None:
    """
    Give a conversation another title.

    \b
    Example:
      recollect conversation rename last "Billing and invoices" --agent coder
    """
    found = memory.conversations.rename(_known(memory, which, agent), title)
    print_json(found) if as_json else say(shown(found.title))


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@_agent_option
@store_options
def summaries(memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None) -> None:
    """
    Print the summaries of a conversation, oldest first.

    \b
    Example:
      recollect conversation summaries last --agent coder
    """
    found = memory.conversations.summaries(_known(memory, which, agent))
    if as_json:
        print_json(found)
        return
    if not found:
        say("Nothing was summed up yet.")
    for one in found:
        span = f"messages {one.first_position} to {one.last_position}"
        say(f"[bold]{one.created_at:%Y-%m-%d %H:%M}[/bold] [dim]{span}, {one.made_by}[/dim]")
        say(shown(one.content))


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@_agent_option
@store_options
def pins(memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None) -> None:
    """
    List what is pinned to a conversation.

    \b
    Example:
      recollect conversation pins last --agent coder
    """
    found = memory.conversations.pins(_known(memory, which, agent))
    if as_json:
        print_json(found)
        return
    for one in found:
        off = "" if one.active else " [yellow]no longer[/yellow]"
        say(f"[bold]{shown(one.kind)}[/bold]{off} {shown(one.content)} [dim]{one.id}[/dim]")


@conversation.command()
@click.argument("pin_id", metavar="PIN")
@store_options
def unpin(memory: LocalRecollect, *, as_json: bool, pin_id: str) -> None:
    """Take a pin out of context, by its id."""
    gone = memory.conversations.unpin(pin_id)
    print_json(gone) if as_json else say(f"No longer pinned: {shown(gone.content)}")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.argument("content")
@click.option("--kind", default="note", show_default=True, help="ticket, debug, decision, …")
@_agent_option
@store_options
def pin(
    memory: LocalRecollect, *, as_json: bool, which: str, content: str, kind: str, agent: str | None
) -> None:
    """
    Fix a ticket, a debug note or a decision to a conversation.

    \b
    Example:
      recollect conversation pin last "BILL-12: invoices are doubled" --kind ticket --agent coder
    """
    made = memory.conversations.pin(_known(memory, which, agent), content, kind=kind)
    print_json(made) if as_json else say(f"Pinned: {made.id}")


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in CompactionMode]),
    default=CompactionMode.SLIDING_WINDOW.value,
    show_default=True,
    help="Take out all that may go, or the oldest until the target is met.",
)
@click.option("--window", "window_tokens", type=int, help="The model's window, in tokens.")
@click.option("--keep-last", default=10, show_default=True, help="Messages that always stay.")
@click.option("--force", is_flag=True, help="Even if the window is not full.")
@_agent_option
@store_options
def compact(
    memory: LocalRecollect, *, as_json: bool, which: str, agent: str | None, **given: Any
) -> None:
    """
    Let a summary stand for older messages; they stay searchable.

    \b
    Example:
      recollect conversation compact last --agent coder --mode all --keep-last 0 --force
    """
    done = memory.conversations.compact(_known(memory, which, agent), **given_filters(given))
    if as_json:
        print_json(done)
    elif done is None:
        say("Nothing to compact: the window is not full, or nothing in it may leave.")
    else:
        say(f"{done.evicted} messages are stood for by a summary of {done.summary.tokens} tokens:")
        say(shown(done.summary.content))


@conversation.command()
@click.argument("which", metavar="CONVERSATION")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_agent_option
@store_options
def delete(memory: LocalRecollect, *, as_json: bool, which: str, yes: bool, agent: str | None) -> None:
    """
    Remove a conversation with all that was said in it.

    \b
    Example:
      recollect conversation delete last --agent coder --yes
    """
    found = _known(memory, which, agent)
    if not yes:
        click.confirm(f"Delete conversation {found.id} for good?", abort=True, err=as_json)
    receipt = memory.conversations.delete(found)
    if as_json:
        print_json(receipt)
    else:
        print_receipt("Deleted", receipt.removed, receipt.kept)


@click.group()
def archive() -> None:
    """
    The archive: passages an agent keeps for itself.

    \b
    Examples:
      recollect archive insert "The staging server is called walnut." --agent coder --tag infra
      recollect archive search "staging server" --agent coder --tag infra
    """


@archive.command()
@click.argument("content")
@click.option("--agent", required=True, help="Whose archive.")
@click.option("--tag", "tags", multiple=True, help="A label. May be repeated.")
@click.option("--title", default="", help="A short title.")
@store_options
def insert(memory: LocalRecollect, *, as_json: bool, content: str, agent: str, **given: Any) -> None:
    """Keep a passage ('-' reads standard input)."""
    text = standard_input() if content == "-" else content
    kept = memory.archive.insert(agent, text, **given)
    print_json(kept) if as_json else print_memory(kept)


@archive.command()
@click.argument("query", default="")
@click.option("--agent", required=True, help="Whose archive.")
@click.option("--tag", "tags", multiple=True, help="With this tag. May be repeated.")
@click.option("--all-tags", is_flag=True, help="With all of the tags, not any.")
@click.option("--since", help="Only what was observed since then (2026-05-08).")
@click.option("--until", help="Only what was observed until then.")
@click.option("-n", "--limit", default=10, show_default=True, help="How many at most.")
@store_options
def search(
    memory: LocalRecollect, *, as_json: bool, query: str, agent: str, all_tags: bool, **given: Any
) -> None:
    """Find passages by words, meaning, tags and time; the newest without a QUERY."""
    how = given_filters(given)
    hits = memory.archive.search(agent, query, tag_match="all" if all_tags else "any", **how)
    print_json(hits) if as_json else print_hits(hits)


def _print_message(message: Message) -> None:
    marks = f"{'pinned, ' if message.pinned else ''}{'summed up, ' if message.summary_id else ''}"
    say(
        f"[bold]{message.position} {message.role}[/bold] "
        f"[dim]{message.created_at:%Y-%m-%d %H:%M}, {marks}{message.tokens} tokens[/dim]"
    )
    say(shown(message.content) or f"[dim]({len(message.tool_calls)} tool calls)[/dim]")
