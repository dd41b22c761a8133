"""Jobs of the learning pipeline."""

from recollect.api.arguments import Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.job import Job
from recollect.wire.requests.jobs import GetJobRequest, ListJobsRequest, RetryJobRequest


class Jobs(VerbGroup):
    """Jobs of the learning pipeline."""

    def get(self, job_id: str) -> Job:
        """Return one job."""
        return self._send(GetJobRequest, locals())

    def retry(self, job_id: str) -> Job:
        """Make a failed or waiting job due now."""
        return self._send(RetryJobRequest, locals())

    def list(self, *, states: Texts | None = None, limit: int = 50) -> list[Job]:
        """Return unfinished jobs, or those in *states*, in the order they are due."""
        return self._send(ListJobsRequest, locals())
