"""Requests of the verbs that `Recollect` itself has."""

from collections.abc import Mapping
from typing import Annotated

from recollect.domain.block import BlockAuthor
from recollect.domain.capture_event import CaptureMode, Event
from recollect.domain.context_bundle import Bundle, BundleFormat
from recollect.domain.link import Link
from recollect.domain.maintenance import Imported, Receipt
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, WhyNot
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import CaptureFields, FilterFields, PlaceFields

MESSAGE_LIMIT = 12  # earlier messages in a bundle, at most


class IngestRequest(PlaceFields, VerbRequest[Memory], route="POST /memories"):
    """Store one memory."""

    content: fields.Content
    type: fields.MemoryTypeName | None = option(None, "The type of memory. Default: by its text.")
    scope: fields.ScopeName | None = option(
        None, "Who sees it. Default: by --project, --repo, --agent."
    )
    title: fields.Title = option("", "A short title.")
    summary: fields.Summary = option("", "A summary, for long content.")
    tags: fields.Tags = option((), "A tag. Repeatable.")
    confidence: fields.Share = option(1.0, "How certain it is, from 0 to 1. Default: 1.")
    observed_at: fields.Moment | None = option(
        None, "When it was true or said (2026-05-08). Default: now."
    )
    rationale: fields.Summary = option("", "The reason for a decision.")
    alternatives: fields.Alternatives = option((), "What was decided against. Repeatable.")
    status: fields.StatusName = Status.ACTIVE
    by: fields.Writer = BlockAuthor.USER
    author: fields.Name = ""


class CaptureSessionRequest(CaptureFields, VerbRequest[Event], route="POST /captures/session"):
    """Capture the transcript of one session."""

    transcript: fields.Json


class CaptureConversationRequest(
    CaptureFields, VerbRequest[Event], route="POST /captures/conversation"
):
    """Capture one conversation as transcript, note, summary or import."""

    material: fields.Json
    capture_mode: fields.CaptureModeName = CaptureMode.TRANSCRIPT


class SearchFields(FilterFields):
    """What `search` takes; the verbs that explain a search take the same."""

    query: fields.Text


class SearchRequest(SearchFields, VerbRequest[list[Hit]], route="POST /search"):
    """Search memories."""

    below_threshold: fields.Flag = option(
        False, "Return the best matches even if they are below the threshold."
    )
    related: fields.Flag = option(False, "Also return memories that are linked to the results.")
    offset: fields.SearchOffset = option(0, "How many to skip.")


class WhyNotRequest(SearchFields, VerbRequest[WhyNot], route="POST /memories/{memory_id}/why-not"):
    """Explain why a memory was not returned for a query."""

    memory_id: fields.Id


class WhyNothingRequest(SearchFields, VerbRequest[WhyNot], route="POST /search/why-nothing"):
    """Explain why a search returned nothing."""


class ContextForRequest(PlaceFields, VerbRequest[Bundle], route="POST /context"):
    """Assemble the context bundle for a task."""

    task: fields.Text
    conversation: fields.Id | None = option(None, "Add its summary, pins and last messages, by id.")
    file: fields.PathText | None = option(None, "Add what is known about this file.")
    budget_tokens: fields.BudgetTokens = 2_000
    model: fields.Name = option("", "The model whose tokens are counted: gpt-4o, …")
    shares: fields.Json = None
    form: fields.FormName = option(BundleFormat.TAGS, "The format of the text. Default: tags.")
    line_numbers: fields.Flag = option(False, "Number the lines of blocks.")
    metadata: fields.Flag = True
    history: fields.Flag = True
    message_limit: Annotated[int, fields.whole_number(0, 1_000)] = MESSAGE_LIMIT
    visible_texts: fields.Texts = ()
    quick: fields.Flag = False
    asked_at: fields.ZonedMoment | None = None


class BriefingRequest(PlaceFields, VerbRequest[Bundle], route="POST /briefing"):
    """Assemble the bundle for the start of a session."""

    budget_tokens: fields.BudgetTokens = 1_500
    form: fields.FormName = BundleFormat.TAGS
    model: fields.Name = ""


class ConsolidateRequest(VerbRequest[Mapping[str, int]], route="POST /consolidate"):
    """Compare candidates with existing memories and apply the promotion policy."""

    ids: fields.MemoryIds | None = None


class UpsertProfileFactRequest(VerbRequest[Memory], route="PUT /profile/{key}"):
    """Set a named fact about the user."""

    key: fields.Name
    value: fields.Text


class LinkRequest(VerbRequest[Link], route="POST /links"):
    """Link two memories, or a memory and a project."""

    a: fields.Id
    relation: fields.RelationName
    b: fields.Id
    note: fields.Summary = ""


class ExplainRequest(VerbRequest[MemoryExplanation | Retrieval], route="GET /explain/{some_id}"):
    """Explain a memory or a logged retrieval."""

    some_id: fields.Id


class PromoteRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/promote"):
    """Make a candidate active; scope "global" shows it to all agents."""

    memory_id: fields.Id
    reason: fields.Summary = ""
    replaces: fields.Flag = False
    scope: fields.ScopeName | None = None


class RejectRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/reject"):
    """Archive a candidate."""

    memory_id: fields.Id
    reason: fields.Summary = ""


class UndoRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/undo"):
    """Undo the last change of a memory's status."""

    memory_id: fields.Id


class ForgetRequest(VerbRequest[Receipt], route="DELETE /memories/{memory_id}"):
    """Remove a memory and its words from every table and index, or say what would be removed."""

    memory_id: fields.Id
    dry_run: fields.Flag = False


class DrainRequest(VerbRequest[int], route="POST /drain"):
    """Run every job that is due and embed what is pending."""


class ExportRequest(VerbRequest[int], route="GET /export"):
    """
    Write the whole store to one file, encrypted if the store is.

    `synced`: only what sync sends, as the same bytes on all devices that have synced.
    """

    plain: fields.Flag = False
    synced: fields.Flag = False


class ImportRequest(VerbRequest[Imported], route="POST /import"):
    """Add what is in an exported file: everything if it is trusted, else candidates."""

    trust: fields.Flag = False
