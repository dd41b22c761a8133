"""
Bring a database to the newest schema, one numbered `.sql` file at a time.

Forward only. Each migration is one transaction and leaves a row with its name and hash. Before an
existing database is touched, a snapshot of it is written beside it. A database with a migration
this version does not know is refused: an older program must not write a newer file.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import apsw

from recollect.clock import Clock, to_micros
from recollect.errors import StoreDamaged, StoreNewer
from recollect.store.sqlite.connection import translated

APPLICATION_ID = 0x5265636F  # "Reco": tells our files from other SQLite files

_LEDGER = """
CREATE TABLE IF NOT EXISTS migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """The hash of the script, recorded when it runs."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def known_migrations() -> list[Migration]:
    """Return the migrations this version carries, in order."""
    found = []
    for entry in (files(__package__) / "migrations").iterdir():
        if match := re.fullmatch(r"(\d{4})_(\w+)\.sql", entry.name):
            sql = entry.read_text(encoding="utf-8")
            found.append(Migration(int(match[1]), match[2], sql))
    return sorted(found, key=lambda migration: migration.number)


def migrate(
    db: apsw.Connection, path: Path, clock: Clock, migrations: list[Migration] | None = None
) -> int:
    """Apply what is missing to *db*; return the schema's number."""
    steps = known_migrations() if migrations is None else migrations
    newest = steps[-1].number
    with translated(path):
        applied = _applied(db, path)
        if applied > newest:
            raise StoreNewer(
                f"{path} was written by a newer Recollect (schema {applied}, this one knows "
                f"{newest}); upgrade with: pip install -U recollect"
            )
        missing = [step for step in steps if step.number > applied]
        if not missing:
            return applied
        if applied:
            _snapshot(db, path, applied)
        for step in missing:
            _apply(db, step, clock)
    return newest


def _applied(db: apsw.Connection, path: Path) -> int:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "migrations" in tables:
        return int(db.execute("SELECT coalesce(max(number), 0) FROM migrations").get)
    if tables:
        raise StoreDamaged(
            f"{path} is an SQLite database of another program; choose another file with --db"
        )
    return 0


def _snapshot(db: apsw.Connection, path: Path, number: int) -> None:
    copy = path.with_name(f"{path.name}.before-{number + 1:04d}")
    copy.unlink(missing_ok=True)
    db.execute("VACUUM INTO ?", (str(copy),))
    copy.chmod(0o600)


def _apply(db: apsw.Connection, step: Migration, clock: Clock) -> None:
    # BEGIN IMMEDIATE first, then look again: another process may have migrated while we waited.
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute(_LEDGER)
        done = db.execute("SELECT 1 FROM migrations WHERE number = ?", (step.number,)).fetchone()
        if not done:
            db.execute(step.sql)
            db.execute(
                "INSERT INTO migrations VALUES (?, ?, ?, ?)",
                (step.number, step.name, step.sha256, to_micros(clock.now())),
            )
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
