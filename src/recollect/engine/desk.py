"""
What a stage works with, and how it holds its job while it works.

A stage writes only through `Held`: each write first renews the lease in the same transaction, and
gives up when somebody else has taken the job over. So a worker that was thought dead and wakes up
changes nothing, and a stage that is killed has either written a step or not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.clock import Clock, derived_id
from recollect.domain.event import EventState
from recollect.domain.job import LEASE_S, Job, JobKind, JobState
from recollect.domain.ledger import Budget
from recollect.store.protocol import Store, Tables

if TYPE_CHECKING:
    # For the checker only: the indexer brings NumPy, models an HTTP client.
    from recollect.engine.indexer import Indexer
    from recollect.models.chat import ChatModel

Tally = Mapping[str, int]


@dataclass(frozen=True)
class Desk:
    """Store, clock, and how to get an indexer and a chat model (None where there is none)."""

    store: Store
    clock: Clock
    indexer: "Callable[[], Indexer | None]"
    chat: "Callable[[], ChatModel | None]"
    budget: Budget
    asks: bool = False  # a chat model is wanted, whether or not it can be had now


class LeaseLost(Exception):
    """Somebody else has taken the job over."""


class NotYet(Exception):
    """The work cannot be done before *until*. No try is used up."""

    def __init__(self, why: str, until: datetime) -> None:
        super().__init__(why)
        self.until = until


@dataclass(frozen=True)
class Next:
    """A step that follows: its kind, and which of its kind it is."""

    kind: JobKind
    number: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)


class Held:
    """A claimed job, in the hands of the worker that claimed it."""

    def __init__(self, desk: Desk, job: Job) -> None:
        self._desk = desk
        self.job = job
        self._payload = dict(job.payload)

    @property
    def payload(self) -> Mapping[str, Any]:
        """What the job was given, and how far it has come."""
        return self._payload

    def write(self, work: Callable[[Tables], Tally]) -> None:
        """Run *work* in one transaction in which the job is still ours; keep what it counted."""

        def checked(tables: Tables) -> dict[str, Any]:
            counted = self._counted(work(tables))
            lease_until = self._desk.clock.now() + timedelta(seconds=LEASE_S)
            if not tables.jobs.hold(self.job, lease_until=lease_until, payload=counted):
                raise LeaseLost(self.job.id)  # and with it goes everything that was just written
            return counted

        self._payload = self._desk.store.write(checked)

    def finish(self, following: Sequence[Next] = ()) -> None:
        """Mark the job done and put the steps that follow in the queue, in one transaction."""
        now = self._desk.clock.now()

        def end(tables: Tables) -> None:
            for step in following:
                made = new_job(self.job.event_id, step, self._desk.clock)
                # It keeps its event's place in the queue, so that few candidates wait at once.
                tables.jobs.add(replace(made, run_at=self.job.run_at))
            job = self.job
            if not tables.jobs.let_go(
                job, JobState.DONE, now=now, run_at=job.run_at, attempts=job.attempts, error=""
            ):
                raise LeaseLost(job.id)
            note_progress(tables, self.job.event_id, self._desk.clock)

        self._desk.store.write(end)

    def _counted(self, tally: Tally) -> dict[str, Any]:
        counted = dict(self._payload)
        for name, count in tally.items():
            counted[name] = counted.get(name, 0) + count
        return counted


def new_job(event_id: str, step: Next, clock: Clock) -> Job:
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


def note_progress(tables: Tables, event_id: str, clock: Clock, *, failed: bool = False) -> None:
    """Write into an event what its jobs say of it; *failed*: one of them just has."""
    event = tables.sources.event(event_id)
    if event is None:
        return
    jobs = tables.jobs.of_event(event_id)
    told = replace(
        event,
        state=_state(jobs),
        outcome=outcome_of(jobs),
        error=next((job.error for job in jobs if job.error), ""),
        retries=event.retries + failed,
        updated_at=clock.now(),
    )
    tables.sources.set_event(told)


def outcome_of(jobs: Sequence[Job]) -> str:
    """Return in words what the jobs of an event have done so far."""
    total: dict[str, int] = {}
    for job in jobs:
        for name, count in job.payload.items():
            if isinstance(count, int):
                total[name] = total.get(name, 0) + count
    return ", ".join(f"{count} {name}" for name, count in total.items() if count)


def _state(jobs: Sequence[Job]) -> EventState:
    states = {job.state for job in jobs}
    if states & {JobState.TODO, JobState.DOING}:
        return EventState.WORKING
    return EventState.FAILED if JobState.PARKED in states else EventState.DONE
