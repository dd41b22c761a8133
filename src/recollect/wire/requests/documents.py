"""Requests for documents: JSON values by namespace and key."""

from typing import Annotated

from recollect.domain import document as domain
from recollect.domain import limits
from recollect.wire import fields
from recollect.wire.request import VerbRequest

Key = Annotated[str, fields.text(limits.MAX_KEY)]


class PutDocumentRequest(VerbRequest[domain.Document], route="PUT /documents"):
    """Store a JSON value under a namespace and a key; it replaces a value that is there."""

    namespace: fields.Texts
    key: Key
    value: fields.ExactJson
    text: fields.Content | None = None
    exact: fields.Flag = False
    lifetime_s: fields.Seconds | None = None
    expected_revision: fields.Position | None = None


class GetDocumentRequest(VerbRequest[domain.Document | None], route="GET /document"):
    """Return the document with that key; None if there is none."""

    namespace: fields.Texts
    key: Key


class ExtendDocumentRequest(VerbRequest[domain.Document | None], route="POST /documents/extend"):
    """Restart a document's time to live and return it."""

    namespace: fields.Texts
    key: Key


class DeleteDocumentRequest(VerbRequest[bool], route="DELETE /document"):
    """Delete a document; return whether there was one."""

    namespace: fields.Texts
    key: Key
    expected_revision: fields.Position | None = None


class SearchDocumentsRequest(VerbRequest[list[domain.DocumentHit]], route="POST /documents/search"):
    """Return the best documents of a namespace and those below it, or list them."""

    namespace: fields.Texts = ()
    query: fields.Text = ""
    filter: fields.Json = None
    limit: fields.Limit = 10
    offset: fields.Offset = 0


class ListNamespacesRequest(VerbRequest[list[tuple[str, ...]]], route="GET /document-namespaces"):
    """Return the namespaces that have documents, in order."""

    prefix: fields.Texts = ()
    limit: fields.Limit = 100
    offset: fields.Offset = 0
