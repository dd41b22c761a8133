"""The job queue, candidates waiting for consolidation, and the ledger of model calls."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from recollect.domain.job import CLOCK_TOLERANCE, LEASE_S, Job, JobState
from recollect.domain.model_usage import ModelCall, ModelUsage
from recollect.store.database_connection import record_shape, value_shape
from recollect.store.repositories.repository import Repository, field_values

_JOB = """
id event_id kind payload state attempts crashes run_at lease_until worker error created_at
updated_at
"""
_CALL = "id event_id model purpose input_tokens output_tokens cost_usd error asked_at"
_job = record_shape(Job, _JOB)
_call = record_shape(ModelCall, _CALL)
_run_at = value_shape(datetime | None)


class JobRepository(Repository):
    """The job queue, candidates waiting for consolidation, the ledger of model calls."""

    _statements = "jobs"

    def add(self, job: Job) -> None:
        """Store a new job; an existing one stays as it is."""
        self._run("add_job", **field_values(job))

    def claim(self, worker: str, *, now: datetime, lease_until: datetime) -> Job | None:
        """Claim the next due job for *worker*, or return None."""
        values = {"worker": worker, "lease_until": lease_until}
        return self._first(_job, "claim", **values, **_time_values(now))

    def renew_lease(self, job: Job, *, lease_until: datetime, payload: Mapping[str, Any]) -> bool:
        """Renew the lease and store the progress; return False if the lease was lost."""
        values = _lease_values(job) | {"lease_until": lease_until, "payload": payload}
        return bool(self._run_counted("renew_lease", **values))

    def release(
        self,
        job: Job,
        to: JobState,
        *,
        now: datetime,
        run_at: datetime,
        attempts: int,
        error: str,
        payload: Mapping[str, Any] | None = None,
    ) -> bool:
        """
        End the lease and set the state *to*; return False if the lease was lost.

        The payload stays as it is stored if none is given.
        """
        values = {"state": to, "run_at": run_at, "left": attempts, "error": error, "now": now}
        return bool(self._run_counted("release", **_lease_values(job), **values, payload=payload))

    def requeue(self, job_id: str, *, now: datetime) -> bool:
        """Make a parked or waiting job due now; return False if it is neither."""
        return bool(self._run_counted("requeue", id=job_id, now=now))

    def get(self, job_id: str) -> Job | None:
        """Return the job with that id, or None."""
        return self._first(_job, "job", id=job_id)

    def in_states(self, states: Iterable[JobState], limit: int) -> list[Job]:
        """Return jobs in some states, in the order in which they are due."""
        return self._all(_job, "jobs", states=list(states), limit=limit)

    def of_event(self, event_id: str) -> list[Job]:
        """Return every job of an event."""
        return self._all(_job, "jobs_of", event_id=event_id)

    def count_by_state(self) -> Mapping[str, int]:
        """Return how many jobs are in each state."""
        return dict(self._rows("count_jobs"))

    def count_open(self) -> Mapping[str, int]:
        """Return how many jobs are not done, by state; reads only open jobs."""
        return dict(self._rows("count_open"))

    def count_due(self, now: datetime) -> int:
        """Return how many jobs can be claimed now."""
        return int(self._value("count_due", **_time_values(now)))

    def count_expired_leases(self, now: datetime) -> int:
        """Return how many jobs are claimed under a lease that has expired."""
        return int(self._value("count_expired_leases", **_time_values(now)))

    def next_run_at(self) -> datetime | None:
        """Return when the next waiting job is due, or None."""
        row = self._first(_run_at, "next_run_at")
        return row[0] if row else None

    def add_unconsolidated(self, event_id: str, *memory_ids: str) -> None:
        """Add candidates to those waiting for consolidation."""
        self._run("add_unconsolidated", event_id=event_id, memory_ids=list(memory_ids))

    def unconsolidated(self, event_id: str, limit: int) -> dict[str, str]:
        """Return the contents, by id, of the first candidates that wait for consolidation."""
        return dict(self._rows("unconsolidated", event_id=event_id, limit=limit))

    def unconsolidated_among(self, memory_ids: Iterable[str]) -> set[str]:
        """Return which of some memories wait for consolidation."""
        return set(self._column("unconsolidated_among", ids=list(memory_ids)))

    def unconsolidated_candidates_among(self, memory_ids: Iterable[str]) -> set[str]:
        """Return which of some memories are candidates that wait for consolidation."""
        return set(self._column("unconsolidated_candidates_among", ids=list(memory_ids)))

    def unconsolidated_writings(self, limit: int) -> dict[str, str]:
        """Return the contents, by id, of the first directly written memories that wait."""
        return dict(self._rows("unconsolidated_writings", limit=limit))

    def mark_consolidated(self, *memory_ids: str) -> None:
        """Remove candidates from those waiting for consolidation."""
        self._run("mark_consolidated", memory_ids=list(memory_ids))

    def add_call(self, call: ModelCall) -> None:
        """Add a model call to the ledger."""
        self._run("add_call", **field_values(call))

    def calls(self, limit: int) -> list[ModelCall]:
        """Return the newest model calls of the ledger."""
        return self._all(_call, "calls", limit=limit)

    def spent_since(self, since: datetime) -> ModelUsage:
        """Return the calls and tokens spent since a moment."""
        return ModelUsage(*self._rows("spent", since=since)[0])


def _time_values(now: datetime) -> dict[str, datetime]:
    """Return *now*, and the times beyond which a clock must have been wrong."""
    longest_lease = now + timedelta(seconds=2 * LEASE_S)
    return {"now": now, "longest_lease": longest_lease, "future": now + CLOCK_TOLERANCE}


def _lease_values(job: Job) -> dict[str, Any]:
    return {"id": job.id, "worker": job.worker, "attempts": job.attempts}
