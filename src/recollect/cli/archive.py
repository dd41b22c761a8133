"""The command `archive`: the passages of an agent's archive."""

from typing import Any

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.memory_text import hit_lines, memory_lines
from recollect.cli.options import agent_option, request_options, with_store
from recollect.cli.output import Output, text_argument
from recollect.wire.requests.archive import InsertPassageRequest, SearchPassagesRequest


@click.group()
def archive() -> None:
    """Insert and search the passages of an agent's archive."""


@archive.command()
@click.argument("content")
@agent_option
@request_options(InsertPassageRequest)
@with_store
def insert(rec: LocalRecollect, *, content: str, agent: str, **fields: Any) -> Output:
    """Insert a passage. CONTENT '-' reads standard input."""
    passage = rec.archive.insert(agent, text_argument(content), **fields)
    return Output(passage, memory_lines(passage))


@archive.command()
@click.argument("query", default="")
@agent_option
@request_options(SearchPassagesRequest)
@click.option("--all-tags", is_flag=True, help="Only passages with all of the tags.")
@with_store
def search(
    rec: LocalRecollect, *, query: str, agent: str, all_tags: bool, **filters: Any
) -> Output:
    """Search passages by words, meaning, tags and time; without QUERY, list the newest."""
    hits = rec.archive.search(agent, query, tag_match="all" if all_tags else "any", **filters)
    return Output(hits, hit_lines(hits))
