"""Requests for projects."""

from recollect.domain.project import Project
from recollect.wire.request import VerbRequest


class ListProjectsRequest(VerbRequest[list[Project]], route="GET /projects"):
    """Return every project of the store."""
