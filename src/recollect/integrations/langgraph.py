"""
A store of LangGraph, kept in Recollect.

    from recollect.integrations.langgraph import RecollectStore

    with RecollectStore("memory.db") as store:
        graph = builder.compile(store=store)

Semantic search works without an embedding model to configure: Recollect has one. Items are
documents of Recollect, below the namespace of the store.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Self

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)
from langgraph.store.base.embed import get_text_at_path, tokenize_path

from recollect.client.run_blocking import run_blocking
from recollect.domain.document import Document, DocumentHit
from recollect.domain.limits import MAX_LIMIT
from recollect.errors import InvalidInput
from recollect.integrations.memory_source import MemorySetting, open_memory

ROOT = ("langgraph",)


class RecollectStore(BaseStore):
    """
    Items by namespace and key, with search by meaning and by words, filters and expiry.

    *memory* is an open store, the path of a file or the address of a server. *fields* are the paths
    whose texts are searched, by default all texts of a value. Values come back as they were put;
    with *redact* they are stored without secrets.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        root: Sequence[str] = ROOT,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        redact: bool = False,
    ) -> None:
        self._rec, self._close = open_memory(memory)
        self._root = tuple(root)
        self._fields = fields
        self._redact = redact
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: first what reads, then what writes; of equal keys the last put."""
        operations = list(ops)
        for op in operations:
            validate_op_namespace(op)
        results: list[Result] = [self._read(op) for op in operations]
        puts = {(tuple(op.namespace), op.key): op for op in operations if isinstance(op, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in a thread."""
        return await run_blocking(self.batch, list(ops))

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                try:
                    return [self._search_item(hit) for hit in self._search(op)]
                except InvalidInput as error:
                    raise ValueError(str(error)) from error  # as LangGraph's own stores do
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise TypeError(f"{type(op).__name__} is not an operation of a store")

    def _get(self, op: GetOp) -> Item | None:
        namespace = self._full_namespace(op.namespace)
        document = self._rec.documents.get(namespace, op.key)
        if document is None:
            return None
        if op.refresh_ttl and document.lifetime_s is not None:
            document = self._rec.documents.extend(namespace, op.key) or document
        return Item(**self._item_fields(document))

    def _put(self, op: PutOp) -> None:
        namespace = self._full_namespace(op.namespace)
        if op.value is None:
            self._rec.documents.delete(namespace, op.key)
            return
        self._rec.documents.put(
            namespace,
            op.key,
            dict(op.value),
            text=self._text(op),
            exact=not self._redact,
            lifetime_s=None if op.ttl is None else timedelta(minutes=op.ttl).total_seconds(),
        )

    def _text(self, op: PutOp) -> str | None:
        """Return the text that is searched; None: all of it."""
        if op.index is False:
            return ""
        paths = self._fields if op.index is None else op.index
        if paths is None:
            return None
        texts = (get_text_at_path(op.value, tokenize_path(path)) for path in paths)
        return "\n".join(text for group in texts for text in group)

    def _search(self, op: SearchOp) -> list[DocumentHit]:
        hits: list[DocumentHit] = []
        while len(hits) < op.limit:
            size = min(MAX_LIMIT, op.limit - len(hits))
            page = self._rec.documents.search(
                self._full_namespace(op.namespace_prefix),
                op.query or "",
                filter=op.filter,
                limit=size,
                offset=op.offset + len(hits),
            )
            hits += page
            if len(page) < size:
                break
        if op.refresh_ttl:
            for hit in hits:
                if hit.document.lifetime_s is not None:
                    self._rec.documents.extend(hit.document.namespace, hit.document.key)
        return hits

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        namespaces: list[tuple[str, ...]] = []
        while page := self._rec.documents.namespaces(
            self._root, limit=MAX_LIMIT, offset=len(namespaces)
        ):
            namespaces += page
        conditions = op.match_conditions or ()
        below_root = (namespace[len(self._root) :] for namespace in namespaces)
        matching = {
            namespace[: op.max_depth]
            for namespace in below_root
            if all(_matches(condition, namespace) for condition in conditions)
        }
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _full_namespace(self, namespace: Sequence[str]) -> tuple[str, ...]:
        return (*self._root, *namespace)

    def _search_item(self, hit: DocumentHit) -> SearchItem:
        return SearchItem(**self._item_fields(hit.document), score=hit.score)

    def _item_fields(self, document: Document) -> dict[str, Any]:
        return {
            "namespace": document.namespace[len(self._root) :],
            "key": document.key,
            "value": document.value,
            "created_at": document.created_at,
            "updated_at": document.updated_at,
        }


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Return whether a namespace begins or ends as *condition* says; "*" is any part."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    is_prefix = condition.match_type == "prefix"
    parts = namespace[: len(path)] if is_prefix else namespace[len(namespace) - len(path) :]
    return all(pattern in ("*", part) for pattern, part in zip(path, parts, strict=True))
