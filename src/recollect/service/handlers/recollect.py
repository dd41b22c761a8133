"""Handlers of the verbs that `Recollect` itself has."""

from collections.abc import Mapping

from recollect.domain.capture_event import Event, Trigger
from recollect.domain.context_bundle import Bundle
from recollect.domain.maintenance import Receipt
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, WhyNot
from recollect.errors import InvalidInput
from recollect.service import briefing, capture, context, read, review, upkeep, write
from recollect.service.forget import forget as forget_memory
from recollect.service.handlers.table import Handlers
from recollect.service.places import where_of
from recollect.service.services import Services
from recollect.wire.requests.recollect import (
    BriefingRequest,
    CaptureConversationRequest,
    CaptureSessionRequest,
    ConsolidateRequest,
    ContextForRequest,
    DrainRequest,
    ExplainRequest,
    ForgetRequest,
    IngestRequest,
    LinkRequest,
    PromoteRequest,
    RejectRequest,
    SearchRequest,
    UndoRequest,
    UpsertProfileFactRequest,
    WhyNothingRequest,
    WhyNotRequest,
)


def capture_session(services: Services, request: CaptureSessionRequest) -> Event:
    return _capture_one(
        services, capture.captures(request.transcript, request, trigger=Trigger.SESSION)
    )


def capture_conversation(services: Services, request: CaptureConversationRequest) -> Event:
    captures = capture.captures(
        request.material, request, trigger=Trigger.CONVERSATION, mode=request.capture_mode
    )
    return _capture_one(services, captures)


def _capture_one(services: Services, captures: list[capture.Capture]) -> Event:
    if len(captures) != 1:
        raise InvalidInput(
            f"the material holds {len(captures)} conversations; use captures.add_file or "
            "captures.add_many"
        )
    return capture.capture_many(services, captures)[0]


def search(services: Services, request: SearchRequest) -> list[Hit]:
    return read.search(services, read.question_of(request, request.query))


def why_not(services: Services, request: WhyNotRequest) -> WhyNot:
    return read.why_not(services, request.memory_id, read.question_of(request, request.query))


def why_nothing(services: Services, request: WhyNothingRequest) -> WhyNot:
    return read.why_nothing(services, read.question_of(request, request.query))


def context_for(services: Services, request: ContextForRequest) -> Bundle:
    return context.context_for(services, context.request_of(request))


def get_briefing(services: Services, request: BriefingRequest) -> Bundle:
    settings = briefing.request(
        where=where_of(request),
        budget_tokens=request.budget_tokens,
        form=request.form,
        model=request.model,
    )
    return briefing.briefing(services, settings)


def consolidate(services: Services, request: ConsolidateRequest) -> Mapping[str, int]:
    return review.consolidate(services, request.ids)


def explain(services: Services, request: ExplainRequest) -> MemoryExplanation | Retrieval:
    return read.explain(services, request.some_id)


def promote(services: Services, request: PromoteRequest) -> Memory:
    return review.promote(
        services,
        request.memory_id,
        reason=request.reason,
        replaces=request.replaces,
        scope=request.scope,
    )[0]


def reject(services: Services, request: RejectRequest) -> Memory:
    return review.reject(services, request.memory_id, reason=request.reason)[0]


def undo(services: Services, request: UndoRequest) -> Memory:
    return review.undo(services, request.memory_id)[0]


def forget(services: Services, request: ForgetRequest) -> Receipt:
    return forget_memory(services, request.memory_id)


def drain(services: Services, request: DrainRequest) -> int:
    return upkeep.drain(services)


HANDLERS: Handlers = {
    IngestRequest: write.ingest,
    CaptureSessionRequest: capture_session,
    CaptureConversationRequest: capture_conversation,
    SearchRequest: search,
    WhyNotRequest: why_not,
    WhyNothingRequest: why_nothing,
    ContextForRequest: context_for,
    BriefingRequest: get_briefing,
    ConsolidateRequest: consolidate,
    UpsertProfileFactRequest: write.upsert_profile_fact,
    LinkRequest: write.link,
    ExplainRequest: explain,
    PromoteRequest: promote,
    RejectRequest: reject,
    UndoRequest: undo,
    ForgetRequest: forget,
    DrainRequest: drain,
}
