"""
The retrievals that wait to be written to the log.

Theory of operation. A search adds its retrieval here and returns; it never waits for another
process that writes. A thread, which exists only while something waits, writes them in batches and
tries again while the file is busy. A write of this process takes waiting retrievals along in its
own transaction. Closing the store writes the rest and waits for the thread to end: a process may
fork after it. A retrieval that waits can be explained like one that is logged. A killed process
loses what waits: at most the last moments, unless the file was busy.

The queue is bounded. If it is full, a search waits for room for FULL_WAIT_S and is then answered
without being logged. An error that is not about being busy (a full disk) drops the batch, because
what waits must not grow for as long as the disk is full.
"""

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import datetime

from recollect.domain.retrieval import Retrieval
from recollect.errors import StoreBusy, StoreClosed, StoreError
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Tables

MAX_WAITING = 10_000
MAX_BATCH = 200  # takes some milliseconds to write
BATCH_DELAY_S = 0.05  # so that searches in quick succession share a transaction
RETRY_S = 0.05
FULL_WAIT_S = 1.0
CLOSE_WAIT_S = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueuedRetrieval:
    """A retrieval, and when the search ran."""

    retrieval: Retrieval
    logged_at: datetime


def add_retrievals(tables: Tables, queued: Sequence[QueuedRetrieval]) -> None:
    """Write *queued* to the log, inside the caller's transaction."""
    for entry in queued:
        tables.retrievals.add(entry.retrieval, logged_at=entry.logged_at)


class RetrievalQueue:
    """Retrievals that wait to be logged. Safe to share between threads."""

    def __init__(self, write: Callable[[Sequence[QueuedRetrieval]], None]) -> None:
        self._write = write
        self._condition = threading.Condition()
        self._waiting: dict[str, QueuedRetrieval] = {}
        self._taken: dict[str, QueuedRetrieval] = {}  # being written
        self._thread: threading.Thread | None = None  # the newest, which may have ended
        self._has_writer = False  # whether that thread will look at what waits once more
        self._closed = False
        self._pid = os.getpid()
        self._at_exit = _close_at_exit(weakref.ref(self))
        atexit.register(self._at_exit)

    def add(self, retrieval: Retrieval, logged_at: datetime) -> bool:
        """Add a retrieval; return False if the queue stays full."""
        with self._condition:
            if len(self._waiting) >= MAX_WAITING:
                self._condition.wait_for(lambda: len(self._waiting) < MAX_WAITING, FULL_WAIT_S)
            if len(self._waiting) >= MAX_WAITING:
                log.warning("a retrieval was not logged: %s wait for a busy file", MAX_WAITING)
                return False
            if self._closed:
                return False
            self._waiting[retrieval.id] = QueuedRetrieval(retrieval, logged_at)
            if not self._has_writer:
                self._has_writer = True
                self._thread = threading.Thread(
                    target=self._run, name="recollect-retrieval-log", daemon=True
                )
                self._thread.start()
        return True

    def __len__(self) -> int:
        return len(self._waiting) + len(self._taken)

    def get(self, retrieval_id: str) -> Retrieval | None:
        """Return the retrieval with that id if it waits, or None."""
        with self._condition:
            queued = self._waiting.get(retrieval_id) or self._taken.get(retrieval_id)
        return None if queued is None else queued.retrieval

    def take(self) -> list[QueuedRetrieval]:
        """Take the oldest ones to write them; give each batch to `settle` afterwards."""
        with self._condition:
            if not self._waiting:
                return []
            ids = list(self._waiting)[:MAX_BATCH]
            batch = {retrieval_id: self._waiting.pop(retrieval_id) for retrieval_id in ids}
            self._taken |= batch
            return list(batch.values())

    def finish_batch(self, batch: Sequence[QueuedRetrieval], *, is_written: bool) -> None:
        """Remove a batch that was written; one that was not waits again, at the front."""
        with self._condition:
            entries = {entry.retrieval.id: entry for entry in batch}
            for retrieval_id in entries:
                self._taken.pop(retrieval_id, None)
            if not is_written:
                self._waiting = entries | self._waiting
            self._condition.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Write everything that waits now; return False if the file stays busy."""
        give_up_at = time.monotonic() + timeout_s
        while batch := self.take():
            try:
                self._write(batch)
            except StoreBusy:
                self.finish_batch(batch, is_written=False)
                if time.monotonic() >= give_up_at:
                    return False
                time.sleep(RETRY_S)
                continue
            except StoreError as error:
                log.warning("%s retrievals could not be logged: %s", len(batch), error)
            except BaseException:
                self.finish_batch(batch, is_written=False)
                raise
            self.finish_batch(batch, is_written=True)
        with self._condition:  # what another thread has taken
            left_s = max(0.0, give_up_at - time.monotonic())
            return self._condition.wait_for(lambda: not self._taken, left_s)

    def close(self) -> None:
        """Write what waits, for CLOSE_WAIT_S at most, and accept nothing more."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        atexit.unregister(self._at_exit)
        if os.getpid() != self._pid:
            return
        give_up_at = time.monotonic() + CLOSE_WAIT_S
        if not self.flush(CLOSE_WAIT_S):
            log.warning("%s retrievals could not be logged: the file was busy", len(self._waiting))
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(0.0, give_up_at - time.monotonic()))

    def _run(self) -> None:
        while True:
            with self._condition:
                if not self._waiting or self._closed:
                    self._has_writer = False
                    return
                self._condition.wait_for(lambda: self._closed, BATCH_DELAY_S)
            try:
                self.flush(0.0)
            except StoreClosed:
                return


def _close_at_exit(reference: "weakref.ref[RetrievalQueue]") -> Callable[[], None]:
    """Return a function that writes what a queue holds when the interpreter exits."""

    def flush() -> None:
        queue = reference()
        if queue is not None:
            queue.close()

    return flush
