"""Documents: JSON values by namespace and key. Writing them updates the word index."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.domain.document import Document, Namespace, namespace_json
from recollect.domain.scope import ItemKind
from recollect.store.database_connection import any_json, record_shape, value_shape
from recollect.store.repositories.repository import IndexedRepository, field_values

_DOCUMENT = "id namespace key value text revision created_at updated_at lifetime_s expires_at"
_document = record_shape(Document, _DOCUMENT)
_namespace = value_shape(Namespace)


class DocumentRepository(IndexedRepository):
    """Documents, by namespace and key."""

    _statements = "documents"

    def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """Return the document with that key, expired or not, or None."""
        return self._first(_document, "document", namespace=namespace_json(namespace), key=key)

    def get_many(self, document_ids: Sequence[str]) -> list[Document]:
        """Return the documents with those ids, in that order; unknown ids are left out."""
        return self._all(_document, "documents", ids=list(document_ids))

    def add(self, document: Document) -> None:
        """Store a new document and index its text."""
        self._run("add_document", **_values(document))
        if document.text:
            self._index.add(ItemKind.DOCUMENT, document.owner, document.id, document.text)

    def set(self, document: Document, old: Document) -> None:
        """Store another value of a document, given as it was and as it is."""
        self._run("set_document", **_values(document))
        if document.text == old.text:
            return
        if old.text:
            self._index.remove(old.id, old.text)
        if document.text:
            self._index.add(ItemKind.DOCUMENT, document.owner, document.id, document.text)

    def set_expiry(self, document_id: str, expires_at: datetime) -> None:
        """Store when a document expires."""
        self._run("set_expiry", id=document_id, expires_at=expires_at)

    def delete(self, document: Document) -> None:
        """Delete a document and remove it from the index."""
        if document.text:
            self._index.remove(document.id, document.text)
        self._run("delete_document", id=document.id)

    def under(
        self, prefix: Sequence[str], *, now: datetime, limit: int, offset: int = 0
    ) -> list[Document]:
        """Return what has not expired in a namespace and those below it, the latest first."""
        values = {**_range(prefix), "now": now, "limit": limit, "offset": offset}
        return self._all(_document, "under_prefix", **values)

    def namespaces(self, prefix: Sequence[str], *, now: datetime) -> list[Namespace]:
        """Return a namespace and those below it, those with documents that have not expired."""
        rows = self._all(_namespace, "namespaces", **_range(prefix), now=now)
        return [namespace for (namespace,) in rows]

    def expired(self, now: datetime, *, limit: int) -> list[Document]:
        """Return expired documents, the earliest first."""
        return self._all(_document, "expired", now=now, limit=limit)


def _values(document: Document) -> dict[str, Any]:
    return field_values(document) | {
        "namespace": namespace_json(document.namespace),
        "value": any_json(document.value),
    }


def _range(prefix: Sequence[str]) -> dict[str, str]:
    """Return the stored text of a namespace, and between which texts those below it are."""
    exact = namespace_json(prefix)
    if not prefix:
        return {"exact": exact, "first": "[", "after": "]"}
    longer = exact[:-1]  # '["users"' is followed by ',' if there are more parts; '-' is next to ','
    return {"exact": exact, "first": f"{longer},", "after": f"{longer}-"}
