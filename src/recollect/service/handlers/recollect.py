"""Handlers of the verbs that `Recollect` itself has. Each loads on use: a hook needs one."""

from recollect.service.handlers.handler_table import Handlers, lazy_handler
from recollect.wire.requests import recollect as requests

HANDLERS: Handlers = {
    requests.IngestRequest: lazy_handler("write_memory.ingest"),
    requests.CaptureSessionRequest: lazy_handler("capture.capture_session"),
    requests.CaptureConversationRequest: lazy_handler("capture.capture_conversation"),
    requests.SearchRequest: lazy_handler("search_memories.search"),
    requests.WhyNotRequest: lazy_handler("search_memories.why_not"),
    requests.WhyNothingRequest: lazy_handler("search_memories.why_nothing"),
    requests.ContextForRequest: lazy_handler("task_context.context_for"),
    requests.BriefingRequest: lazy_handler("briefing.briefing"),
    requests.ConsolidateRequest: lazy_handler("review.consolidate"),
    requests.UpsertProfileFactRequest: lazy_handler("write_memory.upsert_profile_fact"),
    requests.LinkRequest: lazy_handler("write_memory.link"),
    requests.ExplainRequest: lazy_handler("explain.explain"),
    requests.PromoteRequest: lazy_handler("review.promote"),
    requests.RejectRequest: lazy_handler("review.reject"),
    requests.UndoRequest: lazy_handler("review.undo"),
    requests.ForgetRequest: lazy_handler("forget.forget"),
    requests.DrainRequest: lazy_handler("maintenance.drain"),
}
