"""Handlers of the requests for the inbox: candidates that wait for a decision."""

from recollect.domain.memory import Memory
from recollect.domain.maintenance import Waiting
from recollect.service import inbox, read, review
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.inbox import (
    DecideRequest,
    ListInboxRequest,
    PromoteManyRequest,
    RejectManyRequest,
    UndoManyRequest,
)


def list_inbox(services: Services, request: ListInboxRequest) -> list[Waiting]:
    question = read.inbox_question_of(request)
    return inbox.waiting(services, question, grouped=request.grouped)


def decide(services: Services, request: DecideRequest) -> list[Memory]:
    return review.decide(
        services, request.memory_id, request.verdict, reason=request.reason, by=request.by
    )


def promote_many(services: Services, request: PromoteManyRequest) -> list[Memory]:
    return review.promote(
        services,
        request.memory_ids,
        reason=request.reason,
        replaces=request.replaces,
        scope=request.scope,
    )


def reject_many(services: Services, request: RejectManyRequest) -> list[Memory]:
    return review.reject(services, request.memory_ids, reason=request.reason)


def undo_many(services: Services, request: UndoManyRequest) -> list[Memory]:
    return review.undo(services, request.memory_ids)


HANDLERS: Handlers = {
    ListInboxRequest: list_inbox,
    DecideRequest: decide,
    PromoteManyRequest: promote_many,
    RejectManyRequest: reject_many,
    UndoManyRequest: undo_many,
}
