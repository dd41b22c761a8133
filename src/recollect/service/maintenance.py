"""
Maintain the store: verification, the work of a worker, scheduled maintenance.

Which contains which: `drain` runs every job that is due, embeds every pending item, prunes the
retrieval log and deletes expired documents. `run_maintenance` embeds, prunes, and reports
duplicates and stale facts; it never decides about them, and each run is recorded as an event.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.maintenance import (
    DuplicatePair,
    EmbedderState,
    MaintenanceReport,
    Verification,
)
from recollect.domain.memory import HALF_LIFE, Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Owner, Scope
from recollect.errors import IllegalTransition
from recollect.models.model_names import LOCAL_BACKENDS
from recollect.service.documents import delete_expired
from recollect.service.finish_work import finish_in_steps
from recollect.service.jobs import run_jobs_in_steps
from recollect.service.services import Services
from recollect.service.store_status import pending_items
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.wire.requests.captures import GetAdviceRequest
from recollect.wire.requests.maintenance import (
    RebuildIndexesRequest,
    RunMaintenanceRequest,
    VerifyRequest,
)
from recollect.wire.requests.memories import ConfirmMemoryRequest
from recollect.wire.requests.recollect import DrainRequest

PRUNE_BATCH = 500  # retrievals, so that the write lock is never held for long
MIN_PRUNED = 100  # without being asked
STALE_HALF_LIVES = 2  # without a confirmation
STALE_TYPES = frozenset(HALF_LIFE) - {MemoryType.EPISODE}


def verify(services: Services, request: VerifyRequest) -> Verification:
    """Check the file, the rules and the indexes; change nothing."""
    names, problems = services.store.check()
    return Verification(checks=tuple(names), problems=tuple(problems))


def rebuild_indexes(services: Services, request: RebuildIndexesRequest) -> Mapping[str, int]:
    """Rebuild every index from the memories; return the number of items of each."""
    return services.store.rebuild_indexes()


def drain(services: Services, request: DrainRequest) -> int:
    """Do everything that is due now; return how many jobs and items were processed."""
    return sum(drain_in_steps(services))


def drain_in_steps(services: Services) -> Iterator[int]:
    """Do everything that is due now, yielding how many jobs or items each step processed."""
    for _ in run_jobs_in_steps(services):
        yield 1
    yield from finish_in_steps(services)
    yield from _embed_in_steps(services)
    delete_expired(services)
    while prune_retrievals(services):
        pass  # nobody waits for this, so it is not counted


def embed_batch(services: Services) -> int:
    """Embed a batch of pending items; return 0 if there are none or the embedder is paused."""
    if services.embedder_status().state is EmbedderState.OFF:
        return 0
    with services.store.read() as tables:
        waiting, _ = pending_items(services, tables)
        serving = tables.embeddings.models_in_use().serving
    # The last items of a migration may have been forgotten: then the new model only takes over.
    is_migrating = serving is not None and serving.name != services.embedder_status().name
    # Only now: the indexer loads NumPy, and asks a remote embedder for its dimension.
    indexer = services.indexer() if waiting or is_migrating else None
    return 0 if indexer is None or indexer.is_paused else indexer.embed_batch()


def prune_retrievals(services: Services, *, minimum: int = MIN_PRUNED) -> int:
    """
    Remove a batch of logged retrievals that are too old or too many; return how many.

    Nothing is removed before there are *minimum*, to write once per batch, not once per search.
    """
    if services.store.read_only_reason:
        return 0
    settings = services.settings
    days, megabytes = settings.keep_retrievals_days, settings.keep_retrievals_mb
    before = services.clock.now() - timedelta(days=days) if days else None
    max_bytes = megabytes * 1_000_000 if megabytes else None
    with services.store.read() as tables:
        prunable = tables.retrievals.count_prunable(
            before=before, max_bytes=max_bytes, limit=minimum
        )
    if prunable < minimum:
        return 0
    return services.store.write(
        lambda tables: tables.retrievals.prune(
            before=before, max_bytes=max_bytes, limit=PRUNE_BATCH
        )
    )


def warm_up(services: Services) -> bool:
    """
    Load what a server needs for its first requests.

    Return whether the embedder runs on this machine, and so is loaded.
    """
    from recollect.service import action_advice  # loading it is slow, and only servers warm up

    # A hook at a tool call waits a tenth of a second for its line. This logs nothing.
    any_call = GetAdviceRequest(tool="Bash", arguments={"command": "true"})
    action_advice.advice(services, any_call)
    if services.embedder_status().backend not in LOCAL_BACKENDS:
        return False
    indexer = services.indexer()
    if indexer is not None:
        indexer.warm_up()
    return indexer is not None


def run_maintenance(services: Services, request: RunMaintenanceRequest) -> MaintenanceReport:
    """Do scheduled maintenance; return what is left for a person to decide."""
    now = services.clock.now()
    embedded = sum(_embed_in_steps(services))  # first: what is finished next would embed it too
    for _ in finish_in_steps(services):
        pass
    embedded += sum(_embed_in_steps(services))
    pruned = sum(iter(lambda: prune_retrievals(services, minimum=1), 0))
    delete_expired(services)
    stale_before = {kind: now - STALE_HALF_LIVES * HALF_LIFE[kind] for kind in STALE_TYPES}
    with services.store.read() as tables:
        duplicates = _find_duplicates(services, tables, request.limit)
        stale = tables.memories.unconfirmed(stale_before, request.limit)
        abandoned = tables.jobs.count_expired_leases(now)
    outcome = (
        f"{embedded} embedded, {len(duplicates)} pairs of duplicates, {len(stale)} stale, "
        f"{abandoned} jobs without a worker"
        + (f", {pruned} old retrievals removed" if pruned else "")
    )
    _record_run(services, outcome, now)
    return MaintenanceReport(
        embedded=embedded,
        duplicates=duplicates,
        stale=tuple(stale),
        taken_over=abandoned,
        pruned=pruned,
    )


def confirm_memory(services: Services, request: ConfirmMemoryRequest) -> Memory:
    """Record that an active memory is still true: it counts as fresh again."""

    def write(tables: Tables) -> Memory:
        memory = require_memory(tables, request.memory_id)
        if memory.status is not Status.ACTIVE:
            raise IllegalTransition(
                f"memory {memory.id} is {memory.status}; only an active one can be confirmed"
            )
        now = services.clock.now()
        confirmed = replace(memory, confirmed_at=now, updated_at=now)
        tables.memories.update_mutable_fields(confirmed)
        return confirmed

    return services.store.write(write)


def _embed_in_steps(services: Services) -> Iterator[int]:
    indexer = services.indexer()
    while indexer is not None and (embedded := indexer.embed_batch()):
        yield embedded


def _find_duplicates(services: Services, tables: Tables, limit: int) -> tuple[DuplicatePair, ...]:
    # Imported here, because only maintenance and the worker need the rules of consolidation.
    from recollect.engine.consolidate import Duplicate, MergeInto, consolidate
    from recollect.engine.neighbours import NeighbourReader

    indexer = services.indexer()
    model_id = None if indexer is None else indexer.model_id(tables)
    active = Filters(statuses=frozenset({Status.ACTIVE}))
    pairs: dict[frozenset[str], DuplicatePair] = {}
    for memory in tables.memories.newest(None, active, limit):
        if memory.type is MemoryType.EPISODE:
            continue
        candidates = NeighbourReader(tables, model_id).of(memory)
        similar = [other for other in candidates if other.memory.status is Status.ACTIVE]
        match consolidate(memory, similar):
            case Duplicate(other) | MergeInto(other):
                pairs.setdefault(frozenset({memory.id, other.id}), DuplicatePair(memory, other))
    return tuple(pairs.values())


def _record_run(services: Services, outcome: str, at: datetime) -> None:
    event = Event(
        id=services.clock.new_id(),
        trigger=Trigger.MAINTENANCE,
        source_id=None,
        owner=Owner(Scope.GLOBAL, ""),
        state=EventState.DONE,
        outcome=outcome,
        created_at=at,
        updated_at=at,
    )
    services.store.write(lambda tables: tables.sources.add_event(event))
