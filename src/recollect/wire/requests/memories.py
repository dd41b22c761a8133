"""Requests for memories."""

from typing import Annotated

from recollect.domain.block import BlockAuthor
from recollect.domain.maintenance import ConflictPair
from recollect.domain.memory import Memory
from recollect.domain.source import SourceWindow
from recollect.wire import fields
from recollect.wire.fields import Flag, Id, JsonList, Limit, StatusName, Summary, Writer, option
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import FilterFields, PlaceFields

SOURCE_MARGIN = 1_000
MAX_SOURCE_MARGIN = 100_000


class IngestManyRequest(VerbRequest[list[Memory]], route="POST /memories/batch"):
    """Store several memories, all or none; each item has the fields of `ingest`."""

    items: JsonList


class GetMemoryRequest(VerbRequest[Memory], route="GET /memories/{memory_id}"):
    """Return one memory."""

    memory_id: Id


class SetStatusRequest(VerbRequest[Memory], route="PUT /memories/{memory_id}/status"):
    """Change the status of a memory."""

    memory_id: Id
    status: StatusName
    reason: Summary = ""
    by: Writer = BlockAuthor.USER


class ConfirmMemoryRequest(VerbRequest[Memory], route="POST /memories/{memory_id}/confirm"):
    """Record that a memory is still true."""

    memory_id: Id


class ListMemoriesRequest(FilterFields, VerbRequest[list[Memory]], route="GET /memories"):
    """Return the newest memories."""


class EditMemoryRequest(PlaceFields, VerbRequest[Memory], route="PATCH /memories/{memory_id}"):
    """Correct a memory; the original stays readable as superseded."""

    memory_id: Id
    content: fields.Content | None = option(None, "The new wording.")
    title: fields.Title | None = option(None, "The new title.")
    type: fields.MemoryTypeName | None = option(None, "The new type.")
    scope: fields.ScopeName | None = option(None, "Who sees it from now on.")
    tags: fields.Tags | None = option(None, "The new tags, instead of the old ones. Repeatable.")
    rationale: Summary | None = option(None, "The reason for a decision.")
    observed_at: fields.Moment | None = option(None, "Since when it is true (2026-05-08).")
    reason: Summary = option("", "Why it is corrected, for its history.")


class ReadSourceRequest(VerbRequest[SourceWindow], route="GET /sources/{source_id}"):
    """Return a part of a source: the characters around a span."""

    source_id: Id
    start: fields.Position = 0
    end: fields.Position | None = None
    margin: Annotated[int, fields.whole_number(0, MAX_SOURCE_MARGIN)] = SOURCE_MARGIN


class ListConflictsRequest(VerbRequest[list[ConflictPair]], route="GET /conflicts"):
    """Return the pairs of current memories that contradict each other."""

    limit: Limit = option(50, "Maximum number of results.")


class SettleConflictRequest(VerbRequest[list[Memory]], route="POST /conflicts/settle"):
    """Decide which of two contradicting memories is true, or that both are."""

    memory_id: Id
    other_id: Id
    both: Flag = option(False, "Both are true; they do not contradict each other.")
    reason: Summary = option("", "Why, for their history.")
