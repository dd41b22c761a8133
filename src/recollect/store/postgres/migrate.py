"""
Apply the schema migrations of migrations/*.sql to a schema of a PostgreSQL database.

All missing migrations are applied in one transaction under an advisory lock, so that one of many
servers migrates and the others find it done. A schema with a migration that this version does not
know is refused.
"""

from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from recollect.clock import Clock, to_micros
from recollect.errors import StoreDamaged, StoreNewer, StoreUnavailable
from recollect.store.migration_files import Migration, load_migrations
from recollect.store.postgres.postgres_errors import translate_errors
from recollect.store.postgres.server_address import ServerAddress

OLDEST_SERVER = 140_000

_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    number     bigint PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at bigint NOT NULL
)
"""


def migrate(db: "psycopg.Connection[TupleRow]", address: ServerAddress, clock: Clock) -> int:
    """Apply the missing migrations to the schema of *address*, all or none; return its version."""
    steps = load_migrations(Path(__file__).with_name("migrations"))
    newest = steps[-1].number
    with translate_errors(address.location):
        _check_server(db, address)
        if _applied_version(db, address, steps) == newest:
            return newest
        # The lock first, then look again: other servers may be migrating the same schema.
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (address.lock_key,))
            applied = _applied_version(db, address, steps)
            if not _has_schema(db, address):
                db.execute(f"CREATE SCHEMA {address.quoted_schema}")
            db.execute(f"SET LOCAL search_path TO {address.quoted_schema}")
            db.execute(_MIGRATIONS_TABLE)
            for step in steps:
                if step.number > applied:
                    db.execute(step.sql, prepare=False)
                    db.execute(
                        "INSERT INTO migrations VALUES (%s, %s, %s, %s)",
                        (step.number, step.name, step.sha256, to_micros(clock.now())),
                    )
    return newest


def _check_server(db: "psycopg.Connection[TupleRow]", address: ServerAddress) -> None:
    if db.info.server_version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"{address.location} is PostgreSQL {db.info.server_version // 10_000}; "
            f"version {OLDEST_SERVER // 10_000} or newer is needed"
        )
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreUnavailable(
            f"the database of {address.location} has the encoding {encoding}; create one with "
            "ENCODING 'UTF8'"
        )


def _has_schema(db: "psycopg.Connection[TupleRow]", address: ServerAddress) -> bool:
    sql = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
    return db.execute(sql, (address.schema,)).fetchone() is not None


def _applied_version(
    db: "psycopg.Connection[TupleRow]", address: ServerAddress, steps: tuple[Migration, ...]
) -> int:
    table = f"{address.quoted_schema}.migrations"
    exists = db.execute("SELECT to_regclass(%s)", (table,)).fetchone()
    if exists is None or exists[0] is None:
        tables = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s LIMIT 1", (address.schema,)
        ).fetchone()
        if tables:
            raise StoreDamaged(
                f"the schema of {address.location} has tables of another program ({tables[0]}); "
                "choose another one with ?schema=name",
                can_repair=False,
            )
        return 0
    done: dict[int, str] = dict(db.execute(f"SELECT number, sha256 FROM {table}").fetchall())
    newest = int(max(done, default=0))
    if newest > steps[-1].number:
        raise StoreNewer(
            f"{address.location} was written by a newer Recollect (schema {newest}, this one knows "
            f"{steps[-1].number}); upgrade with: pip install -U recollect"
        )
    for step in steps:
        if step.number in done and done[step.number] != step.sha256:
            raise StoreDamaged(
                f"{address.location} was made by a version of Recollect that was never released "
                f"(schema {step.number} differs); export it with that version and import it here",
                can_repair=False,
            )
    return newest
