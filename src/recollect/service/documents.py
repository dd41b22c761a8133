"""
Store, find and delete documents: JSON values by namespace and key.

A value is stored without secrets, or exactly as it was given if the caller asks for that; its text,
which is indexed, never has secrets. An expired document is not returned; each write deletes some of
the expired ones, and maintenance the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from recollect.domain import limits
from recollect.domain.document import (
    Document,
    DocumentHit,
    check_filter,
    document_text,
    namespace_owner,
    passes_filter,
)
from recollect.domain.scope import ItemKind
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.errors import InvalidInput, RevisionConflict
from recollect.retrieval.text_search import rank_texts
from recollect.service import validate
from recollect.service.query_snapshot import QuerySnapshot, query_snapshot
from recollect.service.retrieval_log import log_items
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery
from recollect.wire.requests import documents as requests

MAX_PARTS = 20  # of a namespace
EXPIRED_AT_ONCE = 50  # deleted by a write
ALL = 2**53  # more than there can be


def put_document(services: Services, request: requests.PutDocumentRequest) -> Document:
    """Store a value under a key; it replaces the value that is there."""
    namespace, key = _namespace_of(request.namespace), _key_of(request.key)
    value = request.value
    if request.exact:
        validate.check_json_size("value", value)
    else:
        value = validate.json_of("value", value)
    text = document_text(value) if request.text is None else request.text
    text = validate.plain_text_of("text", text[: limits.MAX_CONTENT])
    now = services.clock.now()
    draft = Document(
        id=services.clock.new_id(),
        namespace=namespace,
        key=key,
        value=value,
        text=text if text.strip() else "",
        revision=1,
        created_at=now,
        updated_at=now,
        lifetime_s=request.lifetime_s,
        expires_at=_expiry(now, request.lifetime_s),
    )

    def write(tables: Tables) -> Document:
        _delete_some_expired(tables, now)
        current = tables.documents.get(namespace, key)
        _check_revision(key, current, request.expected_revision)
        if current is None:
            tables.documents.add(draft)
            return draft
        document = replace(
            draft, id=current.id, revision=current.revision + 1, created_at=current.created_at
        )
        tables.documents.set(document, current)
        return document

    return services.store.write(write)


def get_document(services: Services, request: requests.GetDocumentRequest) -> Document | None:
    """Return the document with that key, if it has not expired."""
    with services.store.read() as tables:
        document = tables.documents.get(request.namespace, request.key)
    is_gone = document is None or document.is_expired(services.clock.now())
    return None if is_gone else document


def extend_document(services: Services, request: requests.ExtendDocumentRequest) -> Document | None:
    """Restart the document's time to live and return it."""

    def write(tables: Tables) -> Document | None:
        now = services.clock.now()
        document = tables.documents.get(request.namespace, request.key)
        if document is None or document.is_expired(now):
            return None
        expires_at = _expiry(now, document.lifetime_s)
        if expires_at is None:
            return document
        tables.documents.set_expiry(document.id, expires_at)
        return replace(document, expires_at=expires_at)

    return services.store.write(write)


def delete_document(services: Services, request: requests.DeleteDocumentRequest) -> bool:
    """Delete a document; return whether there was one."""

    def write(tables: Tables) -> bool:
        document = tables.documents.get(request.namespace, request.key)
        _check_revision(request.key, document, request.expected_revision)
        if document is None:
            return False
        tables.documents.delete(document)
        now = services.clock.now()
        tables.tombstones.add(Tombstone(kind=DeletedKind.DOCUMENT, id=document.id, deleted_at=now))
        return not document.is_expired(now)

    return services.store.write(write)


def search_documents(
    services: Services, request: requests.SearchDocumentsRequest
) -> list[DocumentHit]:
    """Return the best documents of a namespace and those below it, or list them."""
    conditions = request.filter if request.filter is not None else {}
    if not isinstance(conditions, Mapping):
        raise InvalidInput("filter must be an object with a condition for each field")
    check_filter(conditions)
    query = validate.query_of(request.query)
    with query_snapshot(services, query) as snapshot:
        if query.strip():
            hits = _rank_documents(services, snapshot, query, conditions, request)
        else:
            hits = _list_documents(services, snapshot.tables, conditions, request)
    if query.strip():
        scores = {hit.document.id: hit.score or 0.0 for hit in hits}
        log_items(services, "search_documents", query, "document", scores)
    return hits


