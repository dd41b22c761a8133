"""
The owner and the indexed text of each item, read from the canonical rows.

Of memories, more text is in the word index than is embedded (summary, rationale); the other kinds
have one text for both. Used by integrity checks, rebuilding, importing and embedding.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection
from recollect.store.item_index import ItemIndex
from recollect.store.repositories import blocks, files, messages
from recollect.store.repositories.memories import MemoryRepository, indexed_text
from recollect.store.repositories.repository import Repository
from recollect.text.statement_context import statement_context

READ_BATCH = 500


@dataclass(frozen=True, slots=True)
class IndexedItem:
    """An item as it should be indexed, according to its canonical row."""

    kind: ItemKind
    owner: Owner
    id: str
    text: str


class IndexedItemReader(Repository):
    """Reads items from the canonical rows."""

    _statements = "indexed_items"

    def __init__(self, connection: DatabaseConnection, index: ItemIndex) -> None:
        super().__init__(connection)
        self._memories = MemoryRepository(connection, index)
        self._blocks = blocks.BlockRepository(connection, index)

    def all_items(self) -> Iterator[IndexedItem]:
        """Yield every item that should be indexed, by kind, in the order of item ids."""
        for kind in ItemKind:
            yield from self.with_ids(kind, self._column(f"{kind.value}_ids"))

    def with_ids(self, kind: ItemKind, ids: Sequence[str]) -> Iterator[IndexedItem]:
        """Yield the existing items of a kind with these record ids, read in batches."""
        for start in range(0, len(ids), READ_BATCH):
            yield from self._read_batch(kind, ids[start : start + READ_BATCH])

    def _read_batch(self, kind: ItemKind, ids: Sequence[str]) -> Iterator[IndexedItem]:
        match kind:
            case ItemKind.MEMORY:
                for memory in self._memories.get_many(ids):
                    yield IndexedItem(kind, memory.owner, memory.id, indexed_text(memory))
            case ItemKind.BLOCK:
                for block in filter(None, map(self._blocks.get, ids)):
                    yield IndexedItem(kind, block.owner, block.id, blocks.indexed_text(block))
            case ItemKind.MESSAGE:
                for message_id, agent_id, conversation_id, *texts in self._texts(kind, ids):
                    if not messages.is_searchable(*texts):
                        continue
                    scope = Scope.AGENT if agent_id else Scope.SESSION
                    owner = Owner(scope, agent_id or conversation_id)
                    yield IndexedItem(kind, owner, message_id, messages.indexed_text(*texts))
            case ItemKind.FILE:
                for file_id, project_id, path, content in self._texts(kind, ids):
                    owner = Owner(Scope.PROJECT, project_id)
                    yield IndexedItem(kind, owner, file_id, files.indexed_text(path, content))
            case ItemKind.DOCUMENT:
                for document_id, namespace, text in self._texts(kind, ids):
                    yield IndexedItem(kind, Owner(Scope.GLOBAL, namespace), document_id, text)

    def texts_to_embed(self, kind: ItemKind, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the text to embed of each of some records and its context ('' for none), by id."""
        if kind is not ItemKind.MEMORY:
            return {item.id: (item.text, "") for item in self._read_batch(kind, ids)}
        rows = self._texts(kind, ids)
        # Text and turns of a source are in the first row that has a statement of it.
        sources = {row[4]: (row[7], json.loads(row[8])) for row in rows if row[8] is not None}
        return {
            memory_id: (
                "\n".join(filter(None, (title, content, tags))),
                statement_context(*sources[source_id], *span) if source_id in sources else "",
            )
            for memory_id, title, content, tags, source_id, *span, _, _ in rows
        }

    def _texts(self, kind: ItemKind, ids: Sequence[str]) -> list[tuple[Any, ...]]:
        return self._rows(f"{kind.value}_texts", ids=list(ids))
