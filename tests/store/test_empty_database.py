"""The tables that an import is checked in are those of a store."""

from pathlib import Path

import apsw

from recollect.store.sqlite.empty_database import create_tables
from recollect.store.sqlite.store import SqliteStore
from support import FakeClock

SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'"


def test_it_has_the_tables_indexes_triggers_and_first_rows_of_a_new_store(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "memory.db", FakeClock()).close()
    store = apsw.Connection(str(tmp_path / "memory.db"))
    created = apsw.Connection(":memory:")

    create_tables(created)

    expected = {row for row in store.execute(SCHEMA) if row[2] != "migrations"}
    assert len(expected) > 100
    assert set(created.execute(SCHEMA)) == expected
    for kind, name, *_ in expected:
        if kind == "table":
            rows = f'SELECT * FROM "{name}"'
            assert created.execute(rows).fetchall() == store.execute(rows).fetchall(), name
    store.close()
    created.close()
