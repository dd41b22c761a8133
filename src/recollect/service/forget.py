"""
Forget a memory: remove it from every table and index, and return a receipt.

A source that was written for this memory alone is deleted. In a captured source the quoted words
are blanked wherever they occur, unless another memory quotes them; the receipt names that memory.
The text of logged queries that returned the memory is removed. Deleted content is overwritten in
the file, and the write-ahead log is truncated.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.clock import Clock
from recollect.domain.link import Relation
from recollect.domain.maintenance import Receipt
from recollect.domain.memory import Memory, Status
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.source import BLANK, SHADE, Evidence, Source, SourceKind
from recollect.service.services import Services
from recollect.service.wal_truncation import finish_truncation, request_truncation
from recollect.service.write import require_memory
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex
from recollect.wire.requests.recollect import ForgetRequest

MAX_SHADED = 64  # characters; enough to make 2**64 contents different

_SIMILAR_CONTENT = frozenset({Relation.SUPPORTS, Relation.SUPERSEDES})


def forget(services: Services, request: ForgetRequest) -> Receipt:
    """Remove a memory permanently; return what was removed and what could not be."""
    memory_id, clock = request.memory_id, services.clock
    receipt = services.store.write(lambda tables: forget_memory(tables, memory_id, clock))
    return replace(receipt, kept=(*receipt.kept, *truncate_wal(services)))


def truncate_wal(services: Services) -> list[str]:
    """Truncate the write-ahead log; return a line for each file that may still hold the content."""
    remaining = []
    if not finish_truncation(services):
        remaining.append(
            "the write-ahead log could not be emptied while another process reads; the server, or "
            "`recollect work --once`, does it when that process is done"
        )
    snapshots = sorted(services.store.path.parent.glob(f"{services.store.path.name}.before-*"))
    return remaining + [f"a copy taken before a change may hold it: {path}" for path in snapshots]


def forget_memory(tables: Tables, memory_id: str, clock: Clock) -> Receipt:
    """Remove a memory inside the caller's transaction."""
    request_truncation(tables, clock)
    memory = require_memory(tables, memory_id)
    sources = tables.sources.of_memory(memory.id)
    scrubbed = tables.retrievals.scrub(_retrievals_of(tables, memory), gone={memory.id})
    for view in tables.retrievals.views():
        if len(memory.content) >= 8 and memory.content.lower() in view.query.lower():
            tables.retrievals.delete_view(view.name)
    remaining = _similar_memories(tables, memory)
    links = tables.links.of_memory(memory.id)
    linked = {end for link in links for end in (link.from_id, link.to_id)}
    tables.memories.remove_id_from_history(memory.id, sorted(linked - {memory.id}))
    removed = Counter(tables.memories.delete(memory.id))
    removed["retrieval queries blanked"] = scrubbed
    for source in sources:
        kept_because = _forget_source(tables, memory, source, removed)
        if kept_because:
            remaining.append(f"source {source.id}: kept, {kept_because}")
    return Receipt(
        memory_id=memory.id,
        forgotten_at=clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=tuple(remaining),
    )


def _retrievals_of(tables: Tables, memory: Memory) -> list[str]:
    """Return the ids of the logged retrievals that met a memory, or whose query quotes it."""
    ids = {some_id for some_id, met in tables.retrievals.result_ids() if memory.id in met}
    quoted = memory.content.lower()
    if len(quoted) >= 8:
        ids |= {
            some_id for some_id, query in tables.retrievals.queries() if quoted in query.lower()
        }
    return sorted(ids)


def _similar_memories(tables: Tables, memory: Memory) -> list[str]:
    """Return a line for each memory that was merged with this one or replaced by it."""
    links = tables.links.of_memory(memory.id)
    similar = [link for link in links if link.relation in _SIMILAR_CONTENT]
    ids = {end for link in similar for end in (link.from_id, link.to_id)} - {memory.id}
    return [
        f"memory {other.id} ({other.status}) says much the same; forget it too if it should go"
        for other in tables.memories.get_many(sorted(ids))
        if other.status in (Status.ARCHIVED, Status.SUPERSEDED)
    ]


def _forget_source(tables: Tables, memory: Memory, source: Source, removed: Counter[str]) -> str:
    """Delete or blank a source, count that in *removed*; return why it is kept, or ''."""
    others = tables.sources.evidence_in(source.id)
    if not others and source.kind is SourceKind.MANUAL:
        tables.sources.delete(source.id)  # it was written for this memory alone
        removed["sources"] += 1
        return ""
    content = source.content
    quoting: set[str] = set()
    for evidence in memory.evidence:
        if evidence.source_id != source.id:
            continue
        for start in _occurrences(content, evidence.quote):
            span = replace(evidence, start=start, end=start + len(evidence.quote))
            overlapping = [other for other in others if _overlap(span, other)]
            quoting |= {other.memory_id for other in overlapping}
            for first, last in _unquoted_parts(span, overlapping):
                content = content[:first] + BLANK * (last - first) + content[last:]
    if content != source.content:
        content = _make_unique(tables, source, content)
        tables.sources.overwrite(source.id, content, sha256_hex(content))
    if quoting:
        return f"another memory quotes the same words: {', '.join(sorted(quoting))}"
    if content == source.content:
        return "nothing to blank"
    removed["source spans blanked"] += 1
    return ""


def _make_unique(tables: Tables, source: Source, content: str) -> str:
    """
    Return *content* with some redaction characters varied, so that no source equals it.

    Two sources may differ only in words that were blanked, and the hash of a source is unique.
    """
    blanks = [at for at, char in enumerate(content) if char == BLANK][:MAX_SHADED]
    unique, number = content, 0
    while True:
        same_content = tables.sources.with_hash(sha256_hex(unique), source.kind)
        if same_content is None or same_content.id == source.id:
            return unique
        number += 1
        shaded = {at for bit, at in enumerate(blanks) if number >> bit & 1}
        unique = "".join(SHADE if at in shaded else char for at, char in enumerate(content))


def _occurrences(content: str, quote: str) -> Iterator[int]:
    at = content.find(quote)
    while at >= 0:
        yield at
        at = content.find(quote, at + len(quote))


def _unquoted_parts(span: Evidence, others: list[Evidence]) -> Iterator[tuple[int, int]]:
    at = span.start
    for other in sorted(others, key=lambda other: other.start):
        if other.start > at:
            yield at, min(other.start, span.end)
        at = max(at, other.end)
    if at < span.end:
        yield at, span.end


def _overlap(first: Evidence, second: Evidence) -> bool:
    return first.start < second.end and second.start < first.end


def drop_partitions(tables: Tables, owner: Owner) -> None:
    """Remove everything of an owner from the indexes."""
    for kind in ItemKind:
        tables.word_index.drop_partition(kind, owner)


def delete_captures(tables: Tables, events: Sequence[tuple[str, str | None]]) -> int:
    """Remove captures and their sources, except sources that others use; return how many."""
    for event_id, _ in events:
        tables.agents.delete_event(event_id)
    for source_id in {source_id for _, source_id in events if source_id}:
        if not tables.sources.evidence_in(source_id) and not tables.sources.events_of(source_id):
            tables.sources.delete(source_id)
    return len(events)
