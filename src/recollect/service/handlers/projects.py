"""Handlers of the requests for projects."""

from recollect.service.handlers.handler_table import Handlers
from recollect.service.place_lookup import list_projects
from recollect.wire.requests.projects import ListProjectsRequest

HANDLERS: Handlers = {ListProjectsRequest: list_projects}
