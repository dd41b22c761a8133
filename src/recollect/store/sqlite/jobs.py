"""The job queue, candidates waiting for consolidation, and the ledger of model calls, in SQLite."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.job import Job, JobKind, JobState
from recollect.domain.model_usage import ModelCall, ModelUsage
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, fetch_all, to_json

_SQL = query_loader.load("jobs")


class SqliteJobTable:
    """See `recollect.store.protocol.JobTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, job: Job) -> None:
        self._db.execute(_SQL["add_job"], _values(job))

    def claim(self, worker: str, *, now: datetime, lease_until: datetime) -> Job | None:
        values = {
            "worker": worker,
            "now": to_micros(now),
            "lease_until": to_micros(lease_until),
        }
        rows = self._db.execute(_SQL["claim"], values).fetchall()
        return _job(rows[0]) if rows else None

    def renew_lease(self, job: Job, *, lease_until: datetime, payload: Mapping[str, Any]) -> bool:
        values = _lease_values(job) | {
            "lease_until": to_micros(lease_until),
            "payload": to_json(dict(payload)),
        }
        return bool(self._db.execute(_SQL["renew_lease"], values).fetchall())

    def release(
        self, job: Job, to: JobState, *, now: datetime, run_at: datetime, attempts: int, error: str
    ) -> bool:
        values = _lease_values(job) | {
            "state": to.value,
            "run_at": to_micros(run_at),
            "left": attempts,
            "error": error,
            "now": to_micros(now),
        }
        return bool(self._db.execute(_SQL["release"], values).fetchall())

    def requeue(self, job_id: str, *, now: datetime) -> bool:
        values = {"id": job_id, "now": to_micros(now)}
        return bool(self._db.execute(_SQL["requeue"], values).fetchall())

    def get(self, job_id: str) -> Job | None:
        row = self._db.execute(_SQL["job"], {"id": job_id}).fetchone()
        return _job(row) if row else None

    def in_states(self, states: Iterable[JobState], limit: int) -> list[Job]:
        values = {"states": to_json([state.value for state in states]), "limit": limit}
        return [_job(row) for row in self._db.execute(_SQL["jobs"], values)]

    def of_event(self, event_id: str) -> list[Job]:
        return [_job(row) for row in self._db.execute(_SQL["jobs_of"], {"event_id": event_id})]

    def count_by_state(self) -> Mapping[str, int]:
        return dict(fetch_all(self._db.execute(_SQL["count_jobs"])))

    def count_open(self) -> Mapping[str, int]:
        return dict(fetch_all(self._db.execute(_SQL["count_open"])))

    def count_due(self, now: datetime) -> int:
        return int(self._db.execute(_SQL["count_due"], {"now": to_micros(now)}).get)

    def count_expired_leases(self, now: datetime) -> int:
        return int(self._db.execute(_SQL["count_expired_leases"], {"now": to_micros(now)}).get)

    def next_run_at(self) -> datetime | None:
        micros = self._db.execute(_SQL["next_run_at"]).get
        return None if micros is None else from_micros(micros)

    def add_unconsolidated(self, event_id: str, memory_id: str) -> None:
        self._db.execute(_SQL["add_unconsolidated"], {"event_id": event_id, "memory_id": memory_id})

    def unconsolidated(self, event_id: str, limit: int) -> list[str]:
        rows = self._db.execute(_SQL["unconsolidated"], {"event_id": event_id, "limit": limit})
        return [memory_id for (memory_id,) in rows]

    def unconsolidated_among(self, memory_ids: Iterable[str]) -> set[str]:
        values = {"ids": to_json(list(memory_ids))}
        return {
            memory_id for (memory_id,) in self._db.execute(_SQL["unconsolidated_among"], values)
        }

    def mark_consolidated(self, memory_id: str) -> None:
        self._db.execute(_SQL["mark_consolidated"], {"memory_id": memory_id})

    def add_call(self, call: ModelCall) -> None:
        values = {
            "id": call.id,
            "event_id": call.event_id,
            "model": call.model,
            "purpose": call.purpose,
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "error": call.error,
            "asked_at": to_micros(call.asked_at),
        }
        self._db.execute(_SQL["add_call"], values)

    def calls(self, limit: int) -> list[ModelCall]:
        return [_call(row) for row in self._db.execute(_SQL["calls"], {"limit": limit})]

    def spent_since(self, since: datetime) -> ModelUsage:
        rows = fetch_all(self._db.execute(_SQL["spent"], {"since": to_micros(since)}))
        return ModelUsage(*rows[0])


def _lease_values(job: Job) -> dict[str, Any]:
    return {"id": job.id, "worker": job.worker, "attempts": job.attempts}


def _values(job: Job) -> Mapping[str, Any]:
    return {
        "id": job.id,
        "event_id": job.event_id,
        "kind": job.kind.value,
        "payload": to_json(dict(job.payload)),
        "state": job.state.value,
        "attempts": job.attempts,
        "run_at": to_micros(job.run_at),
        "lease_until": to_micros(job.lease_until) if job.lease_until else None,
        "worker": job.worker,
        "error": job.error,
        "created_at": to_micros(job.created_at),
        "updated_at": to_micros(job.updated_at),
    }


def _job(row: Row) -> Job:
    (job_id, event_id, kind, payload, state, attempts, run_at, lease_until, worker, error) = row[
        :10
    ]
    created_at, updated_at = row[10:]
    return Job(
        id=job_id,
        event_id=event_id,
        kind=JobKind(kind),
        payload=json.loads(payload),
        state=JobState(state),
        attempts=attempts,
        run_at=from_micros(run_at),
        lease_until=None if lease_until is None else from_micros(lease_until),
        worker=worker,
        error=error,
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
    )


def _call(row: Row) -> ModelCall:
    call_id, event_id, model, purpose, input_tokens, output_tokens, error, asked_at = row
    return ModelCall(
        id=call_id,
        event_id=event_id,
        model=model,
        purpose=purpose,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        error=error,
        asked_at=from_micros(asked_at),
    )
