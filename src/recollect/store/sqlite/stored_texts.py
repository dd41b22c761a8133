"""
Every text that a person or a model wrote, over all tables: find words in it, and overwrite it.

`forget` follows words through these columns. A column that is in none of the lists below breaks
tests/store/test_stored_texts.py, so a new table cannot be overlooked.
"""

from collections.abc import Iterator, Mapping, Sequence

import apsw

from recollect.domain.scope import ItemKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.indexed_items import IndexedItem, IndexedItemReader
from recollect.store.sqlite.table import SqliteTable, row_parser
from recollect.store.sqlite.word_index import ASSISTANT_PREFIX, SqliteWordIndex
from recollect.store.values import ItemWithWord, TextCell
from recollect.text.fingerprint import fingerprint

# table: its key, and its columns with text. Constants only: these names are put into SQL.
COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "messages": (("id",), ("content", "parts", "tool_calls", "metadata")),
    "summaries": (("id",), ("content",)),
    "pins": (("id",), ("content",)),
    "conversations": (("id",), ("title", "metadata")),
    "blocks": (("id",), ("value", "description", "metadata")),
    "block_history": (("block_id", "version"), ("value", "reason")),
    "block_proposals": (("id",), ("value", "reason", "decision")),
    "memories": (
        ("id",),
        ("content", "title", "summary", "rationale", "alternatives", "metadata"),
    ),
    "memory_changes": (("memory_id", "id"), ("reason",)),
    "memory_links": (("id",), ("note",)),
    "sources": (("id",), ("title", "uri", "metadata")),
    "ingestion_events": (("id",), ("title", "uri", "outcome", "error")),
    "jobs": (("id",), ("payload", "error")),
    "model_calls": (("id",), ("error",)),
    "agents": (("id",), ("name", "description", "system_prompt", "metadata")),
    "skills": (("id",), ("name", "description", "content", "metadata")),
    "files": (("id",), ("path", "content")),
    "projects": (("id",), ("name",)),
}
JSON_COLUMNS = frozenset(
    {"parts", "tool_calls", "metadata", "alternatives", "payload"},
)
_KINDS: Mapping[str, ItemKind] = {
    "messages": ItemKind.MESSAGE,
    "blocks": ItemKind.BLOCK,
    "memories": ItemKind.MEMORY,
}
_item_with_word = row_parser(ItemWithWord, "kind id conversation_id")


class SqliteStoredTextTable(SqliteTable):
    """See `recollect.store.protocol.StoredTextTable`."""

    _sql = query_loader.load("stored_texts")

    def __init__(
        self, db: apsw.Connection, word_index: SqliteWordIndex, items: IndexedItemReader
    ) -> None:
        super().__init__(db)
        self._word_index = word_index
        self._items = items

    def cells(self, table: str) -> Iterator[TextCell]:
        keys, columns = COLUMNS[table]
        listed = ", ".join(f'"{column}"' for column in (*keys, *columns))
        for row in self._db.execute(f"SELECT {listed} FROM {table}"):
            key = row[: len(keys)]
            for column, text in zip(columns, row[len(keys) :], strict=True):
                if text and text not in ("{}", "[]"):
                    yield TextCell(table, key, column, text, column in JSON_COLUMNS)

    def current(self, cell: TextCell) -> TextCell | None:
        keys, _ = COLUMNS[cell.table]
        row = self._db.execute(
            f'SELECT "{cell.column}" FROM {cell.table} WHERE {_matching(keys)}', cell.key
        ).fetchone()
        return None if row is None or not row[0] else cell.with_text(row[0])

    def overwrite(self, cells: Sequence[TextCell]) -> None:
        records = sorted({(cell.table, str(cell.key[0])) for cell in cells if cell.table in _KINDS})
        former = self._items_of(records)
        for cell in cells:
            keys, _ = COLUMNS[cell.table]
            values = [cell.text, *cell.key]
            extra = ""
            if (cell.table, cell.column) == ("memories", "content"):
                extra = ", fingerprint = ?"
                values.insert(1, fingerprint(cell.text))
            self._db.execute(
                f'UPDATE {cell.table} SET "{cell.column}" = ?{extra} WHERE {_matching(keys)}',
                values,
            )
        current = self._items_of(records)
        for record_id, item in former.items():
            if record_id not in current:
                self._word_index.remove(record_id, item.text)
        for record_id, item in current.items():
            texts = {"former_text": former.get(record_id, item).text, "text": item.text}
            self._word_index.replace(item.kind, item.owner, record_id, **texts)

    def sources(self) -> Iterator[tuple[str, str]]:
        yield from self._run("source_contents")

    def items_with(self, word: str, *, limit: int) -> list[ItemWithWord]:
        terms = sorted(set(self._word_index.terms(word)))
        if not terms:
            return []
        values = {"terms": terms, "count": len(terms), "prefix": ASSISTANT_PREFIX, "limit": limit}
        return self._all(_item_with_word, "items_with_terms", **values)

    def messages_among(self, ids: Sequence[str], conversation_ids: Sequence[str]) -> set[str]:
        values = {"ids": list(ids), "conversation_ids": list(conversation_ids)}
        return set(self._column("messages_among", **values))

    def _items_of(self, records: Sequence[tuple[str, str]]) -> dict[str, IndexedItem]:
        """Return the searchable ones of some records, given as table and id, by id."""
        return {
            item.id: item
            for table, record_id in records
            for item in self._items.with_ids(_KINDS[table], [record_id])
        }


def _matching(keys: Sequence[str]) -> str:
    return " AND ".join(f'"{key}" = ?' for key in keys)
