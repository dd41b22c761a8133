"""Documents: JSON values by namespace and key."""

from collections.abc import Mapping
from typing import Any

from recollect.api.arguments import Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.document import Document, DocumentHit
from recollect.wire.requests import documents as requests


class Documents(VerbGroup):
    """
    Store JSON values by namespace and key, change them in place, and search them.

    A *namespace* is a list of texts, from the widest to the narrowest: `("users", "alice")`.
    Documents are the caller's own: `search` and `context_for` do not return them.
    """

    def put(
        self,
        namespace: Texts,
        key: str,
        value: Any,
        *,
        text: str | None = None,
        exact: bool = False,
        lifetime_s: float | None = None,
        expected_revision: int | None = None,
    ) -> Document:
        """Store *value* under *key*; it replaces a value that is there.

        *text* is what `search` looks through, by default all texts of the value; '' keeps it out of
        the index. Secrets are redacted in the value, unless it must come back *exact*; they are
        always redacted in the text. After *lifetime_s* seconds the document is gone.
        *expected_revision* raises `RevisionConflict` if it has another one; 0 if it must be new.
        """
        return self._send(requests.PutDocumentRequest, locals())

    def get(self, namespace: Texts, key: str) -> Document | None:
        """Return the document with that key; None if there is none."""
        return self._send(requests.GetDocumentRequest, locals())

    def extend(self, namespace: Texts, key: str) -> Document | None:
        """Restart the document's time to live and return it."""
        return self._send(requests.ExtendDocumentRequest, locals())

    def delete(self, namespace: Texts, key: str, *, expected_revision: int | None = None) -> bool:
        """Delete a document; return whether there was one."""
        return self._send(requests.DeleteDocumentRequest, locals())

    def search(
        self,
        namespace: Texts = (),
        query: str = "",
        *,
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> list[DocumentHit]:
        """Return the best documents of a namespace and those below it, by words and meaning.

        There is no relevance threshold: the result is the best *limit*, however good they are.
        Without a query the documents are listed, the latest first. *filter* has a condition for
        each field: a value, or `{"$gt": 3}` with $eq, $ne, $gt, $gte, $lt, $lte.
        """
        return self._send(requests.SearchDocumentsRequest, locals())

    def namespaces(
        self, prefix: Texts = (), *, limit: int = 100, offset: int = 0
    ) -> list[tuple[str, ...]]:
        """Return the namespaces at and below *prefix* that have documents, in order."""
        return self._send(requests.ListNamespacesRequest, locals())
