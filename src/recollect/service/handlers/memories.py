"""Handlers of the requests for memories. Each loads on use: a hook needs one."""

from recollect.service.handlers.handler_table import Handlers, lazy_handler
from recollect.wire.requests import memories as requests

HANDLERS: Handlers = {
    requests.IngestManyRequest: lazy_handler("write_memory.ingest_many"),
    requests.ListMemoriesRequest: lazy_handler("search_memories.list_memories"),
    requests.GetMemoryRequest: lazy_handler("search_memories.get_memory"),
    requests.SetStatusRequest: lazy_handler("write_memory.set_status"),
    requests.ConfirmMemoryRequest: lazy_handler("maintenance.confirm_memory"),
    requests.EditMemoryRequest: lazy_handler("edit_memory.edit_memory"),
    requests.ReadSourceRequest: lazy_handler("source_window.read_source"),
    requests.ListConflictsRequest: lazy_handler("conflicts.list_conflicts"),
    requests.SettleConflictRequest: lazy_handler("conflicts.settle_conflict"),
}
