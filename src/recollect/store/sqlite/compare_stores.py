"""Compare the canonical rows of two stores of the same schema, table by table."""

import hashlib
from collections.abc import Mapping, Set

import apsw

from recollect.domain.backup import RowDifference, TableDifference
from recollect.store.row_conversion import to_json
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.transfer.export_import import TABLES

ROWS_SHOWN = 10  # of each table
NAME_CHARS = 200
# What a person knows a row by.
_NAMES: Mapping[str, str] = {
    "projects": "name",
    "agents": "name",
    "blocks": "label",
    "conversations": "title",
    "memories": "content",
    "views": "name",
    "documents": "key",
}


def compare_rows(backup: apsw.Connection, store: apsw.Connection) -> Mapping[str, TableDifference]:
    """Return how the rows of *backup* differ from those of *store*, by table."""
    differences = {}
    for table in TABLES:
        old, new = _hashes(backup, table), _hashes(store, table)
        changed = {key for key in old.keys() & new.keys() if old[key] != new[key]}
        different = changed | (old.keys() ^ new.keys())
        if different:
            differences[table] = TableDifference(
                only_in_backup=len(old.keys() - new.keys()),
                only_in_store=len(new.keys() - old.keys()),
                changed=len(changed),
                rows=_first_rows(backup, store, table, different),
            )
    return differences


def _first_rows(
    backup: apsw.Connection, store: apsw.Connection, table: str, different: Set[bytes]
) -> tuple[RowDifference, ...]:
    """Return the first `ROWS_SHOWN` rows that differ, by id; none of a table without names."""
    if table not in _NAMES:
        return ()
    names = [_names(db, table, different) for db in (backup, store)]
    ids = sorted(names[0].keys() | names[1].keys())[:ROWS_SHOWN]
    return tuple(
        RowDifference(id=row_id, in_backup=names[0].get(row_id), in_store=names[1].get(row_id))
        for row_id in ids
    )


def _names(db: apsw.Connection, table: str, different: Set[bytes]) -> dict[str, str]:
    """Return how a person knows the rows that differ, by id."""
    key = SqliteRows(db).primary_key(table)
    listed = ", ".join(f'"{column}"' for column in key)
    name, names = _NAMES[table], {}
    for text, *values in db.execute(
        f'SELECT substr("{name}", 1, {NAME_CHARS}), {listed} FROM {table}'
    ):
        if _digest(values) in different:
            names[" ".join(map(str, values))] = str(text or "")
    return names


def _hashes(db: apsw.Connection, table: str) -> dict[bytes, bytes]:
    """Return a hash of each row of *table* by a hash of its key; texts may be large."""
    columns = SqliteRows(db).columns(table)
    listed = ", ".join(f'"{column}"' for column in columns)
    key = SqliteRows(db).primary_key(table)
    hashes: dict[bytes, bytes] = {}
    for row in db.execute(f"SELECT {listed} FROM {table}"):
        values = dict(zip(columns, row, strict=True))
        identity = _digest([values[column] for column in key])
        hashes[identity] = _digest([values[column] for column in columns])
    return hashes


def _digest(values: list[object]) -> bytes:
    texts = [value.hex() if isinstance(value, bytes) else value for value in values]
    return hashlib.blake2b(to_json(texts).encode(), digest_size=16).digest()
