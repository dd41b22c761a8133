"""
Rebuild damaged indexes in place: drop them without reading them, create and fill them.

SQLite cannot drop a table whose pages are damaged, because it reads them to free them. So its line
in the schema is deleted, which leaves the pages unused, and VACUUM removes them in the end. Only
what can be made from other rows is replaced; if anything else is damaged, the file is not touched.
"""

from collections.abc import Mapping
from pathlib import Path

import apsw

from recollect.domain.repair_report import RepairReport
from recollect.errors import StoreDamaged
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.database_image import DatabaseImage
from recollect.store.sqlite.migrate import check_current
from recollect.store.sqlite.repair import DERIVED, DamagedFile
from recollect.store.sqlite.row_rescue import RowInserter, RowMap, decode_row
from recollect.store.sqlite.sqlite_connection import open_word_index
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.sqlite.table_layout import empty_store_bytes
from recollect.store.store_key import StoreKey
from recollect.store.transfer.row_checks import rebuild

_WITHOUT_LOST_MODELS = """
    DELETE FROM embeddings WHERE model_id NOT IN (SELECT id FROM models);
    UPDATE items SET embedded_by = NULL WHERE embedded_by NOT IN (SELECT id FROM models);
    UPDATE embedder SET wanted = NULL WHERE wanted NOT IN (SELECT id FROM models);
    UPDATE embedder SET serving = NULL WHERE serving NOT IN (SELECT id FROM models);
"""


def replace_damaged_indexes(
    path: Path, report: RepairReport | None, *, key: StoreKey | None = None
) -> Mapping[str, int]:
    """Replace the damaged indexes of *path* and rebuild the others; return the row counts."""
    if report is not None and not report.only_indexes:
        damage = "; ".join(report.describe())
        raise StoreDamaged(f"{path} is damaged ({damage}); run `recollect repair`")
    db = connect(path, key=key)
    try:
        version = check_current(db, path)
        db.execute("BEGIN IMMEDIATE")
        damaged_file = DamagedFile(DatabaseImage(path, key=key, is_open=True), path)
        rows = {table: _readable_rows(damaged_file, table) for table in _tables(damaged_file)}
        _create_again(db, version, {*rows, *damaged_file.damaged_indexes})
        inserter = RowInserter(db)
        for table, readable in rows.items():
            for row in readable:
                inserter.insert(table, row)
        db.execute(_WITHOUT_LOST_MODELS).fetchall()
        counts = rebuild(SqliteRows(db), open_word_index(db))
        db.execute("COMMIT")
        db.execute("VACUUM")  # removes the pages of what was thrown away
    finally:
        db.close()
    return counts


def _tables(damaged_file: DamagedFile) -> list[str]:
    """Return the derived tables to replace: damaged themselves, or in their own unique index."""
    return [
        table
        for table in DERIVED
        if damaged_file.is_damaged(table)
        or any(
            name.startswith(f"sqlite_autoindex_{table}_") for name in damaged_file.damaged_indexes
        )
    ]


def _readable_rows(damaged_file: DamagedFile, table: str) -> list[RowMap]:
    if table in ("terms", "postings", "tool_calls", "unread_sources"):
        return []  # filled from the texts
    layout = damaged_file.layouts[table]
    return [decode_row(layout, raw)[0] for raw in damaged_file.rows(table)]


def _create_again(db: apsw.Connection, version: int, names: set[str]) -> None:
    """Delete tables and indexes from the schema without reading them, and create them empty."""
    pristine = apsw.Connection(":memory:")
    pristine.deserialize("main", empty_store_bytes(version))
    statements = [
        sql
        for name, table, sql in pristine.execute(
            "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        )
        if name in names or table in names
    ]
    pristine.close()
    db.execute("PRAGMA defer_foreign_keys = ON")
    db.execute("PRAGMA writable_schema = ON")
    for name in names:
        db.execute("DELETE FROM sqlite_schema WHERE name = ?1 OR tbl_name = ?1", (name,))
    db.execute("PRAGMA writable_schema = RESET")
    for sql in statements:
        db.execute(sql)
