"""
One writer at a time, and many writes in one commit.

Theory of operation. Whoever wants to write queues a ticket and then waits for the leader's lock.
The first to get it is the leader: it takes every waiting ticket, runs them in one
`BEGIN IMMEDIATE` transaction, each under its own savepoint, and commits once at synchronous=FULL.
The others find their ticket done when the lock reaches them. So a lone writer pays for no thread,
and a crowd shares the cost of the disk. A ticket that fails rolls back to its savepoint and takes
only itself down; a commit that fails takes all of them down, and says so to each.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from recollect.errors import StoreClosed
from recollect.store.sqlite.connection import translated

T = TypeVar("T")
MAX_GROUP = 256


class _Ticket(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = False
        self.result: T | None = None
        self.error: BaseException | None = None


class Writer:
    """Runs pieces of work against one connection, in groups, each atomic and durable."""

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
                    self._commit(self._take())
            finally:
                self._leading_thread = None
        if ticket.error is not None:
            raise ticket.error
        return ticket.result  # type: ignore[return-value]  # done without error has its result

    @property
    def is_busy(self) -> bool:
        """Whether a write of this process is under way."""
        return self._leader.locked()

    def close(self) -> None:
        """Close the connection once no write is under way; later writes are refused."""
        with self._leader:
            self._closed = True
            self._db.close()

    def alone(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run *work* on the connection outside any transaction, while nobody else writes."""
        with self._leader, translated(self._path):
            return work(self._db)

    def _take(self) -> list[_Ticket[Any]]:
        with self._queue_lock:
            group, self._queue = self._queue[:MAX_GROUP], self._queue[MAX_GROUP:]
        return group

    def _commit(self, group: list[_Ticket[Any]]) -> None:
        try:
            with translated(self._path):
                if self._closed:
                    raise StoreClosed(f"{self._path} was closed before this write; open it again")
                self._db.execute("BEGIN IMMEDIATE")
                if len(group) == 1:
                    # Alone it needs no savepoint, which would make a large write slower and slower.
                    group[0].result = group[0].work()
                else:
                    for ticket in group:
                        self._attempt(ticket)
                self._db.execute("COMMIT")
        except BaseException as error:
            for ticket in group:  # before anything else can fail: none may look acknowledged
                ticket.error = ticket.error or error
            if not self._closed and self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not isinstance(error, Exception):
                raise  # an interrupt or exit: the tickets know, and so does the interpreter
        finally:
            for ticket in group:
                ticket.done = True

    def _attempt(self, ticket: _Ticket[Any]) -> None:
        self._db.execute("SAVEPOINT ticket")
        try:
            with translated(self._path):
                ticket.result = ticket.work()
        except Exception as error:  # whatever the caller's work raises is the caller's to see
            if not self._db.in_transaction:
                raise  # SQLite gave the whole transaction up (disk full, I/O): all tickets fail
            self._db.execute("ROLLBACK TO ticket")
            ticket.error = error
        self._db.execute("RELEASE ticket")
