"""Handlers of the requests for saved searches."""

from recollect.service import views
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import views as requests

HANDLERS: Handlers = {
    requests.ListViewsRequest: views.list_views,
    requests.SaveViewRequest: views.save_view,
    requests.DeleteViewRequest: views.delete_view,
    requests.RunViewRequest: views.run_view,
}
