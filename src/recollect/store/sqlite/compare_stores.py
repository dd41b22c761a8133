"""Compare the canonical rows of two stores of the same schema, table by table."""

import hashlib
from collections.abc import Mapping

import apsw

from recollect.domain.backup import TableDifference
from recollect.store.row_conversion import to_json
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.transfer.export_import import TABLES


def compare_rows(backup: apsw.Connection, store: apsw.Connection) -> Mapping[str, TableDifference]:
    """Return how the rows of *backup* differ from those of *store*, by table."""
    differences = {}
    for table in TABLES:
        old, new = _hashes(backup, table), _hashes(store, table)
        difference = TableDifference(
            only_in_backup=len(old.keys() - new.keys()),
            only_in_store=len(new.keys() - old.keys()),
            changed=sum(old[key] != new[key] for key in old.keys() & new.keys()),
        )
        if difference != TableDifference():
            differences[table] = difference
    return differences


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
