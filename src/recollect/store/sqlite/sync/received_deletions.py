"""
Deletions of other devices that only a store with several devices needs.

A record that two devices made has two ids: who deletes it under one id deletes it under both.
Sources are deleted with the quotes that are left of them.
"""

from recollect.clock import Clock
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.open_tables import OpenTables
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.store import SqliteTables

_QUOTES = """SELECT e.memory_id, e.id,
       (SELECT count(*) FROM evidence o WHERE o.memory_id = e.memory_id AND NOT EXISTS (
               SELECT 1 FROM tombstones d WHERE d.kind = 'source' AND d.id = o.source_id))
  FROM tombstones t JOIN evidence e ON e.source_id = t.id WHERE t.kind = 'source'"""
_SOURCES = """DELETE FROM sources WHERE id IN (SELECT id FROM tombstones WHERE kind = 'source')
   AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.source_id = sources.id)"""
# The same material was told again by a device whose clock is behind: it is not the deleted one.
_RELEASE = """UPDATE tombstones SET sha256 = '' WHERE kind = 'source' AND sha256 <> '' AND EXISTS (
    SELECT 1 FROM sources s JOIN evidence e ON e.source_id = s.id
     WHERE s.sha256 = tombstones.sha256 AND s.captured_at <= tombstones.deleted_at
       AND s.id <> tombstones.id)"""


_SPREAD = """INSERT OR IGNORE INTO tombstones (kind, id, sha256, deleted_at)
    SELECT t.kind, a.main_id, t.sha256, t.deleted_at
      FROM tombstones t JOIN sync_aliases a ON a.id = t.id"""


def delete_under_main_ids(tables: SqliteTables) -> None:
    """Let the deletion of a record count for the id under which it is known."""
    db = tables.connection.db
    before = -1
    while db.total_changes() != before:  # an alias may have an alias
        before = db.total_changes()
        db.execute(_SPREAD)


def request_erasure(tables: OpenTables[SqliteConnection], clock: Clock) -> None:
    """Record that the files of this store may still hold what another device forgot."""
    tables.unfinished_work.add(UnfinishedWork(kind=WorkKind.ERASE_DELETED, started_at=clock.now()))


def delete_sources(tables: SqliteTables, clock: Clock) -> list[str]:
    """
    Delete the sources that have a tombstone; return the memories that quote nothing else.

    Those are forgotten by the caller: what they say was forgotten with its source.
    """
    db = tables.connection.db
    memory_ids = []
    for memory_id, evidence_id, other_quotes in db.execute(_QUOTES).fetchall():
        if other_quotes:
            sql = "DELETE FROM evidence WHERE memory_id = ? AND id = ?"
            db.execute(sql, (memory_id, evidence_id))
            request_erasure(tables, clock)
        else:
            memory_ids.append(str(memory_id))
    db.execute(_SOURCES)
    if db.changes():
        request_erasure(tables, clock)
    db.execute(_RELEASE)
    return memory_ids
