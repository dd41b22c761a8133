"""
`GET /health`: the state of the server, and which store it serves.

It reads a few rows and calls no model, so it is cheap to poll. `status` is "degraded", with
reasons, if the store cannot be read (then the HTTP status is 503), the embedder failed, jobs are
parked, or the background worker does not run.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Response

from recollect import __version__
from recollect.app.background_worker import BackgroundState, BackgroundWorker
from recollect.app.local_recollect import LocalRecollect
from recollect.domain.maintenance import EmbedderStatus, StoreHealth
from recollect.errors import StoreError
from recollect.wire import health_models as models

UNREADABLE_STORE = StoreHealth(schema=0, jobs={}, waiting=0, dimension=None)


@dataclass(frozen=True, kw_only=True)
class HealthSnapshot:
    """The state of the store, the embedder and the background worker at one moment."""

    path: str
    embedder: EmbedderStatus
    store: StoreHealth = field(default=UNREADABLE_STORE)
    store_error: str = ""  # why the store cannot be read
    worker: BackgroundState = BackgroundState.IDLE
    worker_error: str = ""


def health_router(
    rec: LocalRecollect,
    background: BackgroundWorker,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> APIRouter:
    """Return the router with `GET /health`. *clock* returns seconds."""
    router = APIRouter(tags=["health"])
    started = clock()

    @router.get("/health", responses={503: {"model": models.HealthReport}})
    def health(response: Response) -> models.HealthReport:
        """Return the state of the server, and which store it serves."""
        snapshot = take_snapshot(rec, background)
        response.status_code = 503 if snapshot.store_error else 200
        return health_response(snapshot, uptime_s=clock() - started)

    return router


def take_snapshot(rec: LocalRecollect, background: BackgroundWorker) -> HealthSnapshot:
    """Read the state of the store, the embedder and the worker."""
    store, store_error = UNREADABLE_STORE, ""
    try:
        store = rec.engine.check_health()
    except StoreError as error:
        store_error = str(error)
    return HealthSnapshot(
        path=str(rec.path.absolute()),
        embedder=rec.engine.embedder_status(),
        store=store,
        store_error=store_error,
        worker=background.state,
        worker_error=background.last_error,
    )


def health_response(snapshot: HealthSnapshot, *, uptime_s: float) -> models.HealthReport:
    """Return the response body for *snapshot*."""
    reasons = list(degraded_reasons(snapshot))
    return models.HealthReport(
        status="degraded" if reasons else "ok",
        embedding_backend=snapshot.embedder.backend,
        embedding_dimension=snapshot.embedder.dimension or snapshot.store.dimension,
        database_path=snapshot.path,
        reasons=reasons,
        version=__version__,
        pid=os.getpid(),
        uptime_s=round(uptime_s, 3),
        store=models.StoreReport(
            ok=not snapshot.store_error,
            schema=None if snapshot.store_error else snapshot.store.schema,
        ),
        queue=models.QueueReport(**snapshot.store.jobs),
        embedder=models.EmbedderReport(
            name=snapshot.embedder.name,
            state=snapshot.embedder.state.value,
            trouble=snapshot.embedder.trouble,
            waiting=snapshot.store.waiting,
        ),
        worker=models.WorkerReport(state=snapshot.worker.value, last_error=snapshot.worker_error),
    )


def degraded_reasons(snapshot: HealthSnapshot) -> Iterator[str]:
    """Yield a sentence for each reason why the server is degraded."""
    if snapshot.store_error:
        yield f"the store cannot be read: {snapshot.store_error}"
    if snapshot.embedder.trouble:
        yield f"the embedder failed, search uses keywords only: {snapshot.embedder.trouble}"
    if parked := snapshot.store.jobs.get("parked", 0):
        yield f"jobs parked after their last attempt: {parked}; see: recollect jobs list"
    if snapshot.worker is BackgroundState.STOPPED:
        yield "the background worker is stopped"
    elif snapshot.worker_error:
        yield f"the background worker failed and will retry: {snapshot.worker_error}"
