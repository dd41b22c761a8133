"""Handlers of the requests for jobs."""

from recollect.service import jobs
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import jobs as requests

HANDLERS: Handlers = {
    requests.ListJobsRequest: jobs.list_jobs,
    requests.GetJobRequest: jobs.get_job,
    requests.RetryJobRequest: jobs.retry_job,
}
