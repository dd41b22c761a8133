"""Requests for memories."""

from recollect.domain.block import BlockAuthor
from recollect.domain.memory import Memory
from recollect.wire.fields import Id, JsonList, StatusName, Summary, Writer
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import FilterFields


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
