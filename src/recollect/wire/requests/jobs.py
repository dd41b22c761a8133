"""Requests for jobs of the learning pipeline."""

from recollect.domain.job import Job
from recollect.wire.fields import Id, JobStates, Limit
from recollect.wire.request import VerbRequest


class ListJobsRequest(VerbRequest[list[Job]], route="GET /jobs"):
    """Return unfinished jobs, or those in some states, in the order they are due."""

    states: JobStates | None = None
    limit: Limit = 50


class GetJobRequest(VerbRequest[Job], route="GET /jobs/{job_id}"):
    """Return one job."""

    job_id: Id


class RetryJobRequest(VerbRequest[Job], route="POST /jobs/{job_id}/retry"):
    """Make a parked or waiting job due now."""

    job_id: Id
