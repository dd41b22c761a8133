"""The command `views`: save searches and run them again."""

from collections.abc import Iterator
from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.memory_text import hit_lines
from recollect.cli.options import DefaultGroup, request_options, with_store
from recollect.cli.output import Output, safe
from recollect.wire.requests.recollect import SearchRequest

_name_argument = click.argument("name")


@click.group(cls=DefaultGroup, default="list")
def views() -> None:
    """Save searches, and list, run and delete them."""


@views.command("list")
@with_store
def list_(rec: LocalRecollect) -> Output:
    """List saved searches."""
    saved = rec.views.list()

    def lines() -> Iterator[str]:
        for view in saved:
            filters = " ".join(f"{name}={value}" for name, value in view.asking.items())
            yield f"[bold]{safe(view.name)}[/bold]  {safe(view.query)}  [dim]{safe(filters)}[/dim]"
        if not saved:
            yield "No views yet. Save one with: recollect views save NAME QUERY"

    return Output(saved, lines())


@views.command()
@_name_argument
@click.argument("query")
@request_options(SearchRequest, without=("below_threshold", "related", "offset"))
@with_store
def save(rec: LocalRecollect, *, name: str, query: str, **filters: Any) -> Output:
    """Save a search as NAME."""
    view = rec.views.save(name, query, **filters)
    saved = safe(view.name)
    return Output(view, f"Saved {saved}. Run it with: recollect views run {saved}")


@views.command()
@_name_argument
@with_store
def run(rec: LocalRecollect, *, name: str) -> Output:
    """Run the saved search NAME."""
    hits = rec.views.run(name)
    return Output(hits, hit_lines(hits))


@views.command()
@_name_argument
@with_store
def delete(rec: LocalRecollect, *, name: str) -> Output:
    """Delete the saved search NAME."""
    rec.views.delete(name)
    return Output({"deleted": name}, f"Deleted {safe(name)}.")
