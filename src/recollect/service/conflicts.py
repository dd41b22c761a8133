"""List the memories that contradict each other, and settle a conflict."""

from recollect.domain.block import BlockAuthor
from recollect.domain.link import Relation
from recollect.domain.maintenance import ConflictPair
from recollect.domain.memory import Memory, Status
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service.keep_candidate import activate
from recollect.service.services import Services
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.wire.requests.memories import ListConflictsRequest, SettleConflictRequest

CURRENT = frozenset({Status.ACTIVE, Status.CONTRADICTED, Status.INBOX})


def list_conflicts(services: Services, request: ListConflictsRequest) -> list[ConflictPair]:
    """Return the pairs of current memories that contradict each other, each pair once."""
    with services.store.read() as tables:
        # A pair may be linked in both directions.
        links = tables.links.contradictions(2 * request.limit)
        ids = {memory_id for link in links for memory_id in (link.from_id, link.to_id)}
        memories = {memory.id: memory for memory in tables.memories.get_many(sorted(ids))}
    pairs: dict[frozenset[str], ConflictPair] = {}
    for link in links:
        ends = (memories[link.from_id], memories[link.to_id])
        older, newer = sorted(ends, key=lambda memory: (memory.observed_at, memory.id))
        pair = ConflictPair(memory=older, other=newer, noticed_at=link.created_at)
        pairs.setdefault(frozenset((older.id, newer.id)), pair)
    return list(pairs.values())[: request.limit]


def settle_conflict(services: Services, request: SettleConflictRequest) -> list[Memory]:
    """Keep one of two contradicting memories, or both."""
    why = redact(request.reason).text

    def write(tables: Tables) -> list[Memory]:
        memory = require_memory(tables, request.memory_id)
        other = require_memory(tables, request.other_id)
        _require_conflict(tables, memory, other)
        writer = AuditedWriter(tables, services.clock, BlockAuthor.USER)
        if request.both:
            tables.links.remove(_contradictions(tables, memory, other))
            writer.link(memory.id, Relation.RELATED_TO, other.id, note="both are true")
            return [
                _activate(services, writer, memory, why),
                _activate(services, writer, other, why),
            ]
        # The other one first: of two facts with one key only one can be active.
        other = writer.supersede(other, memory, why)
        return [_activate(services, writer, memory, why, superseded=(other.id,)), other]

    return services.store.write(write)


def _require_conflict(tables: Tables, memory: Memory, other: Memory) -> None:
    if memory.id == other.id:
        raise InvalidInput("a memory does not contradict itself; name two memories")
    for one_end in (memory, other):
        if one_end.status not in CURRENT:
            raise IllegalTransition(
                f"memory {one_end.id} is {one_end.status} by now; the conflict is settled"
            )
    if other.id not in tables.links.conflicts([memory.id]).get(memory.id, ()):
        raise IllegalTransition(f"{memory.id} and {other.id} do not contradict each other")


def _contradictions(tables: Tables, memory: Memory, other: Memory) -> tuple[str, ...]:
    """Return the ids of the links that say that two memories contradict each other."""
    return tuple(
        link.id
        for link in tables.links.of_memory(memory.id)
        if link.relation is Relation.CONTRADICTS and other.id in (link.from_id, link.to_id)
    )


def _activate(
    services: Services,
    writer: AuditedWriter,
    memory: Memory,
    why: str,
    *,
    superseded: tuple[str, ...] = (),
) -> Memory:
    if memory.status is Status.ACTIVE:
        return memory
    single_user = services.settings.single_user
    return activate(writer, memory, why, single_user=single_user, superseded=superseded)[0]
