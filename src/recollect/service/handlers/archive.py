"""Handlers of the requests for an agent's archive of passages."""

from recollect.service.archive import insert_passage, list_passages, search_passages
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests.archive import (
    InsertPassageRequest,
    ListPassagesRequest,
    SearchPassagesRequest,
)

HANDLERS: Handlers = {
    InsertPassageRequest: insert_passage,
    ListPassagesRequest: list_passages,
    SearchPassagesRequest: search_passages,
}
