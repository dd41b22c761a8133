"""See and run the queue: what waits, what failed and why, and the worker that works it off."""

from collections.abc import Iterator

from recollect.domain.job import Job, JobState
from recollect.domain.model_usage import ModelCall
from recollect.engine.leased_job import update_event
from recollect.errors import IllegalTransition, NotFound
from recollect.service import inputs
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean

OPEN = (JobState.DOING, JobState.TODO, JobState.PARKED)


def jobs(services: Services, *, states: object = None, limit: object = 50) -> list[Job]:
    """Return jobs, those due first first; unless told otherwise those that are not done."""
    wanted = OPEN if states is None else tuple(inputs.some_of("state", JobState, states))
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    with services.store.read() as tables:
        return tables.jobs.in_states(wanted, most)


def job(services: Services, job_id: object) -> Job:
    """Return one job."""
    with services.store.read() as tables:
        return _known(tables, job_id)


def retry(services: Services, job_id: object) -> Job:
    """Make a parked or waiting job due now, with all its tries before it."""

    def write(tables: Tables) -> Job:
        found = _known(tables, job_id)
        if not tables.jobs.requeue(found.id, now=services.clock.now()):
            raise IllegalTransition(
                f"job {found.id} is {found.state}; only a parked or waiting one can be retried"
            )
        update_event(tables, found.event_id, services.clock)
        return _known(tables, job_id)

    return services.store.write(write)


def ledger(services: Services, *, limit: object = 50) -> list[ModelCall]:
    """Return what language models were asked lately, and what it cost."""
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    with services.store.read() as tables:
        return tables.jobs.calls(most)


def work_in_steps(services: Services) -> Iterator[Job]:
    """Run every job that is due, yielding each as it was claimed."""
    # The stages bring every rule of the extractor; a program that only writes never needs them.
    from recollect.engine.job_worker import Worker

    worker = Worker(services.engine)
    while (done := worker.step()) is not None:
        yield done


def _known(tables: Tables, job_id: object) -> Job:
    found = tables.jobs.get(clean(job_id)) if isinstance(job_id, str) else None
    if found is None:
        raise NotFound(f"there is no job {job_id!r}; `recollect jobs list` shows those there are")
    return found
