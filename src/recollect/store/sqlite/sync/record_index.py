"""Keep the word index in step with records that sync writes and deletes, in one transaction."""

from collections.abc import Sequence

from recollect.domain.scope import ItemKind
from recollect.store.open_tables import OpenTables
from recollect.store.repositories.indexed_items import IndexedItem, IndexedItemReader
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.transfer.record_kinds import KINDS


class RecordIndex:
    """The entries of records in the word index. New ones are added together, by `add_new`."""

    def __init__(self, tables: OpenTables[SqliteConnection]) -> None:
        self._index = tables.word_index
        self._items = IndexedItemReader(tables.connection, tables.word_index)
        self._new: dict[ItemKind, list[str]] = {}

    def item(self, kind: str, record_id: str) -> IndexedItem | None:
        """Return a record as it should be indexed; None if it is not."""
        item_kind = KINDS[kind].item
        items: Sequence[str] = [record_id]
        return None if item_kind is None else next(self._items.with_ids(item_kind, items), None)

    def update(self, kind: str, record_id: str, old: IndexedItem | None) -> None:
        """Index a record that was written; *old* is what `item` returned before."""
        item_kind = KINDS[kind].item
        if item_kind is None:
            return
        if old is None:
            self._new.setdefault(item_kind, []).append(record_id)
            return
        current = self.item(kind, record_id)
        if current is None:
            self._index.remove(record_id, old.text)
        elif current != old and record_id not in self._new.get(item_kind, ()):
            texts = {"former_text": old.text, "text": current.text}
            self._index.replace(item_kind, current.owner, record_id, **texts)

    def remove(self, record_id: str, old: IndexedItem | None) -> None:
        """Remove a record that was deleted."""
        if old is not None:
            self._index.remove(record_id, old.text)

    def add_new(self) -> None:
        """Index the records that had no entry."""
        for kind, ids in self._new.items():
            items = [(item.owner, item.id, item.text) for item in self._items.with_ids(kind, ids)]
            self._index.add_many(kind, items)
        self._new.clear()
