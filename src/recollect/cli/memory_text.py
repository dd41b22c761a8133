"""The text of memories, search results and context bundles, line by line."""

from collections.abc import Iterator, Sequence

from recollect.cli.output import safe, shorten
from recollect.domain.context_bundle import Bundle
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.retrieval import Hit, caution_about


def hit_lines(hits: Sequence[Hit], *, hint: str = "") -> Iterator[str]:
    """Yield search results, best first, each with its reasons."""
    if not hits:
        yield f"Nothing relevant was found. {safe(hint)}".rstrip()
    if caution := caution_about(hits):
        yield f"[yellow]{caution} {safe(hint)}".rstrip() + "[/yellow]"
    for rank, hit in enumerate(hits, start=1):
        yield f"[bold]{rank}. {safe(_headline(hit.memory))}[/bold]  [cyan]{hit.score:.2f}[/cyan]"
        yield f"   [dim]{safe(hit.explanation)}[/dim]"
        author = _author(hit.memory)
        yield f"   [dim]{hit.memory.type} · {hit.memory.status}{author} · {hit.memory.id}[/dim]"
        for memory_id in hit.conflicts:
            yield f"   [red]in conflict with {memory_id}[/red]"


def memory_lines(*memories: Memory) -> Iterator[str]:
    """Yield memories in full."""
    for memory in memories:
        if memory.title:
            yield f"[bold]{safe(memory.title)}[/bold]"
        yield safe(memory.labelled_content)
        if memory.rationale:
            yield f"[dim]because[/dim] {safe(memory.rationale)}"
        for alternative in memory.alternatives:
            yield f"[dim]rather than[/dim] {safe(alternative)}"
        author = _author(memory)
        dates = "".join(f" · {safe(date.label)}" for date in memory.provenance.dates)
        tags = f" · tags {safe(', '.join(memory.tags))}" if memory.tags else ""
        yield (
            f"[dim]{memory.type} · {memory.scope} · {memory.status} · observed "
            f"{memory.observed_at:%Y-%m-%d}{dates}{author}{tags}\n{memory.id}[/dim]"
        )
        yield from redaction_lines(memory)


def redaction_lines(memory: Memory) -> Iterator[str]:
    """Yield what was removed before storing, if anything was."""
    if memory.redactions:
        kinds = ", ".join(sorted({redaction.kind for redaction in memory.redactions}))
        yield f"[yellow]Not stored, because it looks secret: {kinds}.[/yellow]"


def bundle_lines(bundle: Bundle, *, hint: str = "") -> Iterator[str]:
    """Yield the text of a bundle, and its size."""
    if not bundle.text:
        yield f"Nothing that is stored is relevant to this task. {safe(hint)}".rstrip()
        return
    yield safe(bundle.text)
    dropped = f", {len(bundle.dropped)} left out" if bundle.dropped else ""
    if bundle.history:
        yield f"[dim]and the last {len(bundle.history)} messages of the conversation[/dim]"
    yield f"[dim]{bundle.tokens} of {bundle.budget_tokens} tokens{dropped}[/dim]"


def _author(memory: Memory) -> str:
    note = memory.provenance.author_note
    return f" · {safe(note)}" if note else ""


def _headline(memory: Memory) -> str:
    text = memory.title or memory.labelled_content
    if memory.title and memory.type is MemoryType.EPISODE:
        text = f"{memory.title}: {memory.content}"  # the titles of sessions are all alike
    return shorten(text, 160)
