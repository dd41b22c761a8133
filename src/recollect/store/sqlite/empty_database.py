"""
The tables of this version in an empty database, without replaying every migration.

Replaying takes 30 ms and more, because each `ALTER TABLE` reads the whole schema again. So it is
done once per process, in memory, and the statements that it leaves are kept. Only for databases
that nobody opens as a store: the list of migrations is not in them.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import apsw

from recollect.store.sqlite.migrate import known_migrations

_STATEMENTS = """
SELECT sql || ';' FROM sqlite_schema
 WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
 ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid
"""
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"


def create_tables(db: apsw.Connection) -> None:
    """Create the tables of a store in the empty database *db*, with the rows they begin with."""
    schema, rows = _after_migrations()
    with db:
        db.execute(schema)
        for table, values in rows:
            places = ", ".join("?" for _ in values)
            db.execute(f'INSERT INTO "{table}" VALUES ({places})', values)


@cache
def _after_migrations() -> tuple[str, Sequence[tuple[str, tuple[Any, ...]]]]:
    """Return the statements that make the schema, and the first rows of its tables."""
    db = apsw.Connection(":memory:")
    try:
        with db:
            for migration in known_migrations():
                db.execute(migration.sql)
        schema = "\n".join(db.execute(_STATEMENTS).get)
        tables = db.execute(_TABLES).get
        rows = [(table, row) for table in tables for row in db.execute(f'SELECT * FROM "{table}"')]
        return schema, rows
    finally:
        db.close()
