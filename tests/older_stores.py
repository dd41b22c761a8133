"""Write the rows of a store into a new file that has the schema of an earlier version."""

from pathlib import Path

import apsw

from old_retrieval_log import OLD_LOG_TABLES, copy_retrievals
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from support import FakeClock

# In an order in which triggers let rows in: a quote needs its source, a memory its quote, a link
# its target.
FIRST = ("projects", "sources", "evidence", "memories")
STATEMENTS = 15  # the first schema that has the status `stated`

# Where memories come from was in their metadata …
_PROVENANCE = """
UPDATE main.memories AS m SET metadata = (
    SELECT json_patch(n.metadata, json_object(
               'voice', n.voice, 'rule', nullif(n.rule, ''), 'event', n.event_id,
               'session', nullif(n.session, ''), 'author', nullif(n.author, ''),
               'flags', iif(n.flags = '[]', NULL, json(n.flags)),
               'dates', (SELECT iif(count(*), json_group_array(json_object(
                                    'text', value ->> 0, 'from', value ->> 1)), NULL)
                           FROM json_each(n.dates))))
      FROM now.memories n WHERE n.id = m.id)
"""
# … that a candidate was held was a word of the reason …
_REASONS = "UPDATE main.memory_changes SET reason = 'held: ' || reason WHERE before = after"
# … and of the effects only these were recorded; merging was done in the name of the engine.
_EFFECTS = """
UPDATE main.memory_changes AS c SET "by" = (
    SELECT iif(n.kind = 'merged', 'engine', n."by")
      FROM now.memory_changes n WHERE n.memory_id = c.memory_id AND n.id = c.id),
  effects = (
    SELECT json_patch('{}', json_object(
               'superseded', n.effects -> 'superseded',
               'duplicate_of', iif(n.kind IN ('merged', 'rejected') AND n.after = 'archived',
                                   n.effects ->> 'caused_by', NULL),
               'confidence_before', (
                   SELECT value ->> 1 FROM json_each(n.effects, '$.confirmations')
                    WHERE value ->> 0 <> n.memory_id AND value ->> 1 <> value ->> 2)))
      FROM now.memory_changes n WHERE n.memory_id = c.memory_id AND n.id = c.id)
"""


def older_store(source: Path, target: Path, clock: FakeClock, *, schema: int = 1) -> Path:
    """Write the rows of the store *source* into a new one that has the first schemas only."""
    db = connect(target, create=True)
    migrations = [step for step in known_migrations() if step.number <= schema]
    migrate(db, target, clock, migrations=migrations)
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("ATTACH ? AS now", (str(source),))
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'")
        if name != "migrations" and not name.startswith("sqlite_")
    ]
    # The log was packed by a later migration.
    left_out = OLD_LOG_TABLES if "retrieval_hits" in tables else frozenset()
    for table in [*FIRST, *sorted(set(tables) - set(FIRST) - left_out)]:
        stored = _columns_of(db, "now", table)
        kept = ", ".join(
            f'"{column}"' for column in _columns_of(db, "main", table) if column in stored
        )
        rows = f"SELECT {kept} FROM now.{table}"
        if table == "memories" and schema < STATEMENTS:
            rows = rows.replace('"status"', "replace(status, 'stated', 'archived')")
        db.execute(f"INSERT OR REPLACE INTO main.{table} ({kept}) {rows}")
    copy_retrievals(str(source), db)
    if schema < 13:
        db.execute(_PROVENANCE)
        db.execute(_REASONS)
    if 6 <= schema < 13:
        db.execute(_EFFECTS)
    db.close()
    return target


def _columns_of(db: apsw.Connection, schema: str, table: str) -> list[str]:
    """Return the columns of a table that can be written."""
    # The last field of a row is 0 for an ordinary column, and more for hidden and generated ones.
    rows = db.execute(f"PRAGMA {schema}.table_xinfo({table})")
    return [row[1] for row in rows if row[-1] == 0]
