"""Handlers of the requests for memories."""

from recollect.service import maintenance, read, write
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import memories as requests

HANDLERS: Handlers = {
    requests.IngestManyRequest: write.ingest_many,
    requests.ListMemoriesRequest: read.list_memories,
    requests.GetMemoryRequest: read.get_memory,
    requests.SetStatusRequest: write.set_status,
    requests.ConfirmMemoryRequest: maintenance.confirm_memory,
}
