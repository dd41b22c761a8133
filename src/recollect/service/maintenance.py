"""
Scheduled maintenance: embed what waits, prune the log, point out twins, ask about stale facts.

It suggests and never decides: twins stay two and a stale fact stays active until a person says
otherwise. Each run leaves an event, since maintenance is one of the four ways things happen.
"""

from dataclasses import replace
from datetime import datetime

from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.maintenance import MaintenanceReport, Twins
from recollect.domain.memory import HALF_LIFE, Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Owner, Scope
from recollect.errors import IllegalTransition
from recollect.service import inputs
from recollect.service.services import Services
from recollect.service.upkeep import embed_in_steps, prune_log
from recollect.service.write import known
from recollect.store.protocol import Tables

FADED = 2  # half-lives without a word: a quarter as fresh as it was
MAY_FADE = frozenset(HALF_LIFE) - {MemoryType.EPISODE}


def maintain(services: Services, *, limit: object = 100) -> MaintenanceReport:
    """Do what can be done without a person; return what cannot."""
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    now = services.clock.now()
    embedded = sum(embed_in_steps(services))
    pruned = sum(iter(lambda: prune_log(services, slack=1), 0))
    with services.store.read() as tables:
        twins = _twins(services, tables, most)
        stale = tables.memories.unconfirmed(_faded_before(now), most)
        silent = tables.jobs.count_expired_leases(now)
    done = MaintenanceReport(
        embedded=embedded, twins=twins, stale=tuple(stale), taken_over=silent, pruned=pruned
    )
    outcome = (
        f"{embedded} embedded, {len(twins)} pairs of twins, {len(stale)} stale, "
        f"{silent} jobs without a worker" + (f", {pruned} old retrievals removed" * bool(pruned))
    )
    event = Event(
        id=services.clock.new_id(),
        trigger=Trigger.MAINTENANCE,
        source_id=None,
        owner=Owner(Scope.GLOBAL, ""),
        state=EventState.DONE,
        outcome=outcome,
        created_at=now,
        updated_at=now,
    )
    services.store.write(lambda tables: tables.sources.add_event(event))
    return done


def confirm(services: Services, memory_id: object) -> Memory:
    """Note that an active memory is still true: it counts as fresh again."""

    def write(tables: Tables) -> Memory:
        memory = known(tables, memory_id)
        if memory.status is not Status.ACTIVE:
            raise IllegalTransition(
                f"memory {memory.id} is {memory.status}; only an active one can be confirmed"
            )
        now = services.clock.now()
        confirmed = replace(memory, confirmed_at=now, updated_at=now)
        tables.memories.update_status(confirmed)
        return confirmed

    return services.store.write(write)


def _faded_before(now: datetime) -> dict[MemoryType, datetime]:
    """Return, for each type, before when a memory must have been confirmed to count as stale."""
    return {kind: now - FADED * HALF_LIFE[kind] for kind in MAY_FADE}


def _twins(services: Services, tables: Tables, most: int) -> tuple[Twins, ...]:
    # Loaded by those who maintain, not by everybody.
    from recollect.engine.consolidate import Duplicate, MergeInto, consolidate
    from recollect.engine.consolidate_stage import neighbours

    indexer = services.indexer()
    model_id = None if indexer is None else indexer.model_id(tables)
    newest = tables.memories.newest(None, Filters(statuses=frozenset({Status.ACTIVE})), most)
    found: dict[frozenset[str], Twins] = {}
    for memory in newest:
        if memory.type is MemoryType.EPISODE:
            continue
        near = [
            one
            for one in neighbours(tables, memory, model_id)
            if one.memory.status is Status.ACTIVE
        ]
        match consolidate(memory, near):
            case Duplicate(other) | MergeInto(other):
                found.setdefault(frozenset({memory.id, other.id}), Twins(memory, other))
    return tuple(found.values())
