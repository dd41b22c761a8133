"""Requests for saved searches."""

from recollect.domain.retrieval import Hit, View
from recollect.wire.fields import Name, Text
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import FilterFields


class SaveViewRequest(FilterFields, VerbRequest[View], route="PUT /views/{name}"):
    """Save a search under a name."""

    name: Name
    query: Text


class DeleteViewRequest(VerbRequest[None], route="DELETE /views/{name}"):
    """Delete a saved search."""

    name: Text


class RunViewRequest(VerbRequest[list[Hit]], route="POST /views/{name}/run"):
    """Run a saved search."""

    name: Text


class ListViewsRequest(VerbRequest[list[View]], route="GET /views"):
    """Return every saved search."""
