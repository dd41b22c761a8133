"""
Group commit: one writer at a time, and the writes of many threads in one transaction.

Theory of operation. A thread that wants to write queues a ticket and waits for the leader's lock.
The thread that gets it is the leader: it takes every queued ticket, runs them in one transaction,
each under its own savepoint, and commits once. What a transaction is, a database knows.
The others find their ticket done when they get the lock. So a single writer needs no extra thread,
and many writers share the cost of one commit. A ticket that fails is rolled back to its savepoint,
alone; if the commit fails, all tickets of the group fail with its error. If the database asks to
run the transaction again, because another one came between, all of its tickets are run again.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

from recollect.errors import StoreClosed
from recollect.tracing import trace_step

T = TypeVar("T")
MAX_GROUP = 256
MAX_RETRIES = 5


class WriteTransactions(Protocol):
    """The transactions of the one connection through which a process writes."""

    @property
    def location(self) -> str:
        """Where the store is, for error messages."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; False if the database ended it."""

    def begin(self) -> None:
        """Begin a transaction, as the only writer of the store."""

    def finish_statements(self) -> None:
        """Wait until every statement is carried out; raises the error of the first that failed."""

    def commit(self) -> None:
        """Commit; when it returns, the writes are on disk."""

    def rollback(self) -> None:
        """Undo the transaction."""

    def savepoint(self) -> None:
        """Set the savepoint, to which `rollback_to_savepoint` returns."""

    def rollback_to_savepoint(self) -> None:
        """Undo what was written since the savepoint."""

    def release_savepoint(self) -> None:
        """Remove the savepoint."""

    def must_retry(self, error: BaseException) -> bool:
        """Return whether the transaction failed only because of another one."""

    def translate_errors(self) -> AbstractContextManager[None]:
        """Return a context in which errors of the driver are raised as ours."""

    def end(self) -> None:
        """Let go of the connection: nothing is written before the next `begin`."""

    def close(self) -> None:
        """Close the connection."""


class _Ticket(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = False
        self.result: T | None = None
        self.error: BaseException | None = None


class Writer:
    """Runs functions that write on one connection, in groups; each is atomic and durable."""

    def __init__(self, transactions: WriteTransactions) -> None:
        self._transactions = transactions
        self._queue: list[_Ticket[Any]] = []
        self._queue_lock = threading.Lock()
        self._leader = threading.Lock()
        self._leading_thread: int | None = None
        self._closed = False

    def run(self, work: Callable[[], T]) -> T:
        """Run *work* in a transaction; return its result once it is on disk."""
        if self._leading_thread == threading.get_ident():
            raise RuntimeError("a write was started inside a write; pass the tables on instead")
        with trace_step("store write"):
            return self._run(work)

    def _run(self, work: Callable[[], T]) -> T:
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
    def queue_length(self) -> int:
        """How many writes wait."""
        return len(self._queue)

    def close(self) -> None:
        """Close the connection after the current write; later writes are refused."""
        with self._leader:
            self._closed = True
            self._transactions.close()

    def _take_group(self) -> list[_Ticket[Any]]:
        with self._queue_lock:
            group, self._queue = self._queue[:MAX_GROUP], self._queue[MAX_GROUP:]
        return group

    def _commit(self, group: list[_Ticket[Any]]) -> None:
        try:
            with self._transactions.translate_errors():
                self._run_group(group)
        except BaseException as error:
            for ticket in group:  # before anything else can fail: no ticket may look done
                ticket.error = ticket.error or error
            self._rollback()
            if not isinstance(error, Exception):
                raise  # an interrupt or exit is passed on to the interpreter too
        finally:
            for ticket in group:
                ticket.done = True
            self._transactions.end()

    def _run_group(self, group: list[_Ticket[Any]]) -> None:
        if self._closed:
            raise StoreClosed(
                f"{self._transactions.location} was closed before this write; open it again"
            )
        for attempts_left in reversed(range(MAX_RETRIES)):
            self._transactions.begin()
            try:
                if len(group) == 1:
                    # A single ticket needs no savepoint, which would slow down a large write.
                    group[0].result = group[0].work()
                else:
                    for ticket in group:
                        self._attempt(ticket)
                self._transactions.commit()
                return
            except Exception as error:  # only one that the database names is tried again
                if not attempts_left or not self._transactions.must_retry(error):
                    raise
                self._rollback()
                for ticket in group:
                    ticket.error = None

    def _attempt(self, ticket: _Ticket[Any]) -> None:
        self._transactions.savepoint()
        try:
            with self._transactions.translate_errors():
                ticket.result = ticket.work()
                self._transactions.finish_statements()  # while its errors are known to be its own
        except Exception as error:  # any error of the work is raised in the caller
            if self._transactions.must_retry(error) or not self._transactions.in_transaction:
                raise  # the database ended the whole transaction (disk full, I/O): all fail
            self._transactions.rollback_to_savepoint()
            ticket.error = error
        self._transactions.release_savepoint()

    def _rollback(self) -> None:
        if not self._closed and self._transactions.in_transaction:
            self._transactions.rollback()
