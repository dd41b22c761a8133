"""Requests of the verbs that `Recollect` itself has."""

from collections.abc import Mapping

from recollect.domain.block import By
from recollect.domain.capture_event import Event
from recollect.domain.context_bundle import Bundle
from recollect.domain.link import Link
from recollect.domain.maintenance import Imported, Receipt
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, WhyNot
from recollect.wire.fields import (
    Flag,
    Id,
    Ids,
    Json,
    MemoryTypeName,
    Moment,
    Number,
    PathText,
    ScopeName,
    StatusName,
    Text,
    Texts,
    WholeNumber,
    Writer,
    ZonedMoment,
)
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import CaptureFields, FilterFields, PlaceFields

MESSAGE_LIMIT = 12  # earlier messages in a bundle, at most


class IngestRequest(PlaceFields, VerbRequest[Memory], route="POST /memories"):
    """Store one memory."""

    content: Text
    type: MemoryTypeName | None = None
    scope: ScopeName | None = None
    title: Text = ""
    summary: Text = ""
    tags: Texts = ()
    confidence: Number = 1.0
    observed_at: Moment | None = None
    rationale: Text = ""
    alternatives: Texts = ()
    status: StatusName = Status.ACTIVE
    by: Writer = By.USER


class CaptureSessionRequest(CaptureFields, VerbRequest[Event], route="POST /captures/session"):
    """Capture the transcript of one session."""

    transcript: Json


class CaptureConversationRequest(
    CaptureFields, VerbRequest[Event], route="POST /captures/conversation"
):
    """Capture one conversation as transcript, note, summary or import."""

    material: Json
    capture_mode: Text = "transcript"


class SearchRequest(FilterFields, VerbRequest[list[Hit]], route="POST /search"):
    """Search memories."""

    query: Text


class WhyNotRequest(FilterFields, VerbRequest[WhyNot], route="POST /memories/{memory_id}/why-not"):
    """Explain why a memory was not returned for a query."""

    memory_id: Id
    query: Text


class WhyNothingRequest(FilterFields, VerbRequest[WhyNot], route="POST /search/why-nothing"):
    """Explain why a search returned nothing."""

    query: Text


class ContextForRequest(PlaceFields, VerbRequest[Bundle], route="POST /context"):
    """Assemble the context bundle for a task."""

    task: Text
    conversation: Id | None = None
    file: PathText | None = None
    budget_tokens: WholeNumber = 2_000
    model: Text = ""
    shares: Json = None
    form: Text = "tags"
    line_numbers: Flag = False
    metadata: Flag = True
    history: Flag = True
    message_limit: WholeNumber = MESSAGE_LIMIT
    in_sight: Json = ()
    asked_at: ZonedMoment | None = None


class BriefingRequest(PlaceFields, VerbRequest[Bundle], route="POST /briefing"):
    """Assemble the bundle for the start of a session."""

    budget_tokens: WholeNumber = 1_500
    form: Text = "tags"
    model: Text = ""


class ConsolidateRequest(VerbRequest[Mapping[str, int]], route="POST /consolidate"):
    """Compare candidates with existing memories and apply the promotion policy."""

    ids: Ids | None = None


class UpsertProfileFactRequest(VerbRequest[Memory], route="PUT /profile/{key}"):
    """Set a named fact about the user."""

    key: Text
    value: Text


class LinkRequest(VerbRequest[Link], route="POST /links"):
    """Link two memories, or a memory and a project."""

    a: Id
    relation: Text
    b: Id
    note: Text = ""


class ExplainRequest(VerbRequest[MemoryExplanation | Retrieval], route="GET /explain/{some_id}"):
    """Explain a memory or a logged retrieval."""

    some_id: Id


class PromoteRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/promote"):
    """Make a candidate active; scope "global" shows it to all agents."""

    memory_id: Id
    reason: Text = ""
    replaces: Flag = False
    scope: ScopeName | None = None


class RejectRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/reject"):
    """Archive a candidate."""

    memory_id: Id
    reason: Text = ""


class UndoRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/undo"):
    """Undo the last change of a memory's status."""

    memory_id: Id


class ForgetRequest(VerbRequest[Receipt], route="DELETE /memories/{memory_id}"):
    """Remove a memory from every table and index."""

    memory_id: Id


class DrainRequest(VerbRequest[int], route="POST /drain"):
    """Run every job that is due and embed what is pending."""


class ExportRequest(VerbRequest[int], route="GET /export"):
    """Write the whole store to one file."""


class ImportRequest(VerbRequest[Imported], route="POST /import"):
    """Add everything in an exported file."""
