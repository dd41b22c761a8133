"""
The state of the server: `GET /health` for people, `/ready` and `/live` for orchestrators.

`/health` reads a few rows and calls no model, so it is cheap to poll. `status` is "degraded", with
reasons, if the store cannot be read, the embedder failed, jobs are parked, or the background worker
does not run. The HTTP status is 503 if the server should get no requests: the store cannot be read,
has not answered for a while, or the server is stopping. `/ready` has the same status and no
details; `/live` touches no store.

They answer even if all threads of the server are busy: they have a thread of their own, and if the
store does not answer in time, `/health` returns what it read last.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import field, replace

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from recollect import __version__
from recollect.app.background_worker import BackgroundState, BackgroundWorker
from recollect.app.local_recollect import LocalRecollect, store_location
from recollect.domain.maintenance import EmbedderState, EmbedderStatus, StoreHealth
from recollect.errors import StoreError
from recollect.lazy_dataclass import dataclass
from recollect.server.probes import LIVE, READY
from recollect.server.request_observer import ServerLifecycle
from recollect.wire import health_models as models

HEALTH = "/health"
READ_TIMEOUT_S = 1.0  # for the store
MAX_AGE_S = 10.0  # of what was read last: a store that does not answer for longer is not there
NEVER_READ = "it has not answered since the server started"
UNREADABLE_STORE = StoreHealth(schema=0, jobs={}, waiting=0, dimension=None)
UNKNOWN_EMBEDDER = EmbedderStatus(
    backend="", name="", state=EmbedderState.NOT_LOADED, dimension=None
)


@dataclass(frozen=True, kw_only=True)
class HealthSnapshot:
    """The state of the store, the embedder and the background worker at one moment."""

    path: str
    embedder: EmbedderStatus
    store: StoreHealth = field(default=UNREADABLE_STORE)
    store_error: str = ""  # why the store cannot be read
    age_s: float | None = None  # of the store's state, if the store did not answer now
    worker: BackgroundState = BackgroundState.IDLE
    worker_error: str = ""
    is_stopping: bool = False  # the server was told to stop

    @property
    def is_ready(self) -> bool:
        """Whether the server should get requests."""
        is_recent = self.age_s is None or self.age_s <= MAX_AGE_S
        return not self.store_error and not self.is_stopping and is_recent


def health_router(reader: "HealthReader") -> APIRouter:
    """Return the router with `/health`, `/ready` and `/live`."""
    router = APIRouter(tags=["health"])
    started = time.monotonic()

    @router.get(HEALTH, responses={503: {"model": models.HealthReport}})
    async def health(response: Response) -> models.HealthReport:
        """Return the state of the server, and which store it serves."""
        snapshot = await reader.read()
        response.status_code = 200 if snapshot.is_ready else 503
        return health_response(snapshot, uptime_s=time.monotonic() - started)

    @router.get(READY, response_class=PlainTextResponse, include_in_schema=False)
    async def ready(response: Response) -> str:
        """Return 200 if the server should get requests, else 503. No token is needed."""
        is_ready = (await reader.read()).is_ready
        response.status_code = 200 if is_ready else 503
        return "ready\n" if is_ready else "not ready\n"

    @router.get(LIVE, response_class=PlainTextResponse, include_in_schema=False)
    async def live() -> str:
        """Return 200 if the process answers; nothing else is checked. No token is needed."""
        return "alive\n"

    return router


class HealthReader:
    """Takes snapshots in a thread of its own, and remembers the last one."""

    def __init__(
        self, rec: LocalRecollect, background: BackgroundWorker, lifecycle: ServerLifecycle
    ) -> None:
        self._rec = rec
        self._background = background
        self._lifecycle = lifecycle
        self._limiter: CapacityLimiter | None = None  # made in the event loop
        self._last: HealthSnapshot | None = None
        self._taken_at = time.monotonic()

    async def read(self) -> HealthSnapshot:
        """Return a snapshot, or the last one if a new one takes too long."""
        # Not the threads of the routes: they may all wait for the store.
        self._limiter = self._limiter or CapacityLimiter(1)
        with move_on_after(READ_TIMEOUT_S) as scope:
            await to_thread.run_sync(self._take, abandon_on_cancel=True, limiter=self._limiter)
        last = self._last or HealthSnapshot(
            path=store_location(self._rec), embedder=UNKNOWN_EMBEDDER, store_error=NEVER_READ
        )
        worker, error = self._background.state, self._background.last_error
        age_s = time.monotonic() - self._taken_at if scope.cancelled_caught else None
        return replace(
            last,
            worker=worker,
            worker_error=error,
            age_s=age_s,
            is_stopping=self._lifecycle.is_stopping,
        )

    def _take(self) -> None:
        store, store_error = UNREADABLE_STORE, ""
        try:
            store = self._rec.engine.check_health()
        except StoreError as error:
            store_error = str(error)
        self._last = HealthSnapshot(
            path=store_location(self._rec),
            embedder=self._rec.engine.embedder_status(),
            store=store,
            store_error=store_error,
        )
        self._taken_at = time.monotonic()


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
    if snapshot.is_stopping:
        yield "the server is stopping"
    if snapshot.store_error:
        yield f"the store cannot be read: {snapshot.store_error}"
    if snapshot.age_s is not None:
        yield (
            f"the store did not answer within {READ_TIMEOUT_S:g} s, it may be busy; "
            f"its figures are {snapshot.age_s:.0f} s old"
        )
    if snapshot.store.read_only:
        yield snapshot.store.read_only
    if snapshot.embedder.trouble:
        yield f"the embedder failed, search uses keywords only: {snapshot.embedder.trouble}"
    if parked := snapshot.store.jobs.get("parked", 0):
        yield f"jobs parked after their last attempt: {parked}; see: recollect jobs list"
    if snapshot.worker is BackgroundState.STOPPED:
        yield "the background worker is stopped"
    elif snapshot.worker_error:
        yield f"the background worker failed and will retry: {snapshot.worker_error}"
