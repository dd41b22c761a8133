"""Handlers of the requests for an agent's archive of passages."""

from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.service import archival
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.archive import InsertPassageRequest, SearchPassagesRequest


def insert_passage(services: Services, request: InsertPassageRequest) -> Memory:
    return archival.insert(
        services,
        request.agent,
        request.content,
        tags=request.tags,
        title=request.title,
        observed_at=request.observed_at,
        token_limit=request.token_limit,
    )


def search_passages(services: Services, request: SearchPassagesRequest) -> list[Hit]:
    return archival.search(
        services,
        request.agent,
        request.query,
        tags=request.tags,
        tag_match=request.tag_match,
        since=request.since,
        until=request.until,
        asked_at=request.asked_at,
        limit=request.limit,
    )


HANDLERS: Handlers = {
    InsertPassageRequest: insert_passage,
    SearchPassagesRequest: search_passages,
}
