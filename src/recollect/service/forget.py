"""
Forget a memory: out of every table and index, with a receipt.

What the memory rested on goes too: a source that was written for it alone is deleted; in a captured
one the forgotten words are blanked wherever they stand, unless another memory quotes them, which
the receipt then names. Questions that met the memory lose their text. Deleted content is
overwritten in the file, and the write-ahead log is emptied.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.clock import Clock
from recollect.domain.link import Relation
from recollect.domain.maintenance import Receipt
from recollect.domain.memory import Memory, Status
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.source import BLANK, SHADE, Evidence, Source, SourceKind
from recollect.service.services import Services
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex

MOST_SHADED = 64  # more than enough to tell sources apart

_SAYS_MUCH_THE_SAME = frozenset({Relation.SUPPORTS, Relation.SUPERSEDES})


def forget(services: Services, memory_id: object) -> Receipt:
    """Remove a memory for good; say what went and what could not."""
    receipt = services.store.write(lambda tables: forget_in(tables, memory_id, services.clock))
    return replace(receipt, kept=(*receipt.kept, *shrunk(services)))


def shrunk(services: Services) -> list[str]:
    """Empty the write-ahead log, so that what was deleted is gone; say what may still hold it."""
    kept = []
    if not services.store.truncate_wal():
        kept.append(
            "the write-ahead log could not be emptied while another process reads; it will be when "
            "that process is done"
        )
    snapshots = sorted(services.store.path.parent.glob(f"{services.store.path.name}.before-*"))
    return kept + [f"a copy taken before a change may hold it: {path}" for path in snapshots]


def forget_in(tables: Tables, memory_id: object, clock: Clock) -> Receipt:
    """Remove a memory inside a transaction of somebody else."""
    memory = known(tables, memory_id)
    sources = tables.sources.of_memory(memory.id)
    scrubbed = tables.retrievals.scrub(memory.id, memory.content)
    kept = _related(tables, memory)
    linked = {
        end for link in tables.links.of_memory(memory.id) for end in (link.from_id, link.to_id)
    }
    tables.memories.remove_id_from_history(memory.id, sorted(linked - {memory.id}))
    removed = dict(tables.memories.delete(memory.id))
    removed["retrieval queries blanked"] = scrubbed
    for source in sources:
        outcome = _forget_source(tables, memory, source)
        if outcome.startswith("kept"):
            kept.append(f"source {source.id}: {outcome}")
        else:
            removed[outcome] = removed.get(outcome, 0) + 1
    return Receipt(
        memory_id=memory.id,
        forgotten_at=clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=tuple(kept),
    )


def _related(tables: Tables, memory: Memory) -> list[str]:
    """Return a line for each memory that was merged with this one or replaced by it, and stays."""
    links = tables.links.of_memory(memory.id)
    ids = {
        link.from_id if link.to_id == memory.id else link.to_id
        for link in links
        if link.relation in _SAYS_MUCH_THE_SAME
    }
    return [
        f"memory {other.id} ({other.status}) says much the same; forget it too if it should go"
        for other in tables.memories.get_many(sorted(ids))
        if other.status in (Status.ARCHIVED, Status.SUPERSEDED)
    ]


def _forget_source(tables: Tables, memory: Memory, source: Source) -> str:
    others = tables.sources.evidence_in(source.id)
    if not others and source.kind is SourceKind.MANUAL:
        tables.sources.delete(source.id)  # it was written for this memory alone
        return "sources"
    content = source.content
    quoting: set[str] = set()
    for piece in (one for one in memory.evidence if one.source_id == source.id):
        for start in _occurrences(content, piece.quote):
            span = replace(piece, start=start, end=start + len(piece.quote))
            quoted = [other for other in others if _overlap(span, other)]
            quoting |= {other.memory_id for other in quoted}
            for first, last in _unquoted(span, quoted):
                content = content[:first] + BLANK * (last - first) + content[last:]
    if content != source.content:
        content = _told_apart(tables, source, content)
        tables.sources.overwrite(source.id, content, sha256_hex(content))
    if quoting:
        return f"kept, another memory quotes the same words: {', '.join(sorted(quoting))}"
    return "source spans blanked" if content != source.content else "kept, nothing to blank"


def _told_apart(tables: Tables, source: Source, content: str) -> str:
    """Return *content* unlike that of any other source: two may differ in what was blanked only."""
    blanks = [at for at, char in enumerate(content) if char == BLANK][:MOST_SHADED]
    told, number = content, 0
    while True:
        twin = tables.sources.with_hash(sha256_hex(told), source.kind)
        if twin is None or twin.id == source.id:
            return told
        number += 1
        shaded = {at for place, at in enumerate(blanks) if number >> place & 1}
        told = "".join(SHADE if at in shaded else char for at, char in enumerate(content))


def _occurrences(content: str, quote: str) -> Iterator[int]:
    """Yield everywhere *quote* stands: what is forgotten once is forgotten wherever it was said."""
    at = content.find(quote)
    while at >= 0:
        yield at
        at = content.find(quote, at + len(quote))


def _unquoted(span: Evidence, others: list[Evidence]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a span that nobody else quotes."""
    at = span.start
    for other in sorted(others, key=lambda one: one.start):
        if other.start > at:
            yield at, min(other.start, span.end)
        at = max(at, other.end)
    if at < span.end:
        yield at, span.end


def _overlap(one: Evidence, other: Evidence) -> bool:
    return one.start < other.end and other.start < one.end


def drop_shelves(tables: Tables, owner: Owner) -> None:
    """Take everything of an owner out of the indexes."""
    for kind in ItemKind:
        tables.word_index.drop_partition(kind, owner)


def delete_captures(tables: Tables, events: Sequence[tuple[str, str | None]]) -> int:
    """Remove captures with their sources; a source others rest on stays."""
    for event_id, _ in events:
        tables.agents.delete_event(event_id)
    for source_id in {source_id for _, source_id in events if source_id}:
        if not tables.sources.evidence_in(source_id) and not tables.sources.events_of(source_id):
            tables.sources.delete(source_id)
    return len(events)
