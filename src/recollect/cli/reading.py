"""Commands that read: context, show, explain, why-not, views."""

from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import filter_options, given_filters, place_options, store_options
from recollect.cli.render import (
    print_bundle,
    print_hits,
    print_json,
    print_memory,
    say,
    shown,
)
from recollect.domain.retrieval import Retrieval


@click.command()
@click.argument("task")
@place_options
@click.option("--conversation", help="With its summary, pins and last messages, by id.")
@click.option("--file", help="The file that is worked on: what is known of it, its last commits.")
@click.option("--model", help="Whose tokens are counted: gpt-4o, claude-sonnet-4, …")
@click.option("--form", type=click.Choice(["tags", "markdown"]), help="How it is written.")
@click.option("--line-numbers", is_flag=True, help="Number the lines of blocks.")
@click.option("--budget", default=2_000, show_default=True, help="Tokens at most.")
@store_options
def context(memory: LocalRecollect, *, as_json: bool, task: str, budget: int, **given: Any) -> None:
    """
    Print what an agent should know for TASK: blocks, memories, what was said before.

    \b
    Examples:
      recollect context "write the release notes" --project site
      recollect context "set up billing" --agent coder --project site --budget 4000 --form markdown
    """
    bundle = memory.context_for(task, budget_tokens=budget, **given_filters(given))
    if as_json:
        print_json(bundle)
    else:
        print_bundle(bundle)


@click.command()
@click.argument("memory_id", metavar="ID")
@store_options
def show(memory: LocalRecollect, *, as_json: bool, memory_id: str) -> None:
    """Print one memory."""
    found = memory.memories.get(memory_id)
    if as_json:
        print_json(found)
    else:
        print_memory(found)


@click.command()
@click.argument("some_id", metavar="ID")
@store_options
def explain(memory: LocalRecollect, *, as_json: bool, some_id: str) -> None:
    """Say everything about a memory, or about a logged retrieval, by its id."""
    found = memory.explain(some_id)
    if as_json:
        print_json(found)
    elif isinstance(found, Retrieval):
        _print_retrieval(found)
    else:
        print_memory(found.memory)
        say(shown(found.text))


@click.command("why-not")
@click.argument("memory_id", metavar="ID")
@click.argument("query")
@place_options
@filter_options
@store_options
def why_not(memory: LocalRecollect, *, as_json: bool, memory_id: str, query: str, **given: Any) -> None:
    """Say why a memory does not come for QUERY."""
    verdict = memory.why_not(memory_id, query, **given_filters(given))
    if as_json:
        print_json(verdict)
    else:
        say(shown(verdict.text))


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@click.pass_context
def views(context: click.Context, as_json: bool) -> None:
    """
    List saved searches; save, run and delete them.

    \b
    Examples:
      recollect views save decisions "what was decided" --type decision --everywhere
      recollect views run decisions
    """
    if context.invoked_subcommand is None:
        context.invoke(list_views, db=None, as_json=as_json)


@views.command("list")
@store_options
def list_views(memory: LocalRecollect, *, as_json: bool) -> None:
    """List saved searches."""
    saved = memory.views.list()
    if as_json:
        print_json(saved)
        return
    for view in saved:
        filters = " ".join(f"{name}={value}" for name, value in view.asking.items())
        say(f"[bold]{shown(view.name)}[/bold]  {shown(view.query)}  [dim]{shown(filters)}[/dim]")
    if not saved:
        say("No views yet. Save one with: recollect views save NAME QUERY")


@views.command("save")
@click.argument("name")
@click.argument("query")
@place_options
@filter_options
@store_options
def save_view(memory: LocalRecollect, *, as_json: bool, name: str, query: str, **given: Any) -> None:
    """Save a search under NAME."""
    view = memory.views.save(name, query, **given_filters(given))
    if as_json:
        print_json(view)
    else:
        say(f"Saved {shown(view.name)}. Run it with: recollect views run {shown(view.name)}")


@views.command("run")
@click.argument("name")
@store_options
def run_view(memory: LocalRecollect, *, as_json: bool, name: str) -> None:
    """Run the saved search NAME."""
    hits = memory.views.run(name)
    if as_json:
        print_json(hits)
    else:
        print_hits(hits)


@views.command("delete")
@click.argument("name")
@store_options
def delete_view(memory: LocalRecollect, *, as_json: bool, name: str) -> None:
    """Delete the saved search NAME."""
    memory.views.delete(name)
    if as_json:
        print_json({"deleted": name})
    else:
        say(f"Deleted {shown(name)}.")


def _print_retrieval(found: Retrieval) -> None:
    say(f"[bold]{found.verb}[/bold] “{shown(found.query)}” at {found.asked_at:%Y-%m-%d %H:%M} UTC")
    for name, value in found.asking.items():
        say(f"[dim]{name}: {shown(str(value))}[/dim]")
    for note in found.notes:
        say(f"[dim]{shown(note)}[/dim]")
    for hit in found.hits:
        say(f"{hit.rank}. {hit.memory_id}  {hit.score:.2f}  {shown(hit.outcome)}")
        say(f"   [dim]{shown(hit.explanation)}[/dim]")
