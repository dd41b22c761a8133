"""
Apply the schema migrations: numbered `.sql` files in migrations/, forward only.

All missing migrations are applied in one transaction under the write lock, so that one of many
processes migrates and the others find it done. Each migration is recorded with its name and hash.
Before an existing database is changed, a snapshot is written next to it. A database with a
migration that this version does not know is refused: an older program must not write a newer file.
"""

import glob
from collections.abc import Sequence
from pathlib import Path

import apsw

from recollect.clock import Clock, to_micros
from recollect.errors import StoreDamaged, StoreNewer, StoreReadOnly
from recollect.store.migration_files import Migration, load_migrations
from recollect.store.row_conversion import fetch_all
from recollect.store.sqlite.connection import connect, translate_errors
from recollect.store.sqlite.partial_file import partial_file
from recollect.store.store_key import StoreKey

APPLICATION_ID = 0x5265636F  # "Reco": tells our files from other SQLite files
_TRIGGERS_MADE_BY_CODE = 29  # from this schema on, those of sync
_COMPANIONS = ("-wal", "-shm", "-journal", ".keys")  # files of a snapshot that was opened

_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


def known_migrations() -> tuple[Migration, ...]:
    """Return the migrations of this version, in order."""
    return load_migrations(Path(__file__).with_name("migrations"))


def migrate(
    db: apsw.Connection,
    path: Path,
    clock: Clock,
    migrations: Sequence[Migration] | None = None,
    *,
    key: StoreKey | None = None,
) -> int:
    """Apply the missing migrations to *db*, all or none; return the schema version."""
    steps = known_migrations() if migrations is None else migrations
    newest = steps[-1].number
    with translate_errors(path):
        if _applied_version(db, path, steps) == newest:
            return newest
        # The write lock first, then look again: other processes may be migrating the same file.
        db.execute("BEGIN IMMEDIATE")
        try:
            applied = _applied_version(db, path, steps)
            if applied and applied < newest:
                snapshot(path, f"{applied + 1:04d}", key=key)  # under the write lock
            for step in steps:
                if step.number > applied:
                    _apply(db, step, clock)
            restore_sync_triggers(db, newest)
            db.execute("COMMIT")
        except apsw.SQLError as error:
            db.execute("ROLLBACK")
            if not applied or "duplicate column" not in str(error):
                raise
            raise StoreDamaged(f"{path} is not of schema {applied}: {error}") from error
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
    return newest


def restore_sync_triggers(db: apsw.Connection, version: int) -> None:
    """Make the triggers of sync that a store of schema *version* lacks, if it syncs."""
    if version < _TRIGGERS_MADE_BY_CODE:
        return
    if db.execute("SELECT EXISTS (SELECT 1 FROM sync_device)").get:
        # A store is migrated once, and opened by every command.
        from recollect.store.sqlite.sync.change_triggers import create_triggers

        create_triggers(db)


def check_current(db: apsw.Connection, path: Path) -> int:
    """Return the schema version of a store that cannot be migrated; refuse an older one."""
    steps = known_migrations()
    version = _applied_version(db, path, steps)
    if version != steps[-1].number:
        raise StoreReadOnly(
            f"{path} is read-only and has an older schema ({version}, this version needs "
            f"{steps[-1].number}); copy it to a folder that you can write to and open the copy"
        )
    return version


def _applied_version(db: apsw.Connection, path: Path, steps: Sequence[Migration]) -> int:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        return 0
    mark = db.execute("PRAGMA application_id").get
    if "migrations" not in tables or mark != APPLICATION_ID:
        raise StoreDamaged(
            f"{path} is an SQLite database of another program; choose another file with --db",
            can_repair=mark == APPLICATION_ID
            or ("migrations" in tables and (mark ^ APPLICATION_ID).bit_count() == 1),
        )
    done = dict(fetch_all(db.execute("SELECT number, sha256 FROM migrations")))
    newest = int(max(done, default=0))
    if not done or (newest > steps[-1].number and newest - 1 not in done):
        raise StoreDamaged(f"{path} does not say its schema version", table="migrations")
    if newest > steps[-1].number:
        raise StoreNewer(
            f"{path} was written by a newer Recollect (schema {newest}, this one knows "
            f"{steps[-1].number}); upgrade with: pip install -U recollect"
        )
    for step in steps:
        if step.number in done and done[step.number] != step.sha256:
            raise StoreDamaged(
                f"{path} was made by a version of Recollect that was never released (schema "
                f"{step.number} differs); export it with that version and import it with this one",
                can_repair=_is_one_character_off(done[step.number], step.sha256),
            )
    return newest


def _is_one_character_off(text: str, other: str) -> bool:
    return len(text) == len(other) and sum(map(str.__ne__, text, other)) == 1


def snapshot(path: Path, reason: str, *, key: StoreKey | None = None) -> Path:
    """
    Copy the database to a file next to it, through its own connection; return the copy.

    The copy of an encrypted database has its key.
    """
    copy = path.with_name(f"{path.name}.before-{reason}")
    with partial_file(copy) as partial:
        reader = connect(path, key=key, read_only=True)
        try:
            reader.execute("VACUUM INTO ?", (str(partial),))  # accepts an existing empty file
        finally:
            reader.close()
    return copy


def snapshots(path: Path) -> list[Path]:
    """Return the copies of a database that `snapshot` made, by name."""
    files = path.parent.glob(f"{glob.escape(path.name)}.before-*")
    return sorted(
        file
        for file in files
        if not file.name.endswith(_COMPANIONS) and ".partial-" not in file.name
    )


def _apply(db: apsw.Connection, step: Migration, clock: Clock) -> None:
    db.execute(_MIGRATIONS_TABLE)
    db.execute(step.sql)
    db.execute(
        "INSERT INTO migrations VALUES (?, ?, ?, ?)",
        (step.number, step.name, step.sha256, to_micros(clock.now())),
    )
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
