"""
The worker inside a server: one thread that works off jobs, embeds what waits and prunes the log.

It looks about once a second, and at once after `wake`. It does one job, embeds one batch, removes
one of old retrievals, and so on, so that none waits for all of another; between any two of these it
can be stopped. What goes wrong is remembered and tried again later, ever more rarely: a busy
store or an embedder that does not answer must not end it.
"""

import logging
import threading
from collections.abc import Callable
from enum import StrEnum

from recollect.app.local import LocalRecollect
from recollect.errors import RecollectError, StoreClosed

POLL_S = 1.0
FIRST_REST_S = 1.0  # after a failure; doubled with each one more
MOST_REST_S = 30.0

log = logging.getLogger(__name__)


class BackgroundState(StrEnum):
    """What the thread does now."""

    STOPPED = "stopped"
    WARMING = "warming"  # it loads the embedder
    IDLE = "idle"
    WORKING = "working"
    RESTING = "resting"  # something failed, and it waits before it tries again


def rest_s(failures: int) -> float:
    """Return how long to wait after so many failures in a row."""
    return min(MOST_REST_S, FIRST_REST_S * 2.0 ** min(failures - 1, 10))


class Background:
    """Works for one memory from `start` to `stop`. Both may be called from any thread."""

    def __init__(self, rec: LocalRecollect, *, poll_s: float = POLL_S) -> None:
        self._memory = rec
        self._poll_s = poll_s
        self._stop = threading.Event()
        self._due = threading.Event()
        self._thread: threading.Thread | None = None
        self._doing = BackgroundState.STOPPED
        self._failures = 0
        self._last_error = ""

    @property
    def state(self) -> BackgroundState:
        """What it does now."""
        alive = self._thread is not None and self._thread.is_alive()
        return self._doing if alive else BackgroundState.STOPPED

    @property
    def last_error(self) -> str:
        """What went wrong in the last turn, '' where nothing did."""
        return self._last_error

    def start(self) -> None:
        """Start the thread; starting does not wait for the embedder."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="recollect-background", daemon=True
            )
            self._thread.start()

    def wake(self) -> None:
        """Say that something was written: the thread looks now, not at its next turn."""
        self._due.set()

    def stop(self) -> None:
        """End the thread after its present step. Stopping twice is stopping once."""
        self._stop.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._doing = BackgroundState.WARMING
            self._tried(self._warm)
            while not self._stop.is_set():
                self._due.clear()
                self._doing = BackgroundState.WORKING
                if self._tried(self._turn):
                    self._doing = BackgroundState.IDLE
                    self._due.wait(self._poll_s)
                else:
                    self._doing = BackgroundState.RESTING
                    # Not woken by writes: it would only fail again.
                    self._stop.wait(rest_s(self._failures))
        except StoreClosed:
            log.info("the store was closed; nothing is worked off any more")
        finally:
            self._doing = BackgroundState.STOPPED

    def _warm(self) -> None:
        self._memory.engine.warm_up()

    def _turn(self) -> None:
        """Work until nothing is due and nothing waits."""
        busy = True
        while busy and not self._stop.is_set():
            busy = next(self._memory.engine.run_jobs_in_steps(), None) is not None
            if not self._stop.is_set():
                busy = self._memory.engine.embed_batch() > 0 or busy
            if not self._stop.is_set():
                busy = self._memory.engine.prune_retrievals() > 0 or busy

    def _tried(self, do: Callable[[], None]) -> bool:
        """Do something; say whether it went well, and remember why not."""
        try:
            do()
        except StoreClosed:
            raise
        except RecollectError as error:
            self._failed(str(error))
            log.warning("background work failed: %s", error)
        except Exception as error:  # the thread's boundary: one fault must not end all later work
            self._failed(f"unexpected {type(error).__name__}; the log has it")
            log.exception("background work failed")
        else:
            self._failures = 0
            self._last_error = ""
            return True
        return False

    def _failed(self, told: str) -> None:
        self._failures += 1
        self._last_error = told
