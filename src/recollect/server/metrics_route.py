"""
`GET /metrics`: the state of this server for Prometheus, if the setting `metrics` is on.

It has the numbers of this process, and of the store what `/health` reads. Nothing in it comes from
a memory: no text, no name of a project or an agent, no id.
"""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Response

from recollect import __version__
from recollect.app.background_worker import BackgroundWorker
from recollect.app.local_recollect import LocalRecollect
from recollect.server.health import HealthReader, HealthSnapshot
from recollect.server.metrics import (
    MEDIA_TYPE,
    Metric,
    RequestMetrics,
    counter,
    gauge,
    gauges,
    render,
)

PATH = "/metrics"
MEMORY_FILE = Path("/proc/self/statm")  # pages: of the whole process, resident, …


def metrics_router(
    rec: LocalRecollect,
    background: BackgroundWorker,
    reader: HealthReader,
    requests: RequestMetrics,
) -> APIRouter:
    """Return the router with `GET /metrics`."""
    router = APIRouter()

    @router.get(PATH, include_in_schema=False)
    async def metrics() -> Response:
        """Return every metric as text."""
        snapshot = await reader.read()
        collected = [
            *requests.collect(),
            *store_metrics(snapshot, now=datetime.now(UTC)),
            *load_metrics(rec),
            *worker_metrics(background),
            *process_metrics(),
        ]
        return Response(render(collected), media_type=MEDIA_TYPE)

    return router


def store_metrics(snapshot: HealthSnapshot, *, now: datetime) -> Iterator[Metric]:
    """Yield what is read from the store: whether it answers, its queue and its backlog."""
    is_up = not snapshot.store_error and snapshot.age_s is None
    yield gauge("recollect_store_up", "Whether the store answered now.", is_up)
    yield gauge("recollect_ready", "Whether the server should get requests.", snapshot.is_ready)
    if snapshot.store_error:
        return  # no figures are better than wrong ones
    jobs = {state: float(snapshot.store.jobs.get(state, 0)) for state in _JOB_STATES}
    yield gauges("recollect_jobs", "Jobs that are not done, by state.", "state", jobs)
    due_at = snapshot.store.next_job_at
    age_s = 0.0 if due_at is None else max(0.0, (now - due_at).total_seconds())
    yield gauge(
        "recollect_oldest_job_age_seconds", "How long the oldest waiting job has been due.", age_s
    )
    yield gauge(
        "recollect_embedding_backlog_items",
        "Items without vectors of the current model.",
        snapshot.store.waiting,
    )


_JOB_STATES = ("todo", "doing", "parked")


def load_metrics(rec: LocalRecollect) -> Iterator[Metric]:
    """Yield how busy the connections of this process are, and how large its caches."""
    load = rec.engine.store_load()
    yield gauge(
        "recollect_write_queue_length", "Writes that wait for earlier writes.", load.queued_writes
    )
    yield gauge(
        "recollect_retrieval_log_queue_length",
        "Searches that are not in the log of retrievals yet.",
        load.queued_retrievals,
    )
    yield gauges(
        "recollect_reader_connections",
        "Connections of this server that read the store.",
        "state",
        {"busy": load.busy_readers, "idle": load.idle_readers},
    )
    yield gauge(
        "recollect_readers_waiting",
        "Requests that wait for a connection that reads the store.",
        load.waiting_readers,
    )
    yield gauges(
        "recollect_cache_bytes",
        "Bytes of memory that the indexes keep, by cache.",
        "cache",
        {"bit_codes": load.code_bytes, "vectors": load.vector_bytes},
    )


def worker_metrics(background: BackgroundWorker) -> Iterator[Metric]:
    """Yield the state of the background worker."""
    yield gauge(
        "recollect_worker_up", "Whether the background worker runs.", background.state != "stopped"
    )
    yield gauge(
        "recollect_worker_failing",
        "Whether the last attempt of the background worker failed.",
        bool(background.last_error),
    )
    yield gauge(
        "recollect_worker_listening",
        "Whether the background worker is told of jobs that other processes store.",
        background.is_listening,
    )


def process_metrics() -> Iterator[Metric]:
    """Yield the metrics that every program has."""
    yield gauge(
        "recollect_build_info", "The version of Recollect, as a label.", 1, version=__version__
    )
    cpu_s = time.process_time()
    yield counter("process_cpu_seconds_total", "Processor time of the server process.", cpu_s)
    if MEMORY_FILE.exists():  # on Linux
        resident = int(MEMORY_FILE.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        yield gauge(
            "process_resident_memory_bytes", "Resident memory of the server process.", resident
        )
