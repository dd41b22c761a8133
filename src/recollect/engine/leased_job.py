"""
A job while a worker holds its lease, and the bookkeeping of an event's jobs.

A stage writes only through `LeasedJob`. Each write renews the lease in the same transaction and is
rolled back if another worker has taken the job over. So a worker that was believed dead changes
nothing when it resumes, and a stage that is killed has either written a step or not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any

from recollect.clock import Clock, derived_id
from recollect.domain.capture_event import EventState
from recollect.domain.job import LEASE_S, Job, JobKind, JobState
from recollect.engine.engine_context import EngineContext
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Tables

Tally = Mapping[str, int]


class LeaseLost(Exception):
    """Another worker has taken the job over."""


class Postponed(Exception):
    """The job cannot be done before *until*. This does not count as an attempt."""

    def __init__(self, why: str, until: datetime) -> None:
        super().__init__(why)
        self.until = until


@dataclass(frozen=True)
class NextStep:
    """A following job of the same event: its kind and its number among those of that kind."""

    kind: JobKind
    number: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)


class LeasedJob:
    """A claimed job and its lease."""

    def __init__(self, engine: EngineContext, job: Job) -> None:
        self._engine = engine
        self.job = job
        self._payload = dict(job.payload)
        self.is_followed = False  # whether it has enqueued another job

    @property
    def payload(self) -> Mapping[str, Any]:
        """The arguments of the job, and the counts of its progress."""
        return self._payload

    def write(self, work: Callable[[Tables], Tally]) -> None:
        """Run *work* and renew the lease in one transaction; add what it counted to the payload."""

        def work_and_renew(tables: Tables) -> dict[str, Any]:
            payload = self._add_counts(work(tables))
            lease_until = self._engine.clock.now() + timedelta(seconds=LEASE_S)
            if not tables.jobs.renew_lease(self.job, lease_until=lease_until, payload=payload):
                raise LeaseLost(self.job.id)  # this rolls back what *work* wrote
            return payload

        self._payload = self._engine.store.write(work_and_renew)

    def finish(
        self, following: Sequence[NextStep] = (), work: Callable[[Tables], Tally] | None = None
    ) -> None:
        """Run the last *work*, mark the job done and enqueue the following steps, all or none."""
        now = self._engine.clock.now()

        def end(tables: Tables) -> None:
            payload = self._add_counts(work(tables)) if work else self._payload
            for step in following:
                next_job = new_job(self.job.event_id, step, self._engine.clock)
                # With the same run_at an event is finished before the next one begins, so that
                # few candidates are pending at once.
                tables.jobs.add(replace(next_job, run_at=self.job.run_at))
            job = self.job
            if not tables.jobs.release(
                job,
                JobState.DONE,
                now=now,
                run_at=job.run_at,
                attempts=job.attempts,
                error="",
                payload=payload,
            ):
                raise LeaseLost(job.id)  # this rolls back what *work* wrote
            if job.kind is JobKind.EXTRACT and following:
                # The first job of its event, which goes on: nothing else is to be counted.
                outcome = describe_outcome([replace(job, payload=payload)])
                tables.sources.set_outcome(job.event_id, outcome, now)
            else:
                update_event(tables, job.event_id, self._engine.clock)

        self._engine.store.write(end)
        self.is_followed = bool(following)

    def _add_counts(self, counts: Tally) -> dict[str, Any]:
        """Return the payload with what was counted added to it."""
        payload = dict(self._payload)
        for name, count in counts.items():
            payload[name] = payload.get(name, 0) + count
        return payload


def new_job(event_id: str, step: NextStep, clock: Clock) -> Job:
    """Return a job for one step of an event; the same step has the same id."""
    now = clock.now()
    return Job(
        id=derived_id(event_id, step.kind.value, step.number),
        event_id=event_id,
        kind=step.kind,
        payload=step.payload,
        run_at=now,
        created_at=now,
        updated_at=now,
    )


def update_event(tables: Tables, event_id: str, clock: Clock, *, failed: bool = False) -> None:
    """Update state, outcome and error of an event from its jobs; *failed*: one has just failed."""
    jobs = tables.jobs.of_event(event_id)
    tables.sources.update_event(
        event_id,
        state=_event_state(jobs),
        outcome=describe_outcome(jobs),
        error=next((job.error for job in jobs if job.error), ""),
        retried=failed,
        at=clock.now(),
    )


def describe_outcome(jobs: Sequence[Job]) -> str:
    """Return the summed counts of the jobs of an event, as text."""
    total: dict[str, int] = {}
    for job in jobs:
        for name, count in job.payload.items():
            if isinstance(count, int):
                total[name] = total.get(name, 0) + count
    return ", ".join(f"{count} {name}" for name, count in total.items() if count)


def _event_state(jobs: Sequence[Job]) -> EventState:
    states = {job.state for job in jobs}
    if states & {JobState.TODO, JobState.DOING}:
        return EventState.WORKING
    return EventState.FAILED if JobState.PARKED in states else EventState.DONE
