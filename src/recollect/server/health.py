"""
`GET /health`: is this server well, and which store does it serve?

One short read, and no model: asking often must cost nothing. `status` is "degraded", with reasons,
when the store cannot be read (then the answer is a 503), the embedder failed, jobs are parked, or
the work in the background does not go on.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fastapi import APIRouter, Response

from recollect import __version__
from recollect.app.background import Background, BackgroundState
from recollect.app.root import Recollect
from recollect.domain.upkeep import EmbedderSeen, Pulse
from recollect.errors import StoreError
from recollect.wire.health import EmbedderHealth, Health, QueueHealth, StoreHealth, WorkerHealth

NO_PULSE = Pulse(schema=0, jobs={}, waiting=0, dimension=None)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a look at the memory and the thread in the background showed."""

    path: str
    embedder: EmbedderSeen
    pulse: Pulse = field(default=NO_PULSE)
    failure: str = ""  # why the store cannot be read
    worker: BackgroundState = BackgroundState.IDLE
    worker_error: str = ""


def health_router(
    memory: Recollect, background: Background, *, clock: Callable[[], float] = time.monotonic
) -> APIRouter:
    """Return the route that tells how *memory* is. *clock* counts seconds."""
    router = APIRouter(tags=["health"])
    started = clock()

    @router.get("/health", responses={503: {"model": Health}})
    def health(response: Response) -> Health:
        """Say how the server is, and which store it serves."""
        seen = look(memory, background)
        response.status_code = 503 if seen.failure else 200
        return told(seen, uptime_s=clock() - started)

    return router


def look(memory: Recollect, background: Background) -> Seen:
    """Take one short look."""
    pulse, failure = NO_PULSE, ""
    try:
        pulse = memory.pulse()
    except StoreError as error:
        failure = str(error)
    return Seen(
        path=str(memory.path.absolute()),
        embedder=memory.embedder_seen(),
        pulse=pulse,
        failure=failure,
        worker=background.state,
        worker_error=background.last_error,
    )


def told(seen: Seen, *, uptime_s: float) -> Health:
    """Return what was seen as the server tells it."""
    why = list(reasons(seen))
    return Health(
        status="degraded" if why else "ok",
        embedding_backend=seen.embedder.backend,
        embedding_dimension=seen.embedder.dimension or seen.pulse.dimension,
        database_path=seen.path,
        reasons=why,
        version=__version__,
        pid=os.getpid(),
        uptime_s=round(uptime_s, 3),
        store=StoreHealth(ok=not seen.failure, schema=None if seen.failure else seen.pulse.schema),
        queue=QueueHealth(**seen.pulse.jobs),
        embedder=EmbedderHealth(
            name=seen.embedder.name,
            state=seen.embedder.state.value,
            trouble=seen.embedder.trouble,
            waiting=seen.pulse.waiting,
        ),
        worker=WorkerHealth(state=seen.worker.value, last_error=seen.worker_error),
    )


def reasons(seen: Seen) -> Iterator[str]:
    """Yield why the server is not well, in words."""
    if seen.failure:
        yield f"the store cannot be read: {seen.failure}"
    if seen.embedder.trouble:
        yield f"the embedder failed, search goes by words: {seen.embedder.trouble}"
    if parked := seen.pulse.jobs.get("parked", 0):
        yield f"jobs parked after their last try: {parked}; see: recollect jobs list"
    if seen.worker is BackgroundState.STOPPED:
        yield "nothing works in the background"
    elif seen.worker_error:
        yield f"work in the background failed and is tried again: {seen.worker_error}"
