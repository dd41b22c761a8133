"""Handlers of the requests for memories."""

from collections.abc import Mapping
from typing import Any

from recollect.domain.memory import Memory
from recollect.errors import InvalidInput
from recollect.service import maintenance, read, write
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.memories import (
    ConfirmMemoryRequest,
    GetMemoryRequest,
    IngestManyRequest,
    ListMemoriesRequest,
    SetStatusRequest,
)
from recollect.wire.requests.recollect import IngestRequest


def ingest_many(services: Services, request: IngestManyRequest) -> list[Memory]:
    return write.ingest_many(
        services, [write.draft_of(IngestRequest.of(_item(item))) for item in request.items]
    )


def list_memories(services: Services, request: ListMemoriesRequest) -> list[Memory]:
    return read.newest(services, read.question_of(request, ""))


def get_memory(services: Services, request: GetMemoryRequest) -> Memory:
    return read.get(services, request.memory_id)


def set_status(services: Services, request: SetStatusRequest) -> Memory:
    return write.move(
        services, request.memory_id, request.status, by=request.by, reason=request.reason
    )


def confirm_memory(services: Services, request: ConfirmMemoryRequest) -> Memory:
    return maintenance.confirm(services, request.memory_id)


def _item(item: object) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise InvalidInput("each item must be a dict of what `ingest` takes")
    return item


HANDLERS: Handlers = {
    IngestManyRequest: ingest_many,
    ListMemoriesRequest: list_memories,
    GetMemoryRequest: get_memory,
    SetStatusRequest: set_status,
    ConfirmMemoryRequest: confirm_memory,
}
