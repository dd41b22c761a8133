"""
List projects, and link those that a person says are one.

A link makes a project part of another: both names, remotes or folders then mean the same project.
The memories stay where they were written, so that a link can be removed again.
"""

from recollect.domain.project import Project
from recollect.errors import InvalidInput, NotFound
from recollect.service.place_lookup import RequestPlace, ensure_project, find_project
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.projects import (
    LinkProjectsRequest,
    ListProjectsRequest,
    UnlinkProjectRequest,
)


def list_projects(services: Services, request: ListProjectsRequest) -> list[Project]:
    """Return every project."""
    with services.store.read() as tables:
        return tables.projects.projects()


def link_projects(services: Services, request: LinkProjectsRequest) -> Project:
    """Make a project part of another, create missing ones, and return the main project."""
    references = [_valid_reference(request.project), _valid_reference(request.other)]

    def write(tables: Tables) -> Project:
        main, other = (ensure_project(tables, name, services.clock) for name in references)
        if main.linked_to:
            main = _require(tables, main.linked_to)
        if main.id == other.id:
            raise InvalidInput(f"{request.project!r} and {request.other!r} are the same project")
        now = services.clock.now()
        for project_id in (other.id, *tables.projects.linked_ids(other.id)):
            if project_id != main.id:
                tables.projects.link_project(project_id, main.id, now)
        return main

    return services.store.write(write)


def unlink_project(services: Services, request: UnlinkProjectRequest) -> Project:
    """Make a linked project one of its own again."""
    reference = _valid_reference(request.project)

    def write(tables: Tables) -> Project:
        project = find_project(tables, reference)
        if project is None:
            raise NotFound(
                f"there is no project {request.project!r} in this store; "
                "`recollect project list` shows them"
            )
        if not project.linked_to:
            raise InvalidInput(f"{request.project!r} is not linked to another project")
        tables.projects.unlink_project(project.id)
        return _require(tables, project.id)

    return services.store.write(write)


def _valid_reference(reference: str) -> str:
    return RequestPlace.of(reference).project or ""


def _require(tables: Tables, project_id: str) -> Project:
    project = tables.projects.project(project_id)
    if project is None:
        raise NotFound(f"there is no project {project_id} in this store")
    return project
