"""
Texts that a person or a model wrote, over all tables: find words in them, and overwrite them.

`forget` follows words through these columns; sources, evidence and retrievals have their own
repositories. A column that is in none of the lists below breaks
tests/store/test_stored_texts.py, so a new table cannot be overlooked.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from recollect.domain.scope import ItemKind
from recollect.store.database_connection import (
    DatabaseConnection,
    Row,
    RowShape,
    record_shape,
    value_shape,
)
from recollect.store.item_index import ASSISTANT_PREFIX, ItemIndex
from recollect.store.repositories.indexed_items import IndexedItem, IndexedItemReader
from recollect.store.repositories.repository import Repository
from recollect.store.values import ItemWithWord, TextCell
from recollect.text.fingerprint import fingerprint

# table: its key, and its columns with text.
COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "messages": (("id",), ("content", "parts", "tool_calls", "metadata", "payload")),
    "summaries": (("id",), ("content",)),
    "pins": (("id",), ("content",)),
    "conversations": (("id",), ("title", "metadata")),
    "blocks": (("id",), ("value", "description", "metadata")),
    "block_history": (("block_id", "version"), ("value", "reason")),
    "block_proposals": (("id",), ("value", "reason", "decision")),
    "memories": (
        ("id",),
        (
            *("content", "title", "summary", "rationale", "alternatives", "metadata"),
            *("author", "dates"),
        ),
    ),
    "memory_changes": (("memory_id", "id"), ("reason",)),
    "memory_links": (("id",), ("note",)),
    "sources": (("id",), ("title", "uri", "metadata")),
    "ingestion_events": (("id",), ("title", "uri", "outcome", "error")),
    "jobs": (("id",), ("payload", "error")),
    "model_calls": (("id",), ("error",)),
    "runs": (("id",), ("error",)),
    "agents": (("id",), ("name", "description", "system_prompt", "metadata")),
    "skills": (("id",), ("name", "description", "content", "metadata")),
    "files": (("id",), ("path", "content")),
    "documents": (("id",), ("body", "text")),
    "projects": (("id",), ("name",)),
}
JSON_COLUMNS = frozenset(
    {"parts", "tool_calls", "metadata", "alternatives", "payload", "dates", "body"},
)
_KINDS: Mapping[str, ItemKind] = {
    "messages": ItemKind.MESSAGE,
    "blocks": ItemKind.BLOCK,
    "memories": ItemKind.MEMORY,
    "documents": ItemKind.DOCUMENT,
}
_item_with_word = record_shape(ItemWithWord, "kind id conversation_id")
_source_content = value_shape(str, str)


class StoredTextRepository(Repository):
    """Every text that a person or a model wrote, over all tables."""

    _statements = "stored_texts"

    def __init__(
        self, connection: DatabaseConnection, index: ItemIndex, items: IndexedItemReader
    ) -> None:
        super().__init__(connection)
        self._index = index
        self._items = items

    def cells(self, table: str) -> Iterator[TextCell]:
        """Yield the texts of a table, those of one row together."""
        keys, columns = COLUMNS[table]
        for row in self._stream(_texts(*keys, *columns), table):
            key = row[: len(keys)]
            for column, text in zip(columns, row[len(keys) :], strict=True):
                if text and text not in ("{}", "[]"):
                    yield TextCell(table, key, column, text, column in JSON_COLUMNS)

    def current(self, cell: TextCell) -> TextCell | None:
        """Return a cell with its current text, or None if it has none."""
        _, columns = COLUMNS[cell.table]
        row = self._first(_texts(*columns), f"{cell.table}_row", **_key_values(cell))
        text = row[columns.index(cell.column)] if row else None
        return cell.with_text(text) if text else None

    def overwrite(self, cells: Sequence[TextCell]) -> None:
        """Store the texts of some cells, and index their records again."""
        records = sorted({(cell.table, str(cell.key[0])) for cell in cells if cell.table in _KINDS})
        old = self._items_of(records)
        for cell in cells:
            _, columns = COLUMNS[cell.table]
            values = dict.fromkeys(columns) | {cell.column: cell.text}
            if cell.table == "memories":
                is_content = cell.column == "content"
                values["fingerprint"] = fingerprint(cell.text) if is_content else None
            self._run(f"set_{cell.table}", **values, **_key_values(cell))
        current = self._items_of(records)
        for record_id, item in old.items():
            if record_id not in current:
                self._index.remove(record_id, item.text)
        for record_id, item in current.items():
            texts = {"former_text": old.get(record_id, item).text, "text": item.text}
            self._index.replace(item.kind, item.owner, record_id, **texts)

    def sources(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the content of every source."""
        return self._stream(_source_content, "source_contents")

    def items_with(self, word: str, *, limit: int) -> list[ItemWithWord]:
        """Return items that have a word, in any of its forms."""
        terms = sorted(set(self._index.terms(word)))
        if not terms:
            return []
        values = {"terms": terms, "count": len(terms), "prefix": ASSISTANT_PREFIX, "limit": limit}
        return self._all(_item_with_word, "items_with_terms", **values)

    def messages_among(self, ids: Sequence[str], conversation_ids: Sequence[str]) -> set[str]:
        """Return which of some ids are messages of some conversations."""
        values = {"ids": list(ids), "conversation_ids": list(conversation_ids)}
        return set(self._column("messages_among", **values))

    def _items_of(self, records: Sequence[tuple[str, str]]) -> dict[str, IndexedItem]:
        """Return the searchable ones of some records, given as table and id, by id."""
        return {
            item.id: item
            for table, record_id in records
            for item in self._items.with_ids(_KINDS[table], [record_id])
        }


def _key_values(cell: TextCell) -> dict[str, str | int]:
    keys, _ = COLUMNS[cell.table]
    return dict(zip(keys, cell.key, strict=True))


@cache
def _texts(*columns: str) -> RowShape[Row]:
    """Return the shape of these columns; JSON is read as text."""
    return value_shape(*(int if column == "version" else str for column in columns))
