"""Handlers of the requests for projects."""

from recollect.service import projects
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import projects as requests

HANDLERS: Handlers = {
    requests.ListProjectsRequest: projects.list_projects,
    requests.LinkProjectsRequest: projects.link_projects,
    requests.UnlinkProjectRequest: projects.unlink_project,
}
