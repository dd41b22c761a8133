"""
Review candidates: promote, reject, undo, one or many at once, and consolidate on request.

A bulk change is one transaction, all or none, and a snapshot of the store is taken before it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from recollect.domain.link import Relation
from recollect.domain.memory import Change, Memory, Status
from recollect.domain.upkeep import Waiting
from recollect.engine.records import Records, in_place_of
from recollect.errors import IllegalTransition, InvalidInput
from recollect.service import inputs
from recollect.service.deps import Deps
from recollect.service.read import Question, owners_of
from recollect.service.write import known
from recollect.store.protocol import Tables
from recollect.text.redact import redact

BULK = 20  # from here on a snapshot is taken first
MOST_AT_ONCE = 10_000
USER = "user"

Review = Callable[[Records, Memory], Memory]


def promote(
    deps: Deps, memory_ids: object, *, reason: object = "", replaces: bool = False, by: str = USER
) -> list[Memory]:
    """Make candidates active; *replaces*: what they speak against is superseded by them."""
    why = _reason(reason)

    def one(records: Records, memory: Memory) -> Memory:
        rivals = _rivals(records.tables, memory) if replaces else []
        told = "; ".join([why] * bool(why) + [in_place_of(other.id) for other in rivals])
        promoted = records.move(memory, Status.ACTIVE, told)
        for other in rivals:
            records.link(memory.id, Relation.SUPERSEDES, other.id)
            records.move(other, Status.SUPERSEDED, f"replaced by {memory.id}")
        return promoted

    return _each(deps, memory_ids, one, by=by)


def reject(deps: Deps, memory_ids: object, *, reason: object = "", by: str = USER) -> list[Memory]:
    """Turn candidates down: they are archived with the reason, not deleted."""
    why = _reason(reason) or "rejected"

    def one(records: Records, memory: Memory) -> Memory:
        if memory.status is not Status.INBOX:
            raise IllegalTransition(
                f"memory {memory.id} is {memory.status}; only a candidate in the inbox can be "
                "rejected. To remove it, use forget"
            )
        return records.move(memory, Status.ARCHIVED, why)

    return _each(deps, memory_ids, one, by=by)


def undo(deps: Deps, memory_ids: object, *, by: str = USER) -> list[Memory]:
    """Take back the last change of status of each, and what it changed along with it."""

    def one(records: Records, memory: Memory) -> Memory:
        last = _last_move(records.tables, memory)
        if last is None or last.before is None:
            raise IllegalTransition(f"memory {memory.id} has not changed since it was written")
        for link in records.tables.links.of_memory(memory.id):
            if link.relation is Relation.SUPERSEDES and in_place_of(link.to_id) in last.reason:
                _restore(records, link.to_id, memory.id)
        was = f"{last.after}: {last.reason}" if last.reason else f"{last.after}"
        return records.move(memory, last.before, f"undone: was {was}")

    return _each(deps, memory_ids, one, by=by)


def consolidate(deps: Deps, memory_ids: object = None) -> Mapping[str, int]:
    """Compare candidates with what is known and apply policy; all of the inbox where None."""
    # As in jobs.py: loaded by those who consolidate, not by everybody.
    from recollect.engine.settle import embedded, settle

    with deps.store.read() as tables:
        if memory_ids is None:
            ids = tables.memories.ids_with_status(Status.INBOX)
        else:
            ids = [known(tables, one).id for one in _listed(memory_ids)]
    counts: dict[str, int] = {}
    for start in range(0, len(ids), BULK):
        batch = ids[start : start + BULK]
        work = partial(settle, deps.clock, batch, embedded(deps.desk, batch))
        done = deps.store.write(work)
        for name, count in done.items():
            counts[name] = counts.get(name, 0) + count
    return counts


def waiting(deps: Deps, asked: Question) -> list[Waiting]:
    """Return the candidates a question admits, each with what its reviewer needs to know."""
    with deps.store.read() as tables:
        found = tables.memories.newest(owners_of(tables, asked), asked.filters, asked.limit)
        rivals = tables.links.conflicts([memory.id for memory in found])
        return [_waiting(tables, memory, rivals.get(memory.id, ())) for memory in found]


def _waiting(tables: Tables, memory: Memory, rivals: Sequence[str]) -> Waiting:
    changes = tables.memories.changes(memory.id)
    said = memory.evidence[0] if memory.evidence else None
    return Waiting(
        memory=memory,
        why=next((one.reason for one in reversed(changes) if one.before in (None, one.after)), ""),
        rivals=tuple(tables.memories.get_many(rivals)),
        source=_source_of(tables, memory),
        voice=said.voice if said else "",
    )


def _source_of(tables: Tables, memory: Memory) -> str:
    """Return what the capture a candidate came from was called, and when it was said."""
    event = tables.sources.event(str(memory.metadata.get("event", "")))
    name = event.title if event else ""
    return f"{name or memory.source_kind.value}, {memory.observed_at:%Y-%m-%d}"


def _each(deps: Deps, memory_ids: object, one: Review, *, by: str) -> list[Memory]:
    listed = _listed(memory_ids)
    if len(listed) >= BULK:
        deps.store.snapshot("bulk")

    def write(tables: Tables) -> list[Memory]:
        records = Records(tables, deps.clock, by)
        return [one(records, known(tables, memory_id)) for memory_id in listed]

    return deps.store.write(write)


def _rivals(tables: Tables, memory: Memory) -> list[Memory]:
    return tables.memories.get_many(tables.links.conflicts([memory.id]).get(memory.id, ()))


def _restore(records: Records, memory_id: str, replaced_by: str) -> None:
    """Bring back what was superseded by a memory whose promotion is undone."""
    other = records.tables.memories.get(memory_id)
    if other is None or other.status is not Status.SUPERSEDED:
        return
    last = _last_move(records.tables, other)
    if last is not None and last.before is not None:
        records.move(other, last.before, f"{replaced_by} was undone")


def _last_move(tables: Tables, memory: Memory) -> Change | None:
    moves = [
        change for change in tables.memories.changes(memory.id) if change.before != change.after
    ]
    return moves[-1] if moves else None


def _listed(memory_ids: object) -> list[str]:
    if isinstance(memory_ids, str | Memory):
        memory_ids = [memory_ids]
    if not isinstance(memory_ids, Sequence) or len(memory_ids) > MOST_AT_ONCE:
        raise InvalidInput(f"name a memory by its id, or up to {MOST_AT_ONCE:,} in a list")
    ids = [one.id if isinstance(one, Memory) else one for one in memory_ids]
    if not all(isinstance(one, str) for one in ids):
        raise InvalidInput("name memories by their ids: a list of texts")
    return list(dict.fromkeys(ids))


def _reason(reason: object) -> str:
    return redact(inputs.text_of("reason", reason, most=inputs.MAX_SUMMARY)).text
