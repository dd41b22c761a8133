"""The commands `conflicts` and `retrievals`."""

from collections.abc import Iterator, Sequence

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.memory_text import memory_lines
from recollect.cli.options import limit_option, with_store
from recollect.cli.output import Output, safe, shorten
from recollect.domain.maintenance import ConflictPair
from recollect.domain.retrieval import Retrieval


@click.command()
@limit_option(20)
@with_store
def conflicts(rec: LocalRecollect, *, limit: int) -> Output:
    """List memories that contradict each other, in pairs."""
    pairs = rec.memories.conflicts(limit=limit)
    return Output(pairs, _pair_lines(pairs) if pairs else "No memories contradict each other.")


@click.command()
@click.option("--agent", help="Only of this agent.")
@click.option("--memory", help="Only those that returned the memory with this id.")
@limit_option(20)
@with_store
def retrievals(rec: LocalRecollect, *, agent: str | None, memory: str | None, limit: int) -> Output:
    """List what was asked lately; `recollect explain ID` shows what was returned."""
    logged = rec.retrievals.list(agent=agent, memory=memory, limit=limit)
    return Output(logged, _retrieval_lines(logged) if logged else "Nothing was asked yet.")


def _pair_lines(pairs: Sequence[ConflictPair]) -> Iterator[str]:
    for pair in pairs:
        yield from memory_lines(pair.memory, pair.other)
        yield ""
    yield "Settle them in a browser: recollect open"


def _retrieval_lines(logged: Sequence[Retrieval]) -> Iterator[str]:
    for retrieval in logged:
        count = sum(hit.outcome == "returned" for hit in retrieval.hits)
        yield (
            f"{retrieval.asked_at:%Y-%m-%d %H:%M} {retrieval.verb}: "
            f"{safe(shorten(retrieval.query, 80))} · {count} returned · {retrieval.id}"
        )
