"""Handlers of the verbs that `Recollect` itself has."""

from recollect.service import (
    briefing,
    capture,
    forget,
    maintenance,
    read,
    review,
    task_context,
    write,
)
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import recollect as requests

HANDLERS: Handlers = {
    requests.IngestRequest: write.ingest,
    requests.CaptureSessionRequest: capture.capture_session,
    requests.CaptureConversationRequest: capture.capture_conversation,
    requests.SearchRequest: read.search,
    requests.WhyNotRequest: read.why_not,
    requests.WhyNothingRequest: read.why_nothing,
    requests.ContextForRequest: task_context.context_for,
    requests.BriefingRequest: briefing.briefing,
    requests.ConsolidateRequest: review.consolidate,
    requests.UpsertProfileFactRequest: write.upsert_profile_fact,
    requests.LinkRequest: write.link,
    requests.ExplainRequest: read.explain,
    requests.PromoteRequest: review.promote,
    requests.RejectRequest: review.reject,
    requests.UndoRequest: review.undo,
    requests.ForgetRequest: forget.forget,
    requests.DrainRequest: maintenance.drain,
}
