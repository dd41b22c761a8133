"""Handlers of the requests for jobs of the learning pipeline."""

from recollect.domain.job import Job
from recollect.service import jobs
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.jobs import GetJobRequest, ListJobsRequest, RetryJobRequest


def list_jobs(services: Services, request: ListJobsRequest) -> list[Job]:
    return jobs.jobs(services, states=request.states, limit=request.limit)


def get_job(services: Services, request: GetJobRequest) -> Job:
    return jobs.job(services, request.job_id)


def retry_job(services: Services, request: RetryJobRequest) -> Job:
    return jobs.retry(services, request.job_id)


HANDLERS: Handlers = {
    ListJobsRequest: list_jobs,
    GetJobRequest: get_job,
    RetryJobRequest: retry_job,
}
