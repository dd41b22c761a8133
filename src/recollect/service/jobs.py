"""List and retry the jobs of the queue, run those that are due, and list model calls."""

from collections.abc import Iterator

from recollect.domain.job import Job, JobState
from recollect.domain.model_usage import ModelCall
from recollect.engine.leased_job import update_event
from recollect.errors import IllegalTransition, NotFound
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.jobs import GetJobRequest, ListJobsRequest, RetryJobRequest
from recollect.wire.requests.models import ListModelCallsRequest

OPEN_STATES = (JobState.DOING, JobState.TODO, JobState.PARKED)


def list_jobs(services: Services, request: ListJobsRequest) -> list[Job]:
    """Return unfinished jobs, or those in some states, in the order they are due."""
    states = OPEN_STATES if request.states is None else tuple(dict.fromkeys(request.states))
    with services.store.read() as tables:
        return tables.jobs.in_states(states, request.limit)


def get_job(services: Services, request: GetJobRequest) -> Job:
    """Return one job."""
    with services.store.read() as tables:
        return _require_job(tables, request.job_id)


def retry_job(services: Services, request: RetryJobRequest) -> Job:
    """Make a parked or waiting job due now, with all its attempts again."""

    def write(tables: Tables) -> Job:
        job = _require_job(tables, request.job_id)
        if not tables.jobs.requeue(job.id, now=services.clock.now()):
            raise IllegalTransition(
                f"job {job.id} is {job.state}; only a parked or waiting one can be retried"
            )
        update_event(tables, job.event_id, services.clock)
        return _require_job(tables, job.id)

    return services.store.write(write)


def list_model_calls(services: Services, request: ListModelCallsRequest) -> list[ModelCall]:
    """Return the latest calls of language models and their costs."""
    with services.store.read() as tables:
        return tables.jobs.calls(request.limit)


def run_jobs_in_steps(services: Services) -> Iterator[Job]:
    """Run every job that is due, yielding each one that was claimed."""
    # Imported here: the stages load every rule of the extractor, which only the worker needs.
    from recollect.engine.job_worker import Worker

    if services.store.read_only_reason:
        return
    worker = Worker(services.engine)
    while (job := worker.step()) is not None:
        yield job


def hand_back_jobs(services: Services) -> int:
    """Make the jobs that this process works on due again; return how many."""
    if not services.engine.running:
        return 0
    from recollect.engine.job_worker import hand_back_jobs  # loads every rule

    return hand_back_jobs(services.engine)


def _require_job(tables: Tables, job_id: str) -> Job:
    job = tables.jobs.get(job_id)
    if job is None:
        raise NotFound(f"there is no job {job_id!r}; `recollect jobs list` shows those there are")
    return job
