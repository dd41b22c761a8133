"""
How the tables of a schema version are laid out in a file, taken from the migrations themselves.

A damaged file may not say what its tables look like any more; the migrations that made them do.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from recollect.clock import SystemClock
from recollect.lazy_dataclass import dataclass
from recollect.store.row_conversion import fetch_all
from recollect.store.sqlite.btree_reader import StorageType, StoredColumn, TreeShape
from recollect.store.sqlite.migrate import known_migrations, migrate

SCHEMA_SHAPE = TreeShape(
    is_index=False,
    columns=(
        StoredColumn(StorageType.TEXT, nullable=False),
        StoredColumn(StorageType.TEXT, nullable=False),
        StoredColumn(StorageType.TEXT, nullable=False),
        StoredColumn(StorageType.INTEGER, nullable=True),
        StoredColumn(StorageType.TEXT, nullable=True),
    ),
)


@dataclass(frozen=True)
class IndexLayout:
    """An index: its shape, and where its records hold the primary key of the table."""

    name: str
    shape: TreeShape
    key_places: tuple[int, ...]  # () if the records do not hold the whole key


@dataclass(frozen=True)
class TableLayout:
    """A table: the columns of its records in order, its key, its parents and its indexes."""

    name: str
    shape: TreeShape
    columns: tuple[str, ...]  # in the order of the records
    defaults: Mapping[str, Any]  # of columns that older records lack
    key: tuple[str, ...]
    rowid_column: str  # the column that is the rowid, or ''
    nullable: frozenset[str]
    parents: Mapping[str, str]  # column: the table it refers to
    indexes: tuple[IndexLayout, ...]


@cache
def empty_store_bytes(version: int) -> bytes:
    """Return an empty store of a schema version, as the bytes of its file."""
    db = _empty_store(version)
    try:
        return db.serialize("main")
    finally:
        db.close()


@cache
def table_layouts(version: int) -> Mapping[str, TableLayout]:
    """Return the tables of a schema version by name, in the order of their creation."""
    db = _empty_store(version)
    try:
        names = [
            row[0]
            for row in db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        return {name: _table_layout(db, name) for name in names}
    finally:
        db.close()


def _empty_store(version: int) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    steps = [step for step in known_migrations() if step.number <= version]
    migrate(db, Path(":memory:"), SystemClock(), steps)
    return db


def _table_layout(db: apsw.Connection, table: str) -> TableLayout:
    info = [row for row in db.execute(f"PRAGMA table_xinfo({table})") if row[6] != 2]
    [without_rowid] = [row[4] for row in db.execute(f"PRAGMA table_list({table})")]
    key = tuple(row[1] for row in sorted(info, key=lambda row: row[5]) if row[5])
    types = {row[1]: row[2] for row in info}
    is_rowid = not without_rowid and len(key) == 1 and types[key[0]] == "INTEGER"
    rowid_column = key[0] if is_rowid else ""
    if without_rowid:
        by_name = {row[1]: row for row in info}
        info = [by_name[name] for name in key] + [row for row in info if row[1] not in key]
    stored = tuple(
        StoredColumn(
            StorageType(row[2]),
            nullable=not row[3] or row[1] == rowid_column,
            optional=row[1] not in key and (not row[3] or row[4] is not None),
        )
        for row in info
    )
    return TableLayout(
        name=table,
        shape=TreeShape(bool(without_rowid), stored),
        columns=tuple(row[1] for row in info),
        defaults={row[1]: db.execute(f"SELECT {row[4]}").get for row in info if row[4] is not None},
        key=key,
        rowid_column=rowid_column,
        nullable=frozenset(row[1] for row in info if not row[3] and row[1] not in key),
        parents={row[3]: row[2] for row in db.execute(f"PRAGMA foreign_key_list({table})")},
        indexes=tuple(_index_layouts(db, table, key, rowid_column, types)),
    )


def _index_layouts(
    db: apsw.Connection,
    table: str,
    key: tuple[str, ...],
    rowid_column: str,
    types: Mapping[str, str],
) -> list[IndexLayout]:
    layouts = []
    for _, name, _, origin, _ in fetch_all(db.execute(f"PRAGMA index_list({table})")):
        if origin == "pk" and not rowid_column and name.startswith("sqlite_autoindex"):
            rows = db.execute(f"SELECT 1 FROM sqlite_schema WHERE name = '{name}'").fetchall()
            if not rows:
                continue  # the table itself
        info = fetch_all(db.execute(f"PRAGMA index_xinfo({name})"))
        columns = [rowid_column if row[1] == -1 else row[2] for row in info]
        kinds = [StorageType.INTEGER if row[1] == -1 else types.get(row[2] or "") for row in info]
        shape = TreeShape(
            is_index=True,
            columns=tuple(
                StoredColumn(StorageType(kind) if kind else None, nullable=True) for kind in kinds
            ),
        )
        places = tuple(columns.index(part) for part in key if part in columns)
        layouts.append(IndexLayout(name, shape, places if len(places) == len(key) else ()))
    return layouts
