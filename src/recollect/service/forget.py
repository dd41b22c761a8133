"""
Forget a memory: out of every table and index, with a receipt.

What the memory rested on goes too: a source nothing else rests on is deleted; in one that others
rest on, the forgotten span is blanked unless another memory quotes the same words. Questions that
met the memory lose their text. Deleted content is overwritten in the file, and the write-ahead log
is emptied.
"""

from recollect.clock import Clock
from recollect.domain.memory import Memory
from recollect.domain.source import Evidence, Source
from recollect.domain.upkeep import Receipt
from recollect.service.deps import Deps
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex

BLANK = "█"


def forget(deps: Deps, memory_id: object) -> Receipt:
    """Remove a memory for good; say what went and what could not."""
    receipt = deps.store.write(lambda tables: _forget(tables, memory_id, deps.clock))
    kept = list(receipt.kept)
    if not deps.store.shrink_log():
        kept.append(
            "the write-ahead log could not be emptied while another process reads; it will be when "
            "that process is done"
        )
    snapshots = sorted(deps.store.path.parent.glob(f"{deps.store.path.name}.before-*"))
    kept += [f"a copy from before a migration may hold it: {path}" for path in snapshots]
    return Receipt(
        memory_id=receipt.memory_id,
        forgotten_at=receipt.forgotten_at,
        removed=receipt.removed,
        kept=tuple(kept),
    )


def _forget(tables: Tables, memory_id: object, clock: Clock) -> Receipt:
    memory = known(tables, memory_id)
    sources = tables.sources.of_memory(memory.id)
    scrubbed = tables.retrievals.scrub(memory.id, memory.content)
    removed = dict(tables.memories.delete(memory.id))
    removed["retrieval queries blanked"] = scrubbed
    kept: list[str] = []
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


def _forget_source(tables: Tables, memory: Memory, source: Source) -> str:
    others = tables.sources.evidence_in(source.id)
    if not others:
        tables.sources.delete(source.id)
        return "sources"
    content = source.content
    shared = False
    for piece in (one for one in memory.evidence if one.source_id == source.id):
        if any(_overlap(piece, other) for other in others):
            shared = True
            continue
        content = content[: piece.start] + BLANK * (piece.end - piece.start) + content[piece.end :]
    if content != source.content:
        tables.sources.blank(source.id, content, sha256_hex(content))
        return "source spans blanked"
    return "kept, another memory quotes the same words" if shared else "kept, nothing to blank"


def _overlap(one: Evidence, other: Evidence) -> bool:
    return one.start < other.end and other.start < one.end
