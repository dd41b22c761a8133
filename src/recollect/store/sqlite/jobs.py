"""The job queue, candidates waiting for consolidation, and the ledger of model calls, in SQLite."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from recollect.clock import from_micros
from recollect.domain.job import CLOCK_TOLERANCE, LEASE_S, Job, JobState
from recollect.domain.model_usage import ModelCall, ModelUsage
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_JOB = """
id event_id kind payload state attempts crashes run_at lease_until worker error created_at
updated_at
"""
_CALL = "id event_id model purpose input_tokens output_tokens error asked_at"
_job = row_parser(Job, _JOB)
_call = row_parser(ModelCall, _CALL)


class SqliteJobTable(SqliteTable):
    """See `recollect.store.protocol.JobTable`."""

    _sql = query_loader.load("jobs")

    def add(self, job: Job) -> None:
        self._run("add_job", **field_values(job))

    # A statement that claims or changes a job is run to its end, hence `_rows`.

    def claim(self, worker: str, *, now: datetime, lease_until: datetime) -> Job | None:
        values = {"worker": worker, "lease_until": lease_until}
        rows = self._rows("claim", **values, **_time_values(now))
        return _job(rows[0]) if rows else None

    def renew_lease(self, job: Job, *, lease_until: datetime, payload: Mapping[str, Any]) -> bool:
        values = _lease_values(job) | {"lease_until": lease_until, "payload": payload}
        return bool(self._rows("renew_lease", **values))

    def release(
        self, job: Job, to: JobState, *, now: datetime, run_at: datetime, attempts: int, error: str
    ) -> bool:
        values = {"state": to, "run_at": run_at, "left": attempts, "error": error, "now": now}
        return bool(self._rows("release", **_lease_values(job), **values))

    def requeue(self, job_id: str, *, now: datetime) -> bool:
        return bool(self._rows("requeue", id=job_id, now=now))

    def get(self, job_id: str) -> Job | None:
        return self._first(_job, "job", id=job_id)

    def in_states(self, states: Iterable[JobState], limit: int) -> list[Job]:
        return self._all(_job, "jobs", states=list(states), limit=limit)

    def of_event(self, event_id: str) -> list[Job]:
        return self._all(_job, "jobs_of", event_id=event_id)

    def count_by_state(self) -> Mapping[str, int]:
        return dict(self._rows("count_jobs"))

    def count_open(self) -> Mapping[str, int]:
        return dict(self._rows("count_open"))

    def count_due(self, now: datetime) -> int:
        return int(self._run("count_due", **_time_values(now)).get)

    def count_expired_leases(self, now: datetime) -> int:
        return int(self._run("count_expired_leases", **_time_values(now)).get)

    def next_run_at(self) -> datetime | None:
        micros = self._run("next_run_at").get
        return None if micros is None else from_micros(micros)

    def add_unconsolidated(self, event_id: str, memory_id: str) -> None:
        self._run("add_unconsolidated", event_id=event_id, memory_id=memory_id)

    def unconsolidated(self, event_id: str, limit: int) -> list[str]:
        return self._column("unconsolidated", event_id=event_id, limit=limit)

    def unconsolidated_among(self, memory_ids: Iterable[str]) -> set[str]:
        return set(self._column("unconsolidated_among", ids=list(memory_ids)))

    def mark_consolidated(self, memory_id: str) -> None:
        self._run("mark_consolidated", memory_id=memory_id)

    def add_call(self, call: ModelCall) -> None:
        self._run("add_call", **field_values(call))

    def calls(self, limit: int) -> list[ModelCall]:
        return self._all(_call, "calls", limit=limit)

    def spent_since(self, since: datetime) -> ModelUsage:
        return ModelUsage(*self._rows("spent", since=since)[0])


def _time_values(now: datetime) -> dict[str, datetime]:
    """Return *now*, and the times beyond which a clock must have been wrong."""
    longest_lease = now + timedelta(seconds=2 * LEASE_S)
    return {"now": now, "longest_lease": longest_lease, "future": now + CLOCK_TOLERANCE}


def _lease_values(job: Job) -> dict[str, Any]:
    return {"id": job.id, "worker": job.worker, "attempts": job.attempts}
