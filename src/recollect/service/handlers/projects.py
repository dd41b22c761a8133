"""Handlers of the requests for projects."""

from recollect.domain.project import Project
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.projects import ListProjectsRequest


def list_projects(services: Services, request: ListProjectsRequest) -> list[Project]:
    with services.store.read() as tables:
        return tables.projects.projects()


HANDLERS: Handlers = {
    ListProjectsRequest: list_projects,
}
