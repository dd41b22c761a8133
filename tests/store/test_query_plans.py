"""SQLite reads little for the statements of a search: their query plans."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store import query_loader
from recollect.store.sqlite.store import SqliteStore
from support import FakeClock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memory.db", FakeClock())
    yield opened
    opened.close()


def plan(store: SqliteStore, file: str, name: str, **parameters: object) -> list[str]:
    """Return what SQLite does for a statement, a line for each table."""
    sql = query_loader.load("sqlite", file)[name]
    with store.read() as tables:
        rows = tables.connection.db.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        return [row[3] for row in rows]


def test_new_vectors_are_read_without_those_that_are_known(store: SqliteStore) -> None:
    assert plan(store, "vector_index", "since", id=1, model_id=1) == [
        "SEARCH e USING INTEGER PRIMARY KEY (rowid>?)",
        "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)",
    ]
