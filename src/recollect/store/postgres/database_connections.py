"""
The connections of a process to one database: bounded, and shared by all stores that it has there.

A transaction sets everything it needs when it begins (postgres_transactions.py), so any connection
serves any schema. One limit holds for a server with hundreds of users: most connections read, some
write, one listens for jobs, and two are for whoever opens a store. Whoever finds no free connection
waits for one. Those that read are closed when nobody has used them for a while.

No thread waits for a connection that writes while it holds one, nor for a second one that reads.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.errors import StoreUnavailable
from recollect.store.postgres.job_listener import JobSubscription, PostgresJobListener
from recollect.store.postgres.postgres_connection import configure
from recollect.store.postgres.postgres_transactions import (
    Database,
    connect,
    connection_options,
    is_open,
)
from recollect.store.postgres.server_address import ServerAddress

DEFAULT_LIMIT = 16
OPENING = 2  # connections of the one thread at a time that opens a store: its tables, and the role
LISTENING = 1
MAX_IDLE_S = 30.0  # one idle connection is closed so often: other servers may need it
READER_WAIT_S = 15.0
WRITER_WAIT_S = 30.0
# An attempt to connect is given up so soon, and the next reader makes another one. The default of
# the pool doubles its pauses up to five minutes, in which nobody reads although the server is back.
RECONNECT_S = 1.0
READER_CHECK_S = 2.0  # a waiting reader looks so often whether the server can be reached at all


class DatabaseConnections:
    """At most *limit* connections to the database of *address*. Safe to share between threads."""

    def __init__(self, address: ServerAddress, *, limit: int = DEFAULT_LIMIT) -> None:
        self._address = address
        self._max_writers = max(2, limit // 5)
        self._max_readers = limit - OPENING - LISTENING - self._max_writers
        self._unreachable_at = 0.0
        self._writers_changed = threading.Condition()
        self._idle_writers: list[Database] = []
        self._writer_count = 0  # in use or idle
        self._listener: PostgresJobListener | None = None
        self._listener_lock = threading.Lock()
        self._is_closed = False
        self.opening = threading.Lock()  # of whoever opens a store
        self._readers = ConnectionPool(
            address.conninfo,
            kwargs=connection_options(address),
            configure=configure,
            min_size=0,
            max_size=self._max_readers,
            max_idle=MAX_IDLE_S,
            timeout=READER_WAIT_S,
            num_workers=1,
            reconnect_timeout=RECONNECT_S,
            reconnect_failed=self._note_unreachable,
            open=True,
            name="recollect-readers",
        )

    def reader_stats(self) -> dict[str, Any]:
        """Return the statistics of the pool of readers."""
        return self._readers.get_stats()

    def begin_read(self, begin_sql: str) -> Database:
        """Return a connection that has begun to read; those that are found broken are replaced."""
        replacements = self._max_readers
        while True:
            db = self._wait_for_reader()
            try:
                db.execute(begin_sql, prepare=False)
                return db
            except BaseException as error:
                db.close()
                self._readers.putconn(db)
                if not isinstance(error, psycopg.OperationalError) or not replacements:
                    raise
                replacements -= 1

    def end_read(self, db: Database) -> None:
        """Give a connection back; the pool discards it if it is broken."""
        try:
            # Nothing is lost if the server is gone: a read has nothing to store.
            with suppress(psycopg.OperationalError):
                if is_open(db):
                    db.execute("ROLLBACK", prepare=False)
        finally:
            self._readers.putconn(db)

    def take_writer(self) -> tuple[Database, bool]:
        """Return a connection to write with, and whether it was opened just now."""
        with self._writers_changed:
            is_free = self._writers_changed.wait_for(
                lambda: self._idle_writers or self._writer_count < self._max_writers, WRITER_WAIT_S
            )
            if not is_free:
                raise PoolTimeout(f"no connection to write with after {WRITER_WAIT_S:.0f} s")
            if self._idle_writers:
                return self._idle_writers.pop(), False
            self._writer_count += 1
        try:
            return connect(self._address), True
        except BaseException:
            self._count_writer_out()
            raise

    def give_back_writer(self, db: Database) -> None:
        """Let others write with a connection; one that is broken or in a transaction is closed."""
        with self._writers_changed:
            if not (db.closed or is_open(db) or self._is_closed):
                self._idle_writers.append(db)
                self._writers_changed.notify()
                return
        db.close()
        self._count_writer_out()

    def listen_for_jobs(self, schema: str, wake: Callable[[], None]) -> JobSubscription:
        """Call *wake*, in a thread, when a job is stored in *schema*."""
        with self._listener_lock:
            if self._listener is None:
                self._listener = PostgresJobListener(self._address)
            return self._listener.subscribe(schema, wake)

    def close(self) -> None:
        """Close every connection; one in use is closed when it is given back."""
        with self._listener_lock:
            if self._listener is not None:
                self._listener.close()
        self._readers.close()
        with self._writers_changed:
            self._is_closed = True
            idle, self._idle_writers = self._idle_writers, []
            self._writer_count -= len(idle)
        for db in idle:
            db.close()

    def _count_writer_out(self) -> None:
        with self._writers_changed:
            self._writer_count -= 1
            self._writers_changed.notify()

    def _wait_for_reader(self) -> Database:
        """Return a connection of the pool; fail early if the server cannot be reached."""
        begun = time.monotonic()
        while True:
            try:
                return self._readers.getconn(min(READER_CHECK_S, READER_WAIT_S))
            except PoolTimeout:
                if self._unreachable_at > begun:
                    raise StoreUnavailable(
                        f"{self._address.location} cannot be reached; check that the server runs, "
                        "and try again"
                    ) from None
                if time.monotonic() - begun > READER_WAIT_S:
                    raise

    def _note_unreachable(self, _: "ConnectionPool[Database]") -> None:
        self._unreachable_at = time.monotonic()
