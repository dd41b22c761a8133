"""The search command: memories unless another kind of thing is named."""

from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import filter_options, given_filters, place_options, store_options
from recollect.cli.render import print_hits, print_json, say, shown

_ELSEWHERE = "Add --project NAME for a project's memory, or --everywhere."
DEFAULT = "memories"


class DefaultGroup(click.Group):
    """A group whose first argument may also be that of its default command."""

    def __init__(self, *args: Any, default: str = DEFAULT, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command first unless a command or help is asked for."""
        if not args or args[0] not in {*self.commands, "-h", "--help"}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


@click.group(cls=DefaultGroup)
def search() -> None:
    """
    Find memories by words and by meaning, and say why each came; or other things.

    \b
    Examples:
      recollect search "how long should answers be?"
      recollect search "package manager" --project site --type decision
      recollect search conversations --agent coder --query "which database for billing?"
      recollect search memory --agent coder --query "testing conventions"
    """


@search.command(DEFAULT)
@click.argument("query")
@place_options
@filter_options
@store_options
def memories(memory: LocalRecollect, *, as_json: bool, query: str, **given: Any) -> None:
    """Find memories: what `recollect search QUERY` does."""
    asked = given_filters(given)
    hits = memory.search(query, **asked)
    if as_json:
        print_json(hits)
    else:
        print_hits(hits, hint="" if "project" in asked or "everywhere" in asked else _ELSEWHERE)
    if not as_json and not hits and query.strip():
        nearest = memory.why_nothing(query, **asked)
        if nearest.memory_id:
            say(shown(nearest.text))


@search.command()
@click.option("--agent", required=True, help="Whose conversations.")
@click.option("--query", default="", help="What to look for; times in it are understood.")
@click.option("--role", "roles", multiple=True, help="Only messages of this role.")
@click.option("--since", help="Only what was said since then (2026-05-08).")
@click.option("--until", help="Only what was said until then.")
@click.option("-n", "--limit", default=10, show_default=True, help="How many at most.")
@store_options
def conversations(
    memory: LocalRecollect, *, as_json: bool, agent: str, query: str, **given: Any
) -> None:
    """
    Find what was said, by words, by meaning and by time.

    \b
    Example:
      recollect search conversations --agent coder --query "what did we discuss last week?"
    """
    hits = memory.conversations.search(query, agent=agent, **given_filters(given))
    if as_json:
        print_json(hits)
        return
    if not hits:
        say("Nothing relevant was said.")
    for place, hit in enumerate(hits, start=1):
        text = " ".join(hit.message.content.split())
        cut = text if len(text) <= 200 else text[:199] + "…"
        say(f"[bold]{place}. {shown(cut)}[/bold]  [cyan]{hit.score:.2f}[/cyan]")
        say(f"   [dim]{shown(hit.explanation)} {hit.message.conversation_id}[/dim]")


@search.command("memory")
@click.option("--agent", required=True, help="Whose memory: its blocks, and what it may see.")
@click.option("--query", required=True, help="What to look for.")
@click.option("--project", help="In this project.")
@click.option("-n", "--limit", default=10, show_default=True, help="How many of each at most.")
@store_options
def agent_memory(
    memory: LocalRecollect,
    *,
    as_json: bool,
    agent: str,
    query: str,
    project: str | None,
    limit: int,
) -> None:
    """Find an agent's blocks and memories."""
    blocks = memory.blocks.search(query, agent=agent, project=project, limit=limit)
    hits = memory.search(query, agent=agent, project=project, limit=limit)
    if as_json:
        print_json({"blocks": blocks, "memories": hits})
        return
    for hit in blocks:
        text = " ".join(hit.block.value.split())
        cut = text if len(text) <= 160 else text[:159] + "…"
        label = f"[bold]block {shown(hit.block.label)}[/bold]"
        say(f"{label}  [cyan]{hit.score:.2f}[/cyan] {shown(cut)}")
    if hits or not blocks:
        print_hits(hits)


@search.command()
@click.option("--query", required=True, help="What to look for.")
@click.option("--project", required=True, help="The project whose files were read.")
@click.option("-n", "--limit", default=5, show_default=True, help="How many at most.")
@store_options
def files(memory: LocalRecollect, *, as_json: bool, query: str, project: str, limit: int) -> None:
    """Find files that were read before, by words and meaning."""
    hits = memory.files.search(query, project=project, limit=limit)
    if as_json:
        print_json(hits)
        return
    if not hits:
        say("No file that was read answers that; `recollect files index` reads a project's.")
    for hit in hits:
        say(f"[bold]{shown(hit.path)}[/bold]  [cyan]{hit.score:.2f}[/cyan]")
        say(f"[dim]{shown(hit.excerpt)}[/dim]")
