"""Handlers of the requests for saved searches."""

from recollect.domain.retrieval import Hit, View
from recollect.service import read, views
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.views import (
    DeleteViewRequest,
    ListViewsRequest,
    RunViewRequest,
    SaveViewRequest,
)


def list_views(services: Services, request: ListViewsRequest) -> list[View]:
    return views.views(services)


def save_view(services: Services, request: SaveViewRequest) -> View:
    return views.save_view(services, request.name, read.question_of(request, request.query))


def delete_view(services: Services, request: DeleteViewRequest) -> None:
    views.delete_view(services, request.name)


def run_view(services: Services, request: RunViewRequest) -> list[Hit]:
    return views.run_view(services, request.name)


HANDLERS: Handlers = {
    ListViewsRequest: list_views,
    SaveViewRequest: save_view,
    DeleteViewRequest: delete_view,
    RunViewRequest: run_view,
}
