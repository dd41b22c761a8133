"""The command `search`: memories, unless conversations, blocks or files are named."""

import os
from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.place_hint import place_hint, searched_place_hint
from recollect.cli.memory_text import hit_lines
from recollect.cli.options import (
    DefaultGroup,
    agent_option,
    limit_option,
    project_option,
    request_options,
    with_searched_store,
)
from recollect.cli.output import Output, safe, shorten
from recollect.domain.retrieval import Hit
from recollect.wire.requests.conversations import SearchMessagesRequest
from recollect.wire.requests.recollect import SearchRequest

_query_option = click.option("--query", required=True, help="What to search for.")


NOTHING_STORED = (
    "Nothing is stored yet. `recollect add TEXT` stores a memory; `recollect setup` connects a "
    "coding agent."
)
_PAGING = ("below_threshold", "related", "offset")  # of a search, and not of its explanation


@click.group(cls=DefaultGroup, default="memories")
def search() -> None:
    """
    Search memories by words and by meaning, and explain each result.

    `recollect search QUERY` searches memories. The commands below search other things; to search
    memories for the name of such a command, write `recollect search memories files`.
    """


@search.command()
@click.argument("query")
@request_options(SearchRequest)
@with_searched_store
def memories(rec: LocalRecollect, *, query: str, **filters: Any) -> Output:
    """Search memories; the same as `recollect search QUERY`."""
    hits = rec.search(query, **filters)
    return Output(hits, _memory_lines(rec, query, filters, hits))


def _memory_lines(
    rec: LocalRecollect, query: str, filters: dict[str, Any], hits: list[Hit]
) -> Iterator[str]:
    if not query.strip():
        yield "The query is empty: write what to search for."
        return
    if not hits and _is_new(rec):
        yield NOTHING_STORED
        return
    is_answered = any(not hit.is_weak for hit in hits)
    hint = ""
    if not is_answered:
        if not {"project", "everywhere"} & {*filters}:
            hint = f"{searched_place_hint(rec, os.getcwd())} --everywhere searches all of them."
        elif project := filters.get("project"):
            hint = place_hint(rec, project)
    yield from hit_lines(hits, hint=hint)
    if not hits:
        options = {name: value for name, value in filters.items() if name not in _PAGING}
        nearest = rec.why_nothing(query, **options)
        if nearest.memory_id:
            yield safe(nearest.text)
    if not hits and (jobs := rec.maintenance.pending().jobs):
        yield f"[dim]Pending jobs: {jobs}. `recollect work --once` runs them.[/dim]"


def _is_new(rec: LocalRecollect) -> bool:
    status = rec.maintenance.status()
    return not (status.memories_by_status or status.jobs)


@search.command()
@agent_option
@click.option("--query", default="", help="What to search for; it may name a time.")
@request_options(SearchMessagesRequest)
@with_searched_store
def conversations(rec: LocalRecollect, *, agent: str, query: str, **filters: Any) -> Output:
    """Search the messages of an agent by words, meaning and time."""
    hits = rec.conversations.search(query, agent=agent, **filters)

    def lines() -> Iterator[str]:
        if not hits:
            yield "No message was found."
        for rank, hit in enumerate(hits, start=1):
            text = safe(shorten(hit.message.content, 200))
            yield f"[bold]{rank}. {text}[/bold]  [cyan]{hit.score:.2f}[/cyan]"
            yield f"   [dim]{safe(hit.explanation)} {hit.message.conversation_id}[/dim]"

    return Output(hits, lines())


@search.command("memory")
@agent_option
@_query_option
@project_option
@limit_option(10)
@with_searched_store
def agent_memory(rec: LocalRecollect, *, query: str, **filters: Any) -> Output:
    """Search the blocks of an agent and the memories it can see."""
    blocks = rec.blocks.search(query, **filters)
    hits = rec.search(query, **filters)

    def lines() -> Iterator[str]:
        for hit in blocks:
            label = f"[bold]block {safe(hit.block.label)}[/bold]"
            text = safe(shorten(hit.block.value, 160))
            yield f"{label}  [cyan]{hit.score:.2f}[/cyan] {text}"
        if hits or not blocks:
            yield from hit_lines(hits)

    return Output({"blocks": blocks, "memories": hits}, lines())


@search.command()
@_query_option
@click.option("--project", required=True, help="The project whose files were indexed.")
@limit_option(5)
@with_searched_store
def files(rec: LocalRecollect, *, query: str, project: str, limit: int) -> Output:
    """Search indexed files by words and meaning."""
    hits = rec.files.search(query, project=project, limit=limit)

    def lines() -> Iterator[str]:
        if not hits:
            yield "No indexed file was found; `recollect file index` indexes a project."
        for hit in hits:
            yield f"[bold]{safe(hit.path)}[/bold]  [cyan]{hit.score:.2f}[/cyan]"
            yield f"[dim]{safe(hit.excerpt)}[/dim]"

    return Output(hits, lines())
