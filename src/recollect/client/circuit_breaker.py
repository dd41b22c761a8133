"""
Remember for the whole process which memory is unavailable, so that only the first call waits.

Theory of operation. Each server URL or store file has one circuit breaker, shared by all
`learning()` blocks. It tracks two things, because a memory may store and not answer:

pause   after a failed entry or query the memory is not asked for 1, 2, 4, … 30 s; the first block
        or call after that asks again.
outage  from the first failed write until the next one that succeeds. In an outage one block waits
        for its messages to be stored, and one warning is logged; later blocks wait for nothing.
"""

import os
import threading
import time

FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0


class CircuitBreaker:
    """The circuit breaker of one memory. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paused_until = 0.0
        self._pause_s = 0.0  # the last one; 0 after a success
        self._outage = False
        self._has_flushed = False
        self._has_warned = False

    @property
    def is_paused(self) -> bool:
        """Whether the memory should not be asked now."""
        return time.monotonic() < self._paused_until

    @property
    def is_healthy(self) -> bool:
        """Whether nothing has failed since the last success."""
        return not self._outage and not self._pause_s

    def pause(self) -> None:
        """Stop asking the memory for a while, because it failed to answer."""
        with self._lock:
            now = time.monotonic()
            if now < self._paused_until:
                return  # a parallel call failed before
            self._pause_s = min(2 * self._pause_s or FIRST_PAUSE_S, MAX_PAUSE_S)
            self._paused_until = now + self._pause_s

    def resume(self) -> None:
        """Ask the memory again without delay, because it answered."""
        with self._lock:
            self._paused_until = self._pause_s = 0.0

    def begin_outage(self, *, is_gone: bool = False) -> None:
        """Record that nothing can be stored; if the memory *is_gone*, no block waits for it."""
        with self._lock:
            self._outage = True
            self._has_flushed = self._has_flushed or is_gone

    def end_outage(self) -> None:
        """Record that something was stored."""
        with self._lock:
            self._outage = self._has_flushed = self._has_warned = False

    def claim_flush(self) -> bool:
        """Return whether the end of a block may wait: always if all is well, else once."""
        with self._lock:
            if not self._outage:
                return True
            first, self._has_flushed = not self._has_flushed, True
            return first

    def claim_warning(self) -> bool:
        """Return whether a failure may be logged as a warning: the first of an outage."""
        with self._lock:
            first, self._has_warned = not self._has_warned, True
            return first


_breakers: dict[str, CircuitBreaker] = {}
_lock = threading.Lock()


def breaker_of(key: str) -> CircuitBreaker:
    """Return the circuit breaker of a server URL or a store file."""
    with _lock:
        return _breakers.setdefault(key, CircuitBreaker())


def reset_breakers() -> None:
    """Forget everything; a forked process does so, because its parent may have held a lock."""
    global _lock
    _lock = threading.Lock()
    _breakers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reset_breakers)
