"""Projects."""

from recollect.api.noun import Noun
from recollect.domain.project import Project
from recollect.wire.requests.projects import ListProjectsRequest


class Projects(Noun):
    """Projects."""

    def list(self) -> list[Project]:
        """Return every project."""
        return self._send(ListProjectsRequest, locals())
