"""
The counts in the navigation, read at most once a second: every page and every open tab shows them.
"""

import threading
from collections.abc import Callable

from recollect.api.recollect import Recollect
from recollect.domain.maintenance import PendingCounts

MAX_AGE_S = 1.0


class StoreCounts:
    """Reads the counts of a store. *clock* returns seconds. Safe for threads."""

    def __init__(self, rec: Recollect, clock: Callable[[], float]) -> None:
        self._rec = rec
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: PendingCounts | None = None
        self._read_at = 0.0

    def current(self) -> PendingCounts:
        """Return the counts; they may be a second old."""
        with self._lock:
            now = self._clock()
            if self._counts is None or now - self._read_at > MAX_AGE_S:
                self._counts, self._read_at = self._rec.maintenance.pending(), now
            return self._counts

    def expire(self) -> None:
        """Read the counts again for the next page: something was changed here."""
        with self._lock:
            self._counts = None
