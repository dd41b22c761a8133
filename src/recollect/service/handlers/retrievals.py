"""Handlers of the requests for the log of retrievals."""

from recollect.service import retrieval_log
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import retrievals as requests

HANDLERS: Handlers = {
    requests.ListRetrievalsRequest: retrieval_log.list_retrievals,
}
