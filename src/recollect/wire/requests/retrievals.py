"""Requests for the log of retrievals."""

from recollect.domain.retrieval import Retrieval
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest


class ListRetrievalsRequest(VerbRequest[list[Retrieval]], route="GET /retrievals"):
    """Return logged retrievals, newest first."""

    agent: fields.Id | None = option(None, "Only of this agent.")
    memory: fields.Id | None = option(None, "Only those that returned this memory.")
    limit: fields.Limit = option(50, "Maximum number of results.")
    offset: fields.Offset = option(0, "How many to skip.")
