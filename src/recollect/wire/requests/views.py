"""Requests for saved searches."""

from recollect.domain.retrieval import Hit, SavedSearch
from recollect.wire.fields import Name, Text
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import FilterFields


class SaveViewRequest(FilterFields, VerbRequest[SavedSearch], route="PUT /views/{name}"):
    """Save a search under a name."""

    name: Name
    query: Text


class DeleteViewRequest(VerbRequest[None], route="DELETE /views/{name}"):
    """Delete a saved search."""

    name: Text


class RunViewRequest(VerbRequest[list[Hit]], route="POST /views/{name}/run"):
    """Run a saved search."""

    name: Text


class ListViewsRequest(VerbRequest[list[SavedSearch]], route="GET /views"):
    """Return every saved search."""
