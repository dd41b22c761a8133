"""Which function carries out which request for an agent's archive of passages."""

from recollect.service.archive import insert_passage, search_passages
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests.archive import InsertPassageRequest, SearchPassagesRequest

HANDLERS: Handlers = {InsertPassageRequest: insert_passage, SearchPassagesRequest: search_passages}
