"""The commands `conflicts`, with `settle`, and `retrievals`."""

from collections.abc import Iterator, Sequence

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.memory_text import memory_lines
from recollect.cli.options import DefaultGroup, limit_option, reason_option, with_store
from recollect.cli.output import Output, safe, shorten
from recollect.domain.maintenance import ConflictPair
from recollect.domain.retrieval import Retrieval


@click.group(cls=DefaultGroup, default="list")
def conflicts() -> None:
    """List memories that contradict each other, and say which one is true."""


@conflicts.command("list")
@limit_option(20)
@with_store
def list_(rec: LocalRecollect, *, limit: int) -> Output:
    """List memories that contradict each other, in pairs. The default command."""
    rec.engine.compare_written()  # without a server nobody else may have done it
    pairs = rec.memories.conflicts(limit=limit)
    return Output(pairs, _pair_lines(pairs) if pairs else "No memories contradict each other.")


@conflicts.command()
@click.argument("memory_id", metavar="TRUE")
@click.argument("other_id", metavar="OTHER")
@click.option("--both", is_flag=True, help="Both are true: keep both, and stop reporting them.")
@reason_option
@with_store
def settle(
    rec: LocalRecollect, *, memory_id: str, other_id: str, both: bool, reason: str
) -> Output:
    """Keep the memory TRUE and supersede OTHER; `recollect undo OTHER` restores it."""
    memories = rec.memories.settle_conflict(memory_id, other_id, both=both, reason=reason)
    return Output(memories, memory_lines(*memories))


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
        for name, memory in (("older", pair.memory), ("newer", pair.other)):
            yield f"[bold cyan]{name}[/bold cyan]"
            yield from memory_lines(memory)
            for evidence in memory.evidence[:1]:
                yield f"  [green]“{safe(shorten(evidence.quote, 200))}”[/green]"
        yield ""
    yield "[dim]`recollect conflicts settle TRUE OTHER` keeps one; --both keeps both.[/dim]"


def _retrieval_lines(logged: Sequence[Retrieval]) -> Iterator[str]:
    for retrieval in logged:
        count = sum(hit.outcome == "returned" for hit in retrieval.hits)
        yield (
            f"{retrieval.asked_at:%Y-%m-%d %H:%M} {retrieval.verb}: "
            f"{safe(shorten(retrieval.query, 80))} · {count} returned · {retrieval.id}"
        )
