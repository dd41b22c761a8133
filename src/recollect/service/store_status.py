"""
Report the state of the store: what is in it, what waits, which programs used it.

`recollect status` and the pages ask for it, so it loads little: nothing here changes anything.
"""

from datetime import datetime, timedelta

from recollect.domain.block import ProposalState
from recollect.domain.maintenance import (
    ClientActivity,
    EmbedderState,
    PendingCounts,
    StoreHealth,
    StoreStatus,
)
from recollect.domain.memory import Status
from recollect.errors import EmbedderUnavailable, StoreUnavailable
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.maintenance import (
    CountPendingRequest,
    GetStatusRequest,
    ListClientsRequest,
)

FLUSH_S = 0.5  # how long to wait until the latest retrievals are counted
STATUS_DAYS = 14


def get_status(services: Services, request: GetStatusRequest) -> StoreStatus:
    """Return what is in the store and the progress of its indexes."""
    embedder = _embedder_name(services)
    with services.store.read() as tables:
        by_status = tables.memories.count_by_status()
        by_day = tables.memories.count_by_day(_last_days(services.clock.now()))
        embedded = dict(tables.embeddings.count_by_model())
        jobs = tables.jobs.count_by_state()
        next_job_at = tables.jobs.next_run_at()
        extracted, rejected = tables.memories.count_extracted()
        contradictions = tables.links.count_conflicts()
        serving = tables.embeddings.models_in_use().serving
        unfinished = tuple(work.describe() for work in tables.unfinished_work.all())
    items = sum(embedded.values())
    embedded.pop("", None)
    return StoreStatus(
        path=services.store.location,
        schema=services.store.schema_version(),
        bytes=services.store.size_bytes(),
        counts=services.store.row_counts() if request.rows else {},
        memories_by_status=by_status,
        memories_by_day={f"{day:%Y-%m-%d}": count for day, count in by_day.items()},
        embedder=embedder,
        serving=serving.name if serving else "",
        embedded=embedded,
        waiting=items - embedded.get(embedder, 0),
        jobs=jobs,
        next_job_at=next_job_at if next_job_at and next_job_at > services.clock.now() else None,
        extracted=extracted,
        rejected=rejected,
        contradictions=contradictions,
        unfinished=unfinished,
        read_only=services.store.read_only_reason,
        is_encrypted=services.store.file is not None and services.store.file.is_encrypted,
    )


def _last_days(now: datetime) -> list[datetime]:
    """Return the beginnings of the last days, of today last."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [today - timedelta(days=ago) for ago in reversed(range(STATUS_DAYS))]


def count_pending(services: Services, request: CountPendingRequest) -> PendingCounts:
    """Return how much waits for a person; every count is read from an index."""
    with services.store.read() as tables:
        jobs = dict(tables.jobs.count_open())
        return PendingCounts(
            inbox=tables.memories.count_with_status(Status.INBOX),
            conflicts=tables.links.count_conflicts(),
            proposals=tables.blocks.count_proposals(ProposalState.PENDING),
            failed_jobs=jobs.pop("parked", 0),
            jobs=sum(jobs.values()),
        )


def list_clients(services: Services, request: ListClientsRequest) -> list[ClientActivity]:
    """Return the programs that stored or asked something, the most recently seen first."""
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        return tables.clients.latest(limit=request.limit)


def check_health(services: Services) -> StoreHealth:
    """Check the store without loading the embedder; raises `StoreError`."""
    if services.store.file is not None and not services.store.file.path.exists():
        # An open file can still be read after it was deleted, but writes to it are lost.
        raise StoreUnavailable(
            f"{services.store.location} is no longer there; put it back, or stop this program soon"
        )
    with services.store.read() as tables:
        jobs = tables.jobs.count_open()
        next_job_at = tables.jobs.next_run_at()
        waiting, dimension = pending_items(services, tables)
    schema = services.store.schema_version()
    return StoreHealth(
        schema=schema,
        jobs=jobs,
        waiting=waiting,
        dimension=dimension,
        read_only=services.store.read_only_reason,
        next_job_at=next_job_at,
    )


def pending_items(services: Services, tables: Tables) -> tuple[int, int | None]:
    """Return how many items the wanted embedder must embed, and its last known dimension."""
    embedder = services.embedder_status()
    if embedder.state is EmbedderState.OFF:
        return 0, None
    model_id, dimension = tables.embeddings.latest_model(embedder.name) or (None, None)
    return tables.embeddings.count_pending(model_id), dimension


def _embedder_name(services: Services) -> str:
    try:
        indexer = services.indexer()
        return "none" if indexer is None else indexer.target_embedder().name
    except EmbedderUnavailable:
        return "none that works"