def list_namespaces(
    services: Services, request: requests.ListNamespacesRequest
) -> list[tuple[str, ...]]:
    """Return the namespaces at and below a prefix that have documents."""
    with services.store.read() as tables:
        namespaces = tables.documents.namespaces(request.prefix, now=services.clock.now())
    return sorted(namespaces)[request.offset : request.offset + request.limit]


def delete_expired(services: Services) -> int:
    """Delete every expired document, a few in each transaction; return how many."""
    now, count = services.clock.now(), 0
    with services.store.read() as tables:
        is_needed = bool(tables.documents.expired(now, limit=1))
    while is_needed:
        deleted = services.store.write(lambda tables: _delete_some_expired(tables, now))
        count += deleted
        is_needed = deleted == EXPIRED_AT_ONCE
    return count


def _rank_documents(
    services: Services,
    snapshot: QuerySnapshot,
    query: str,
    conditions: Mapping[str, Any],
    request: requests.SearchDocumentsRequest,
) -> list[DocumentHit]:
    """Return the documents by rank; those that share nothing with the query come last."""
    tables, now = snapshot.tables, services.clock.now()
    last = request.offset + request.limit
    passing: Sequence[Document] | None = None
    if conditions:
        passing = _matching_documents(tables, conditions, request.namespace, now)
    index_query = IndexQuery(
        kind=ItemKind.DOCUMENT,
        text=query,
        vector=snapshot.vector,
        owners=[
            namespace_owner(n) for n in tables.documents.namespaces(request.namespace, now=now)
        ],
        ids=None if passing is None else [document.id for document in passing],
        limit=last,
    )
    ranked = rank_texts(tables, index_query, use_threshold=False)
    documents = {
        document.id: document for document in tables.documents.get_many([hit.id for hit in ranked])
    }
    hits = [
        DocumentHit(document=documents[hit.id], score=hit.score, matched_words=hit.words)
        for hit in ranked
        if not documents[hit.id].is_expired(now)
    ]
    if len(hits) < last:
        if passing is None:
            passing = tables.documents.under(request.namespace, now=now, limit=last + len(hits))
        rest = [document for document in passing if document.id not in documents]
        hits += [DocumentHit(document=document, score=0.0) for document in rest]
    return hits[request.offset : last]


def _list_documents(
    services: Services,
    tables: Tables,
    conditions: Mapping[str, Any],
    request: requests.SearchDocumentsRequest,
) -> list[DocumentHit]:
    now = services.clock.now()
    if conditions:
        passing = _matching_documents(tables, conditions, request.namespace, now)
        documents = passing[request.offset : request.offset + request.limit]
    else:
        page = {"limit": request.limit, "offset": request.offset}
        documents = tables.documents.under(request.namespace, now=now, **page)
    return [DocumentHit(document=document) for document in documents]


def _matching_documents(
    tables: Tables, conditions: Mapping[str, Any], prefix: Sequence[str], now: datetime
) -> list[Document]:
    documents = tables.documents.under(prefix, now=now, limit=ALL)
    return [document for document in documents if passes_filter(document.value, conditions)]


def _delete_some_expired(tables: Tables, now: datetime) -> int:
    expired = tables.documents.expired(now, limit=EXPIRED_AT_ONCE)
    for document in expired:
        tables.documents.delete(document)
    return len(expired)


def _check_revision(key: str, document: Document | None, expected: int | None) -> None:
    revision = document.revision if document else 0
    if expected is not None and revision != expected:
        state = f"has revision {revision}" if document else "does not exist"
        raise RevisionConflict(
            f"the document {key!r} {state}; expected was {expected}. Read it again, and repeat "
            "the change",
            revision=revision,
        )


def _expiry(now: datetime, lifetime_s: float | None) -> datetime | None:
    return None if lifetime_s is None else now + timedelta(seconds=lifetime_s)


def _namespace_of(namespace: Sequence[str]) -> tuple[str, ...]:
    if len(namespace) > MAX_PARTS:
        raise InvalidInput(f"a namespace has at most {MAX_PARTS} parts, not {len(namespace)}")
    for part in namespace:
        if not part or len(part) > limits.MAX_KEY:
            raise InvalidInput(
                f"a part of a namespace is a text of 1 to {limits.MAX_KEY:,} characters"
            )
    return tuple(validate.key_of("namespace", part) for part in namespace)


def _key_of(key: str) -> str:
    if not key:
        raise InvalidInput("the key is empty; a document is found by its key")
    return validate.key_of("key", key)
