"""
Give a record another id, everywhere.

Two devices that create the same project, agent or source give it two ids. The smaller one stays on
all devices, and the rows that name the other are changed. Items of the record are indexed again,
because partitions are named by ids.
"""

from collections.abc import Iterable, Iterator

import apsw

from recollect.domain.scope import ItemKind
from recollect.store.indexes.word_index import WordIndex
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.sqlite.sync.record_rows import without_triggers
from recollect.store.transfer.record_kinds import KINDS

_INTERNAL = "sync_"


def rename_record(
    db: apsw.Connection, word_index: WordIndex, kind: str, record_id: str, main_id: str
) -> None:
    """
    Let every row that names *record_id* name *main_id*.

    If a record has that id already, the row of *record_id* is deleted, and its children become
    those of the other; the caller merges their own rows.
    """
    reader = IndexedItemReader(SqliteConnection(db), word_index)
    items = _items_of(db, record_id)
    texts = {
        item.id: item.text for item_kind, ids in items for item in reader.with_ids(item_kind, ids)
    }
    word_index.remove_many(texts)
    is_main_indexed = db.execute("SELECT 1 FROM items WHERE id = ?", (main_id,)).get is not None
    with without_triggers(db):
        for table, column in _naming_columns(db, kind):
            sql = f'UPDATE OR IGNORE {table} SET "{column}" = ? WHERE "{column}" = ?'
            db.execute(sql, (main_id, record_id))
            if table not in KINDS or column != "owner_id":
                db.execute(f'DELETE FROM {table} WHERE "{column}" = ?', (record_id,))
        db.execute(f"UPDATE OR IGNORE {kind} SET id = ? WHERE id = ?", (main_id, record_id))
        db.execute(f"DELETE FROM {kind} WHERE id = ?", (record_id,))
    for item_kind, ids in items:
        renamed = [item_id for item_id in ids if item_id != record_id]
        if record_id in ids and not is_main_indexed:
            renamed.append(main_id)
        word_index.add_many(
            item_kind,
            [(item.owner, item.id, item.text) for item in reader.with_ids(item_kind, renamed)],
        )


def records_naming(db: apsw.Connection, kind: str, record_id: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and id of each record that names *record_id*, itself or in a part of it."""
    columns = _naming_columns(db, kind)
    for other_kind, layout in KINDS.items():
        own_id = " || ' ' || ".join(f'"{column}"' for column in layout.keys)
        ids = {other_kind: own_id, **{part: f'"{key}"' for part, key in layout.parts.items()}}
        for table, column in columns:
            if table in ids:
                sql = f'SELECT DISTINCT {ids[table]} FROM {table} WHERE "{column}" = ?'
                for (other_id,) in db.execute(sql, (record_id,)).fetchall():
                    yield other_kind, str(other_id)


def _naming_columns(db: apsw.Connection, kind: str) -> Iterable[tuple[str, str]]:
    """Return the tables and columns that hold ids of a kind."""
    names = set(KINDS[kind].named_in)
    sql = """SELECT name FROM sqlite_schema
              WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"""
    tables = [row[0] for row in db.execute(sql) if not row[0].startswith(_INTERNAL)]
    return [
        (table, column)
        for table in tables
        for column in SqliteRows(db).columns(table)
        if column in names
    ]


def _items_of(db: apsw.Connection, record_id: str) -> list[tuple[ItemKind, list[str]]]:
    """Return the items of the record itself, and of partitions that are named by it."""
    sql = """SELECT s.kind, i.id FROM items i JOIN shelves s ON s.id = i.shelf_id
              WHERE s.owner_id = :id OR i.id = :id ORDER BY i.seq"""
    by_kind: dict[ItemKind, list[str]] = {}
    for item_kind, item_id in db.execute(sql, {"id": record_id}):
        by_kind.setdefault(ItemKind(item_kind), []).append(item_id)
    return list(by_kind.items())
