"""
The job worker: claim a job, run its stage, repeat.

`drain`, `recollect work` and the server use the same loop. A job that fails is retried later; after
its last attempt it is parked (marked failed) with its error, and a person can retry it. Every
exception of a stage stops here: one bad transcript must not stop the others.

An attempt whose worker was killed is not a failure of the job, and neither is one that is handed
back because the program ends. Killed attempts have a higher limit of their own.
"""

import logging
import os
import socket
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from recollect.domain.job import LEASE_S, MAX_CRASHES, Job, JobKind, JobState, next_attempt_at
from recollect.engine.consolidate_stage import consolidate_event
from recollect.engine.engine_context import EngineContext
from recollect.engine.extract.extract_stage import extract
from recollect.engine.leased_job import LeasedJob, LeaseLost, Postponed, update_event
from recollect.engine.model_claims_stage import propose_claims
from recollect.errors import RecollectError, StoreClosed
from recollect.store.protocol import Tables
from recollect.tracing import trace

log = logging.getLogger(__name__)

Stage = Callable[[EngineContext, LeasedJob], None]
STAGES: Mapping[JobKind, Stage] = {
    JobKind.EXTRACT: extract,
    JobKind.ASK: propose_claims,
    JobKind.CONSOLIDATE: consolidate_event,
}
MAX_ERROR_CHARS = 1_000


class WorkerCrashed(Exception):
    """The worker of a job ended without releasing it, several times: the job may be the cause."""


class Worker:
    """Runs the jobs of one store. Several workers may run in several processes."""

    def __init__(self, engine: EngineContext) -> None:
        self._engine = engine
        self._is_followed = False  # the last job enqueued another one: it is due
        self._name = f"{socket.gethostname()}:{os.getpid()}:{engine.clock.new_id()[-6:]}"

    def step(self) -> Job | None:
        """Run the next due job; return it as claimed, or None if no job is due."""
        job = self._claim()
        self._is_followed = False
        if job is None:
            return None
        leased_job = LeasedJob(self._engine, job)
        self._engine.running[job.id] = job
        try:
            if job.crashes >= MAX_CRASHES:
                raise WorkerCrashed(f"its worker ended without a word {job.crashes} times")
            with trace(f"job {job.kind}"):
                STAGES[job.kind](self._engine, leased_job)
            self._is_followed = leased_job.is_followed
        except LeaseLost:
            if job.id in self._engine.running:  # else it was handed back
                log.warning("job %s took longer than its lease; another worker has it", job.id)
        except StoreClosed:
            raise
        except (KeyboardInterrupt, SystemExit):
            _postpone(self._engine, job, self._engine.clock.now(), "")  # interrupted, not failed
            raise
        except Postponed as error:
            _postpone(self._engine, job, error.until, str(error))
        except Exception as error:  # a stage may fail in any way; other jobs go on
            self._record_failure(job, error)
        finally:
            self._engine.running.pop(job.id, None)
        return job

    def _claim(self) -> Job | None:
        now = self._engine.clock.now()
        if not self._is_followed:
            with self._engine.store.read() as tables:
                if not tables.jobs.count_due(now):
                    return None  # reading is cheap; claiming takes the write lock

        def claim(tables: Tables) -> Job | None:
            until = now + timedelta(seconds=LEASE_S)
            job = tables.jobs.claim(self._name, now=now, lease_until=until)
            if job is not None:
                tables.sources.start_event(job.event_id, now)
            return job

        return self._engine.store.write(claim)

    def _record_failure(self, job: Job, error: Exception) -> None:
        is_expected = isinstance(error, RecollectError)
        message = str(error) if is_expected else f"{type(error).__name__}: {error}"
        message = message[:MAX_ERROR_CHARS]
        wait_s = getattr(error, "retry_after_s", None) or 0.0
        again_at = next_attempt_at(job, self._engine.clock.now(), at_least_s=wait_s)
        log.warning("job %s (%s) failed: %s", job.id, job.kind, message, exc_info=not is_expected)
        is_over = again_at is None or isinstance(error, WorkerCrashed)
        state, due = (JobState.PARKED, job.run_at) if is_over else (JobState.TODO, again_at)
        _release(self._engine, job, state, due or job.run_at, attempts=job.attempts, error=message)


def hand_back_jobs(engine: EngineContext) -> int:
    """
    Make the jobs that this process works on due again, and return how many.

    Whoever works on them notices at the next write, which is rolled back.
    """
    jobs = list(engine.running.values())
    for job in jobs:
        engine.running.pop(job.id, None)
        _postpone(engine, job, engine.clock.now(), "")
    return len(jobs)


def _postpone(engine: EngineContext, job: Job, until: datetime, why: str) -> None:
    # This was not an attempt, so it does not count as one.
    _release(engine, job, JobState.TODO, until, attempts=job.attempts - 1, error=why)


def _release(
    engine: EngineContext, job: Job, to: JobState, due: datetime, *, attempts: int, error: str
) -> None:
    now = engine.clock.now()

    def release(tables: Tables) -> None:
        if tables.jobs.release(job, to, now=now, run_at=due, attempts=attempts, error=error):
            failed = attempts == job.attempts
            update_event(tables, job.event_id, engine.clock, failed=failed)

    engine.store.write(release)
