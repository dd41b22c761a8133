"""
Time named pieces of code within each request.

Pieces may be nested; the time of an inner piece is not counted for the outer one. Each thread has
its own pieces, and a request ends with its outermost piece.
"""

import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any


class SpanTimer:
    """The requests timed so far, each as ms by piece."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.requests: list[dict[str, float]] = []
        self._here = threading.local()

    def watch(self, name: str, owner: Any, attribute: str) -> None:
        """Count what `owner.attribute` takes under *name*, from now on."""
        setattr(owner, attribute, self.timed(name, getattr(owner, attribute)))

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return *work*, timed under *name*."""

        @wraps(work)
        def run(*args: Any, **named: Any) -> Any:
            inner = self._begin()
            started = self._clock()
            try:
                return work(*args, **named)
            finally:
                self._end(name, self._clock() - started, inner)

        return run

    def _begin(self) -> list[float]:
        if not getattr(self._here, "open", None):
            self._here.open, self._here.own = [], {}
        inner = [0.0]  # what the pieces inside take
        self._here.open.append(inner)
        return inner

    def _end(self, name: str, took: float, inner: list[float]) -> None:
        self._here.open.pop()
        own = self._here.own
        own[name] = own.get(name, 0.0) + 1000 * (took - inner[0])
        if self._here.open:
            self._here.open[-1][0] += took
        else:
            self.requests.append(own)
