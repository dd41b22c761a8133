"""Commands about single memories: add, context, show, explain, why-not, forget, edit, link, …"""

import os
from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.app.place_hint import place_hint, searched_place_hint
from recollect.cli.memory_text import bundle_lines, memory_lines, redaction_lines
from recollect.cli.options import (
    id_argument,
    request_options,
    with_new_store,
    with_searched_store,
    with_store,
    yes_option,
)
from recollect.cli.output import (
    Output,
    ask,
    print_text,
    receipt_lines,
    safe,
    shorten,
    text_argument,
    wants_json,
)
from recollect.domain.link import Relation
from recollect.domain.memory import Memory
from recollect.domain.retrieval import MemoryExplanation, Retrieval
from recollect.wire.requests.memories import EditMemoryRequest
from recollect.wire.requests.recollect import ContextForRequest, IngestRequest, WhyNotRequest

MAX_CONFIRMED_CHARS = 500  # of the memory that `forget` asks about


@click.command()
@click.argument("content")
@request_options(IngestRequest)
@click.option("--inbox", is_flag=True, help="Store it as a candidate, to be promoted later.")
@click.option("--key", help="Set the profile fact of this name; its old value is superseded.")
@with_new_store
def add(
    rec: LocalRecollect, *, content: str, inbox: bool, key: str | None, **fields: Any
) -> Output:
    """
    Store a memory. CONTENT '-' reads standard input.

    Without --project, --repo or --agent the memory is global. With --key no other option is used.
    """
    content = text_argument(content)
    if key is not None:
        if inbox or fields:
            raise click.UsageError("--key sets a global profile fact; it takes no other option")
        memory = rec.upsert_profile_fact(key, content)
    else:
        memory = rec.ingest(content, status="inbox" if inbox else "active", **fields)
    return Output(memory, _stored_lines(memory))


def _stored_lines(memory: Memory) -> Iterator[str]:
    yield f"Stored as {memory.type}, {memory.scope}, {memory.status}: {memory.id}"
    yield from redaction_lines(memory)


@click.command()
@click.argument("task")
@request_options(ContextForRequest, without=("budget_tokens", "asked_at"))
@click.option("--budget", default=2_000, show_default=True, help="Maximum number of tokens.")
@with_searched_store
def context(rec: LocalRecollect, *, task: str, budget: int, **fields: Any) -> Output:
    """
    Print what an agent should know for TASK, within a token budget.

    That is the agent's blocks, relevant memories and earlier messages, each with its source.
    """
    bundle = rec.context_for(task, budget_tokens=budget, **fields)
    hint = ""
    if not bundle.text:
        project = fields.get("project")
        hint = place_hint(rec, project) if project else searched_place_hint(rec, os.getcwd())
    return Output(bundle, bundle_lines(bundle, hint=hint))


@click.command()
@id_argument
@with_store
def show(rec: LocalRecollect, *, memory_id: str) -> Output:
    """Print a memory."""
    memory = rec.memories.get(memory_id)
    return Output(memory, memory_lines(memory))


@click.command()
@click.argument("some_id", metavar="ID")
@with_store
def explain(rec: LocalRecollect, *, some_id: str) -> Output:
    """Explain a memory (evidence, links, changes) or a logged retrieval, by its id."""
    explained = rec.explain(some_id)
    return Output(explained, _explanation_lines(explained))


def _explanation_lines(explained: MemoryExplanation | Retrieval) -> Iterator[str]:
    if isinstance(explained, MemoryExplanation):
        yield from memory_lines(explained.memory)
        yield safe(explained.text)
        return
    query = f"[bold]{explained.verb}[/bold] “{safe(explained.query)}”"
    yield f"{query} at {explained.asked_at:%Y-%m-%d %H:%M} UTC"
    for name, value in explained.asking.items():
        yield f"[dim]{name}: {safe(value)}[/dim]"
    for note in explained.notes:
        yield f"[dim]{safe(note)}[/dim]"
    for hit in explained.hits:
        yield f"{hit.rank}. {hit.memory_id}  {hit.score:.2f}  {safe(hit.outcome)}"
        yield f"   [dim]{safe(hit.explanation)}[/dim]"


@click.command("why-not")
@id_argument
@click.argument("query")
@request_options(WhyNotRequest)
@with_store
def why_not(rec: LocalRecollect, *, memory_id: str, query: str, **filters: Any) -> Output:
    """
    Explain why a memory was not returned for QUERY.

    Use the same options as in the search.
    """
    verdict = rec.why_not(memory_id, query, **filters)
    return Output(verdict, safe(verdict.text))


@click.command()
@id_argument
@yes_option
@click.option("--dry-run", is_flag=True, help="Only print what would be deleted.")
@with_store
def forget(rec: LocalRecollect, *, memory_id: str, yes: bool, dry_run: bool) -> Output:
    """
    Delete a memory and its words everywhere, and print a receipt.

    Messages, summaries, logged queries and session records lose the words; saved searches that have
    them are deleted. This cannot be undone. `recollect reject` archives a candidate instead.
    """
    memory = rec.memories.get(memory_id)
    if dry_run:
        receipt = rec.forget(memory_id, dry_run=True)
        lines = receipt_lines("Would be deleted", receipt.removed, receipt.kept)
        return Output(receipt, lines)
    if not yes and not wants_json():
        print_text(safe(shorten(memory.content, MAX_CONFIRMED_CHARS)))
    ask("Delete this memory for good?", yes=yes)
    receipt = rec.forget(memory_id)
    lines = receipt_lines("Deleted", receipt.removed, receipt.kept, receipt.rewritten)
    return Output(receipt, lines)


@click.command()
@id_argument
@request_options(EditMemoryRequest)
@with_store
def edit(rec: LocalRecollect, *, memory_id: str, **fields: Any) -> Output:
    """Correct a memory; its quotes stay, and the original is superseded."""
    memory = rec.memories.edit(memory_id, **fields)
    return Output(memory, memory_lines(memory))


@click.command()
@id_argument
@with_store
def confirm(rec: LocalRecollect, *, memory_id: str) -> Output:
    """Record that a memory is still true."""
    memory = rec.memories.confirm(memory_id)
    return Output(memory, memory_lines(memory))


@click.command()
@id_argument
@click.argument("relation", type=click.Choice([relation.value for relation in Relation]))
@click.argument("other", metavar="OTHER")
@click.option("--note", default="", help="Why they are linked.")
@with_store
def link(rec: LocalRecollect, *, memory_id: str, relation: str, other: str, note: str) -> Output:
    """Link a memory to another memory, or to a project written as project:NAME."""
    link = rec.link(memory_id, relation, other, note=note)
    return Output(link, f"{link.from_id} {link.relation} {link.to_kind} {link.to_id}")
