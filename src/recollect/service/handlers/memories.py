"""Handlers of the requests for memories."""

from recollect.service import conflicts, edit_memory, maintenance, read, source_window, write
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import memories as requests

HANDLERS: Handlers = {
    requests.IngestManyRequest: write.ingest_many,
    requests.ListMemoriesRequest: read.list_memories,
    requests.GetMemoryRequest: read.get_memory,
    requests.SetStatusRequest: write.set_status,
    requests.ConfirmMemoryRequest: maintenance.confirm_memory,
    requests.EditMemoryRequest: edit_memory.edit_memory,
    requests.ReadSourceRequest: source_window.read_source,
    requests.ListConflictsRequest: conflicts.list_conflicts,
    requests.SettleConflictRequest: conflicts.settle_conflict,
}
