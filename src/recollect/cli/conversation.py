"""The command `conversation`: record, read, pin and compact conversations."""

import json
from collections.abc import Iterator
from typing import Any

import click

from recollect.api.conversation_titles import conversation_titles
from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import (
    limit_option,
    project_option,
    request_options,
    with_new_store,
    with_store,
    yes_option,
)
from recollect.cli.output import (
    Callback,
    Output,
    ask,
    receipt_lines,
    safe,
    shorten,
    text_argument,
)
from recollect.domain.conversation import CompactionMode, Conversation, Message, Role
from recollect.wire.requests.conversations import ListConversationsRequest


@click.group()
def conversation() -> None:
    """
    Record, read and compact conversations.

    CONVERSATION is an id, or 'last' with --agent: the agent's latest conversation.
    """


def _conversation_options(command: Callback) -> Callback:
    """Give *command* the ways to name one conversation."""
    command = click.option("--agent", help="The agent, if CONVERSATION is 'last'.")(command)
    return click.argument("name", metavar="CONVERSATION")(command)


def _find(rec: LocalRecollect, name: str, agent: str | None) -> Conversation:
    if name != "last":
        return rec.conversations.get(name)
    if agent is None:
        raise click.UsageError("'last' needs --agent, whose last conversation it is")
    latest = rec.conversations.list(agent=agent, limit=1)
    if not latest:
        hint = "`recollect conversation start` starts one"
        raise click.UsageError(f"agent {agent} has no conversation yet; {hint}")
    return latest[0]


@conversation.command()
@click.option("--agent", help="The agent; created if there is none of that name.")
@project_option
@click.option("--title", default="", help="The title.")
@click.option(
    "--key",
    default="",
    help="Your own id for the conversation; if it exists, it is returned.",
)
@with_new_store
def start(rec: LocalRecollect, **fields: Any) -> Output:
    """Start a conversation."""
    started = rec.conversations.start(**fields)
    return Output(started, f"Started: {started.id}")


@conversation.command()
@_conversation_options
@click.argument("role", type=click.Choice([role.value for role in Role]))
@click.argument("content")
@click.option("--name", "speaker", default="", help="The name of the speaker.")
@click.option("--created-at", help="When it was said (2026-05-08T13:56). Default: now.")
@with_store
def append(
    rec: LocalRecollect,
    *,
    name: str,
    agent: str | None,
    role: str,
    content: str,
    speaker: str,
    created_at: str | None,
) -> Output:
    """Append a message. CONTENT '-' reads standard input."""
    place = _find(rec, name, agent)
    text = text_argument(content)
    message = rec.conversations.append(place, role, text, name=speaker, created_at=created_at)
    return Output(message, f"Message {message.position}, {message.tokens} tokens.")


@conversation.command("import")
@_conversation_options
@click.argument("file", type=click.File("rb"))
@with_store
def import_(rec: LocalRecollect, *, name: str, agent: str | None, file: Any) -> Output:
    """
    Append messages from a JSON list of {role, content, …}, all or none.

    FILE '-' reads standard input.
    """
    try:
        messages = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"the file is not valid JSON: {error}") from error
    if not isinstance(messages, list):
        raise click.UsageError("the file must hold a list of messages: [{role, content, …}, …]")
    appended = rec.conversations.append_many(_find(rec, name, agent), messages)
    return Output(appended, f"Appended {len(appended)} messages.")


@conversation.command("list")
@request_options(ListConversationsRequest)
@with_store
def list_(rec: LocalRecollect, **filters: Any) -> Output:
    """List conversations, the latest first."""
    conversations = rec.conversations.list(**filters)

    def lines() -> Iterator[str]:
        if not conversations:
            yield "No conversation was found."
        titles = conversation_titles(rec, conversations)
        for item in conversations:
            ended = f"–{item.ended_at:%H:%M}" if item.ended_at else ""
            when = f"{item.started_at:%Y-%m-%d %H:%M}{ended}"
            yield f"[bold]{when}[/bold] {safe(shorten(titles[item.id], 80))} [dim]{item.id}[/dim]"

    return Output(conversations, lines())


@conversation.command()
@_conversation_options
@click.option("--start", default=0, help="The first position to print.")
@limit_option(50)
@with_store
def show(rec: LocalRecollect, *, name: str, agent: str | None, start: int, limit: int) -> Output:
    """Print the messages of a conversation, page by page."""
    messages = rec.conversations.messages(_find(rec, name, agent), start=start, limit=limit)

    def lines() -> Iterator[str]:
        for message in messages:
            yield from _message_lines(message)
        if len(messages) == limit:
            yield f"[dim]more: --start {messages[-1].position + 1}[/dim]"

    return Output(messages, lines())


