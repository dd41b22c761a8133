"""
Link what a person or an agent wrote to the memories that it contradicts.

A captured candidate is compared when its session is consolidated. A memory that was written
directly waits in the same table, and is compared here, in the background and by `drain`. It is
only linked: what somebody wrote is never superseded or archived because of another statement.
Only parsed contradictions count: nobody reviews these links, so they must be right.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from recollect.domain.link import Relation
from recollect.domain.memory import Status
from recollect.engine.audited_writer import ENGINE, AuditedWriter
from recollect.engine.consolidate import find_contradictions, parse_ahead
from recollect.engine.consolidate_stage import embed_memories
from recollect.engine.engine_context import EngineContext
from recollect.engine.neighbours import NeighbourReader
from recollect.store.protocol import Tables

MEMORIES_PER_BATCH = 25  # so that the write lock is never held for long


def link_written_in_steps(engine: EngineContext) -> Iterator[int]:
    """Compare pending written memories, some in each transaction; yield how many."""
    while True:
        with engine.store.read() as tables:
            contents = tables.jobs.unconsolidated_writings(MEMORIES_PER_BATCH)
        if not contents:
            return
        for text in contents.values():
            parse_ahead(text)  # before the write lock is taken
        model_id = embed_memories(engine, list(contents))
        engine.store.write(partial(_link_written, engine, list(contents), model_id))
        yield len(contents)


def _link_written(
    engine: EngineContext, memory_ids: Sequence[str], model_id: int | None, tables: Tables
) -> None:
    """Link those of some memories that no other worker has compared meanwhile."""
    waiting = tables.jobs.unconsolidated_among(memory_ids)
    memories = [
        memory
        for memory in tables.memories.get_many([id_ for id_ in memory_ids if id_ in waiting])
        if memory.status is Status.ACTIVE
    ]
    writer = AuditedWriter(tables, engine.clock, ENGINE)
    neighbours = NeighbourReader(tables, model_id, single_user=engine.policy.single_user)
    neighbours.read_ahead(memories)
    for memory in memories:
        contradictions = find_contradictions(memory, neighbours.of(memory))
        linked = tables.links.conflicts([memory.id]).get(memory.id, ()) if contradictions else ()
        for other, why in contradictions:
            if other.id not in linked:
                writer.link(memory.id, Relation.CONTRADICTS, other.id, note=why)
    tables.jobs.mark_consolidated(*memory_ids)
