"""
Transactions of a store on a PostgreSQL server.

A read is a REPEATABLE READ transaction: one moment of the store. A write first takes the advisory
lock of the store's schema, so that there is one writer at a time among all servers and workers, as
in an SQLite file: what a write reads cannot change before it commits, rows get their numbers in the
order of commits (a cache of vectors reads from the last number on), and two writers cannot wait for
each other. The lock ends with the transaction, also when a process is killed.

Everything a transaction needs is set in the round trip that begins it, for that transaction only,
so that a pooler between us and the server may give every transaction another connection.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from recollect.errors import StoreUnavailable
from recollect.store.open_tables import OpenTables
from recollect.store.postgres.postgres_connection import PostgresConnection, configure
from recollect.store.postgres.postgres_errors import RETRIED, translate_errors
from recollect.store.postgres.server_address import ServerAddress

Database = psycopg.Connection[TupleRow]
PostgresTables = OpenTables[PostgresConnection]

STATEMENT_TIMEOUT_MS = 60_000
LOCK_TIMEOUT_MS = 30_000
USER_SETTING = "recollect.acting_user"  # of a transaction: whose rows the policies let it see
IDLE_TIMEOUT_MS = 60_000  # a process that hangs inside a write must not keep the lock
_SHUTDOWN_STATES = frozenset({"57P01", "57P02", "57P03"})  # the server ends the connection
# Every statement is short, so plans are not compiled. What is read is in memory, or on a disk that
# does not seek: with the default of 4, a search in 5,000 items reads whole tables instead of a few
# hundred entries of their indexes, and takes three times the processor time.
_PLANNING = "SET LOCAL jit = off; SET LOCAL random_page_cost = 1.1"
# Keepalives: a server that vanished is noticed after a minute instead of two hours.
CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,  # transactions are begun by the statements below
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "application_name": "recollect",
}


def connection_options(address: ServerAddress) -> dict[str, Any]:
    """Return the options of connections to *address*."""
    # A prepared statement belongs to a connection, which a pooler may replace.
    return CONNECTION_OPTIONS | ({"prepare_threshold": None} if address.has_pooler else {})


def connect(address: ServerAddress, **options: Any) -> Database:
    """Open a connection; *options* override the usual ones."""
    with translate_errors(address.location):
        db = psycopg.connect(address.conninfo, **{**connection_options(address), **options})
    configure(db)
    return db


def begin_read(
    address: ServerAddress, *, user: str = "", timeout_ms: int = STATEMENT_TIMEOUT_MS
) -> str:
    """Return the statements that begin a read for *user*."""
    return f"""BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
        SET LOCAL search_path TO {address.quoted_schema};
        SET LOCAL {USER_SETTING} = {quoted_user(user)};
        {_PLANNING};
        SET LOCAL statement_timeout = {timeout_ms}"""


def quoted_user(user: str) -> str:
    """Return the id of a user, or of a space, as a literal in SQL."""
    return sql.Literal(user).as_string(None)


def begin_write(
    address: ServerAddress,
    *,
    user: str = "",
    lock_timeout_ms: int = LOCK_TIMEOUT_MS,
    is_durable: bool = True,
) -> str:
    """Return the statements that begin a write for *user*, and wait until it is the only one."""
    return f"""BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
        SET LOCAL search_path TO {address.quoted_schema};
        SET LOCAL {USER_SETTING} = {quoted_user(user)};
        {_PLANNING};
        SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS};
        SET LOCAL lock_timeout = {lock_timeout_ms};
        SET LOCAL idle_in_transaction_session_timeout = {IDLE_TIMEOUT_MS};
        SET LOCAL synchronous_commit = {"on" if is_durable else "off"};
        SELECT pg_advisory_xact_lock({address.lock_key})"""


def is_open(db: Database) -> bool:
    """Return whether a transaction is open, as far as this side knows."""
    states = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
    return not db.closed and db.info.transaction_status in states


def _is_lost(db: Database, error: psycopg.Error) -> bool:
    """Return whether the connection ended, so that it is unknown what the server did."""
    state = error.sqlstate
    return db.closed or state is None or state in _SHUTDOWN_STATES or state.startswith("08")


class WriteConnections(Protocol):
    """Where a transaction gets its connection."""

    def take_writer(self) -> tuple[Database, bool]:
        """Return a connection to write with, and whether it was opened just now."""

    def give_back_writer(self, db: Database) -> None:
        """Let others write with a connection."""


class PostgresTransactions:
    """
    See `recollect.store.group_commit.WriteTransactions`.

    A connection that is found broken at the beginning of a transaction is replaced: nothing is lost
    then. What breaks later is an error, because the work may have had other effects.
    """

    def __init__(
        self,
        connections: WriteConnections,
        location: str,
        begin_sql: str,
        open_tables: Callable[[PostgresConnection], PostgresTables],
    ) -> None:
        self._connections = connections
        self._location = location
        self._begin_sql = begin_sql
        self._open_tables = open_tables
        self._open: Database | None = None  # from `begin` to `end`

    @property
    def location(self) -> str:
        return self._location

    @property
    def _db(self) -> Database:
        assert self._open is not None, "no transaction has begun"
        return self._open

    @property
    def in_transaction(self) -> bool:
        return self._open is not None and is_open(self._open)

    def begin(self) -> None:
        self.end()  # of the attempt before
        while not self._begin():
            pass
        self.tables = self._open_tables(self._connection)
        self._connection.start_deferring()

    def _begin(self) -> bool:
        """Begin a transaction; return False if the connection was broken."""
        self._open, is_new = self._connections.take_writer()
        self._connection = PostgresConnection(self._open)
        try:
            self._open.execute(self._begin_sql, prepare=False)
        except psycopg.OperationalError:
            if is_new or self.in_transaction:
                raise  # the lock was not free, or the server answered with another error
            self._open.close()
            self.end()
            return False
        return True

    def end(self) -> None:
        if self._open is not None:
            db, self._open = self._open, None
            self._connections.give_back_writer(db)

    def finish_statements(self) -> None:
        self._connection.run_deferred()

    def commit(self) -> None:
        try:
            # With the statements that wait: if one of them fails it is not carried out. If one
            # failed before, it rolls back and says so.
            cursor = self._connection.run("COMMIT")
        except psycopg.OperationalError as error:
            if not _is_lost(self._db, error):
                raise  # the server answered with an error: nothing is stored
            raise StoreUnavailable(
                f"the connection to {self.location} was lost at the end of a write, which may or "
                f"may not be stored ({error}). Look before you repeat it, or repeat it with the "
                "same idempotency key"
            ) from error
        if cursor.statusmessage != "COMMIT":
            raise StoreUnavailable(
                f"{self.location}: a statement of this write failed; nothing was changed"
            )

    def rollback(self) -> None:
        self._connection.start_deferring()  # what waits is dropped
        self._db.execute("ROLLBACK", prepare=False)

    def savepoint(self) -> None:
        # Not later: to roll back to a savepoint that was not set would undo another ticket.
        self._connection.run("SAVEPOINT ticket")

    def rollback_to_savepoint(self) -> None:
        self._connection.start_deferring()  # what waits is dropped
        self._db.execute("ROLLBACK TO ticket", prepare=False)

    def release_savepoint(self) -> None:
        self._connection.defer("RELEASE ticket")

    def must_retry(self, error: BaseException) -> bool:
        return isinstance(error, RETRIED) or isinstance(error.__cause__, RETRIED)

    def translate_errors(self) -> AbstractContextManager[None]:
        return translate_errors(self.location)

    def close(self) -> None:
        self.end()
