"""
The background thread of a server: it runs jobs and sleeptime, finishes deletions, embeds pending
items, prunes the retrieval log, makes backups and syncs with other devices when that is due.

It polls once a second, and at once after `wake`; less often while the store tells when another
process has stored a job. One job, one batch of items and one batch of old
retrievals alternate, so that none delays the others; the thread can be stopped between two steps.
A step that takes too long is not waited for: its job is handed back, so that it is due again and
the next worker does it.
After an error, for example if the store is busy, it retries with exponential backoff.
"""

import logging
import threading
from collections.abc import Callable
from enum import StrEnum

from recollect.app.local_recollect import LocalRecollect
from recollect.calling_client import use_user
from recollect.errors import RecollectError, StoreClosed
from recollect.store.protocol import JobListener

POLL_S = 1.0
LISTENING_POLL_S = 5.0  # while the store tells of jobs: for retries that are due, and pending items
FIRST_BACKOFF_S = 1.0  # after a failure; doubled with each further one
MAX_BACKOFF_S = 30.0
FINISH_S = 3.0  # how long `stop` waits for the current step
HANDED_BACK_S = 0.5  # and then, until the thread notices that its job was handed back

log = logging.getLogger(__name__)


class BackgroundState(StrEnum):
    """The state of the thread."""

    STOPPED = "stopped"
    WARMING = "warming"  # loading the embedder
    IDLE = "idle"
    WORKING = "working"
    RESTING = "resting"  # waiting before the next attempt after a failure


def backoff_s(failures: int) -> float:
    """Return how long to wait after *failures* in a row."""
    return min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** min(failures - 1, 10))


class BackgroundWorker:
    """Works on one store from `start` to `stop`. Both may be called from any thread."""

    def __init__(self, rec: LocalRecollect, *, poll_s: float = POLL_S, user: str = "") -> None:
        """*user* is for whom the work is done: the space of a team's project does its own."""
        self._rec = rec
        self._user = user
        self._poll_s = poll_s
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._state = BackgroundState.STOPPED
        self._failures = 0
        self._last_error = ""
        self._is_abandoned = False
        self._listener: JobListener | None = None

    @property
    def state(self) -> BackgroundState:
        """The state of the thread; stopped if it has ended."""
        alive = self._thread is not None and self._thread.is_alive()
        return self._state if alive else BackgroundState.STOPPED

    @property
    def last_error(self) -> str:
        """The error of the last attempt, '' if it succeeded."""
        return self._last_error

    @property
    def is_listening(self) -> bool:
        """Whether the store tells at once when another process has stored a job."""
        return self._listener is not None and self._listener.is_listening

    def start(self) -> None:
        """Start the thread; starting does not wait for the embedder."""
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="recollect-background", daemon=True)
            self._thread = thread
            thread.start()

    def wake(self) -> None:
        """Poll now: something was written."""
        self._wake.set()

    def stop(self) -> None:
        """
        End the thread after its current step; a second call does nothing.

        A step that takes longer than `FINISH_S` is abandoned: its job is handed back, and what it
        writes after that is rolled back.
        """
        self._stop.set()
        self._wake.set()
        if self._thread is None or self._is_abandoned:
            return
        self._thread.join(FINISH_S)
        if self._thread.is_alive():
            self._is_abandoned = True
            self.hand_back()
            self._thread.join(HANDED_BACK_S)

    def run_once(self) -> bool:
        """Work in this thread until nothing is due or `stop`; return whether it succeeded."""
        with use_user(self._user):
            return self._attempt(self._work)

    def hand_back(self) -> None:
        """Make the job that this process works on due again."""
        try:
            with use_user(self._user):
                count = self._rec.engine.hand_back_jobs()
        except RecollectError as error:
            # The lease ends by itself, and the next worker takes the job over.
            log.warning("a running job could not be handed back: %s", error)
        else:
            if count:
                log.info("a job takes long and was handed back; the next worker does it")

    def _run(self) -> None:
        with use_user(self._user):
            self._run_until_stopped()

    def _run_until_stopped(self) -> None:
        try:
            self._listener = self._rec.engine.listen_for_jobs(self.wake)
            self._state = BackgroundState.WARMING
            self._attempt(self._rec.engine.warm_up)
            while not self._stop.is_set():
                self._wake.clear()
                self._state = BackgroundState.WORKING
                if self._attempt(self._work):
                    self._state = BackgroundState.IDLE
                    longest_s = LISTENING_POLL_S if self.is_listening else 0.0
                    self._wake.wait(max(self._poll_s, longest_s))
                else:
                    self._state = BackgroundState.RESTING
                    # `wake` does not end this wait: the next attempt would fail too.
                    self._stop.wait(backoff_s(self._failures))
        except StoreClosed:
            log.info("the store was closed; the background thread ends")
        finally:
            self._state = BackgroundState.STOPPED
            if self._listener is not None:
                self._listener.close()

    def _work(self) -> None:
        """Work until no job is due and no item is pending."""
        busy = True
        while busy and not self._stop.is_set():
            busy = next(self._rec.engine.run_jobs_in_steps(), None) is not None
            for _ in self._rec.engine.finish_work_in_steps():
                if self._stop.is_set():
                    break
            if not self._stop.is_set():
                busy = self._rec.engine.embed_batch() > 0 or busy
            if not self._stop.is_set():
                busy = self._rec.engine.prune_retrievals() > 0 or busy
        if not self._stop.is_set():
            self._rec.engine.back_up_if_due()
        if not self._stop.is_set() and self._rec.engine.store_is_file:  # sync is between files
            self._rec.sync.run_if_due()

    def _attempt(self, step: Callable[[], object]) -> bool:
        """Call *step*; return whether it succeeded, and record the error if not."""
        try:
            step()
        except StoreClosed:
            raise
        except RecollectError as error:
            self._record_failure(str(error))
            log.warning("background work failed: %s", error)
        except Exception as error:  # the thread's boundary: one fault must not end all later work
            self._record_failure(f"unexpected {type(error).__name__}; the log has it")
            log.exception("background work failed")
        else:
            self._failures = 0
            self._last_error = ""
            return True
        return False

    def _record_failure(self, message: str) -> None:
        self._failures += 1
        self._last_error = message
