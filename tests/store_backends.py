"""The databases that the contract tests of the store run against: each opens one in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

from recollect.clock import Clock
from recollect.store.key_places import KeyPlaces
from recollect.store.protocol import Store
from recollect.store.sqlite.replace_file import change_key
from recollect.store.sqlite.store import SqliteStore
from recollect.store.store_key import StoreKey


def open_sqlite(folder: Path, clock: Clock) -> Store:
    """Open the SQLite store of *folder*."""
    return SqliteStore(folder / "memory.db", clock)


def open_encrypted_sqlite(folder: Path, clock: Clock, key: StoreKey) -> Store:
    """Open a new SQLite store in *folder* that is encrypted with *key*."""
    path = folder / "encrypted.db"
    SqliteStore(path, clock).close()
    change_key(path, None, key)
    return SqliteStore(path, clock, keys=KeyPlaces(uses_keyring=False, known=(key,)))


def open_postgres(folder: Path, clock: Clock) -> Store:
    """Open the PostgreSQL store that stands for *folder*; its server starts when first needed."""
    from postgres_server import SCHEMAS, shared_server  # psycopg: only for tests that need it
    from recollect.store.postgres.store import PostgresStore

    return PostgresStore(shared_server().address(SCHEMAS.schema_of(folder)), clock)


BACKENDS: Mapping[str, Callable[[Path, Clock], Store]] = {
    "sqlite": open_sqlite,
    "postgres": open_postgres,
}
FILE_BACKENDS = ("sqlite",)  # whose store is a file
ENCRYPTED_BACKENDS: Mapping[str, Callable[[Path, Clock, StoreKey], Store]] = {
    "sqlite": open_encrypted_sqlite
}
