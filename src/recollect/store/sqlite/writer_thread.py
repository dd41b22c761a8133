"""
Group commit: one writer at a time, and the writes of many threads in one transaction.

Theory of operation. A thread that wants to write queues a ticket and waits for the leader's lock.
The thread that gets it is the leader: it takes every queued ticket, runs them in one
`BEGIN IMMEDIATE` transaction, each under its own savepoint, and commits once at synchronous=FULL.
The others find their ticket done when they get the lock. So a single writer needs no extra thread,
and many writers share the cost of one commit. A ticket that fails is rolled back to its savepoint,
alone; if the commit fails, all tickets of the group fail with its error.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from recollect.errors import StoreClosed
from recollect.store.sqlite.connection import translate_errors

T = TypeVar("T")
MAX_GROUP = 256


class _Ticket(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = False
        self.result: T | None = None
        self.error: BaseException | None = None


class Writer:
    """Runs functions that write on one connection, in groups; each is atomic and durable."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._queue: list[_Ticket[Any]] = []
        self._queue_lock = threading.Lock()
        self._leader = threading.Lock()
        self._leading_thread: int | None = None
        self._closed = False

    def run(self, work: Callable[[], T]) -> T:
        """Run *work* in a transaction; return its result once it is on disk."""
        if self._leading_thread == threading.get_ident():
            raise RuntimeError("a write was started inside a write; pass the tables on instead")
        ticket = _Ticket(work)
        with self._queue_lock:
            self._queue.append(ticket)
        with self._leader:
            self._leading_thread = threading.get_ident()
            try:
                while not ticket.done:
                    self._commit(self._take_group())
            finally:
                self._leading_thread = None
        if ticket.error is not None:
            raise ticket.error
        return ticket.result  # type: ignore[return-value]  # done without error has its result

    @property
    def is_busy(self) -> bool:
        """Whether this process is writing."""
        return self._leader.locked()

    def close(self) -> None:
        """Close the connection after the present write; later writes are refused."""
        with self._leader:
            self._closed = True
            self._db.close()

    def _take_group(self) -> list[_Ticket[Any]]:
        with self._queue_lock:
            group, self._queue = self._queue[:MAX_GROUP], self._queue[MAX_GROUP:]
        return group

    def _commit(self, group: list[_Ticket[Any]]) -> None:
        try:
            with translate_errors(self._path):
                if self._closed:
                    raise StoreClosed(f"{self._path} was closed before this write; open it again")
                self._db.execute("BEGIN IMMEDIATE")
                if len(group) == 1:
                    # A single ticket needs no savepoint, which would slow down a large write.
                    group[0].result = group[0].work()
                else:
                    for ticket in group:
                        self._attempt(ticket)
                self._db.execute("COMMIT")
        except BaseException as error:
            for ticket in group:  # before anything else can fail: no ticket may look done
                ticket.error = ticket.error or error
            if not self._closed and self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, Exception):
                raise  # an interrupt or exit is passed on to the interpreter too
        finally:
            for ticket in group:
                ticket.done = True

    def _attempt(self, ticket: _Ticket[Any]) -> None:
        self._db.execute("SAVEPOINT ticket")
        try:
            with translate_errors(self._path):
                ticket.result = ticket.work()
        except Exception as error:  # any error of the work is raised in the caller
            if not self._db.in_transaction:
                raise  # SQLite rolled the whole transaction back (disk full, I/O): all tickets fail
            self._db.execute("ROLLBACK TO ticket")
            ticket.error = error
        self._db.execute("RELEASE ticket")