def _message_lines(message: Message) -> Iterator[str]:
    marks = f"{'pinned, ' if message.pinned else ''}{'summarized, ' if message.summary_id else ''}"
    details = f"{message.created_at:%Y-%m-%d %H:%M}, {marks}{message.tokens} tokens"
    yield f"[bold]{message.position} {message.role}[/bold] [dim]{details}[/dim]"
    yield safe(message.content) or f"[dim]({len(message.tool_calls)} tool calls)[/dim]"


@conversation.command()
@_conversation_options
@with_store
def end(rec: LocalRecollect, *, name: str, agent: str | None) -> Output:
    """End a conversation."""
    ended = rec.conversations.end(_find(rec, name, agent))
    return Output(ended, f"Ended: {ended.id}")


@conversation.command()
@_conversation_options
@with_store
def resume(rec: LocalRecollect, *, name: str, agent: str | None) -> Output:
    """Open an ended conversation again."""
    resumed = rec.conversations.resume(_find(rec, name, agent))
    return Output(resumed, f"Resumed: {resumed.id}")


@conversation.command()
@_conversation_options
@click.argument("title")
@with_store
def rename(rec: LocalRecollect, *, name: str, agent: str | None, title: str) -> Output:
    """Change the title of a conversation."""
    renamed = rec.conversations.rename(_find(rec, name, agent), title)
    return Output(renamed, safe(renamed.title))


@conversation.command()
@_conversation_options
@with_store
def summaries(rec: LocalRecollect, *, name: str, agent: str | None) -> Output:
    """Print the summaries of a conversation, oldest first."""
    summaries = rec.conversations.summaries(_find(rec, name, agent))

    def lines() -> Iterator[str]:
        if not summaries:
            yield "There is no summary yet; `recollect conversation compact` writes one."
        for summary in summaries:
            span = f"messages {summary.first_position} to {summary.last_position}"
            when = f"{summary.created_at:%Y-%m-%d %H:%M}"
            yield f"[bold]{when}[/bold] [dim]{span}, {summary.made_by}[/dim]"
            yield safe(summary.content)

    return Output(summaries, lines())


@conversation.command()
@_conversation_options
@click.argument("content")
@click.option("--kind", default="note", show_default=True, help="ticket, debug, decision, …")
@with_store
def pin(rec: LocalRecollect, *, name: str, agent: str | None, content: str, kind: str) -> Output:
    """Pin a ticket, a debug note or a decision: it stays in context."""
    pinned = rec.conversations.pin(_find(rec, name, agent), content, kind=kind)
    return Output(pinned, f"Pinned: {pinned.id}")


@conversation.command()
@_conversation_options
@with_store
def pins(rec: LocalRecollect, *, name: str, agent: str | None) -> Output:
    """List the pins of a conversation."""
    pins = rec.conversations.pins(_find(rec, name, agent))

    def lines() -> Iterator[str]:
        for item in pins:
            removed = "" if item.active else " [yellow]removed[/yellow]"
            text = f"{safe(item.content)} [dim]{item.id}[/dim]"
            yield f"[bold]{safe(item.kind)}[/bold]{removed} {text}"

    return Output(pins, lines())


@conversation.command()
@click.argument("pin_id", metavar="PIN")
@with_store
def unpin(rec: LocalRecollect, *, pin_id: str) -> Output:
    """Remove a pin from context, by its id."""
    removed = rec.conversations.unpin(pin_id)
    return Output(removed, f"Unpinned: {safe(removed.content)}")


@conversation.command()
@_conversation_options
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in CompactionMode]),
    default=CompactionMode.SLIDING_WINDOW.value,
    show_default=True,
    help="Summarize all messages that may be, or the oldest until the target is met.",
)
@click.option("--window", "window_tokens", type=int, help="The model's window, in tokens.")
@click.option("--keep-last", default=10, show_default=True, help="Messages that always stay.")
@click.option("--force", is_flag=True, help="Even if the window is not full.")
@with_store
def compact(rec: LocalRecollect, *, name: str, agent: str | None, **settings: Any) -> Output:
    """Replace older messages by a summary; search still finds them."""
    compacted = rec.conversations.compact(_find(rec, name, agent), **settings)
    if compacted is None:
        text = "Nothing to compact: the window is not full, or no message in it may be replaced."
        return Output(None, text)
    count = f"{compacted.evicted} messages replaced by a summary"
    lines = f"{count} of {compacted.summary.tokens} tokens:\n{safe(compacted.summary.content)}"
    return Output(compacted, lines)


@conversation.command()
@_conversation_options
@yes_option
@with_store
def delete(rec: LocalRecollect, *, name: str, agent: str | None, yes: bool) -> Output:
    """Delete a conversation and all its messages."""
    doomed = _find(rec, name, agent)
    ask(f"Delete conversation {doomed.id} for good?", yes=yes)
    receipt = rec.conversations.delete(doomed)
    return Output(receipt, receipt_lines("Deleted", receipt.removed, receipt.kept))
