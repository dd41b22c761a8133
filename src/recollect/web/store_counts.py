"""
The state of the store and the counts in the navigation, read at most once a second.

To count every memory of a large store takes milliseconds; every page and every open tab shows these
numbers.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from recollect.api.recollect import Recollect
from recollect.domain.maintenance import StoreStatus

MAX_AGE_S = 1.0


@dataclass(frozen=True, kw_only=True)
class NavigationCounts:
    """What waits for a person, or goes on."""

    inbox: int
    conflicts: int
    jobs: int  # that wait or run
    failed_jobs: int
    proposals: int


class StoreCounts:
    """Reads the counts of a store. *clock* returns seconds. Safe for threads."""

    def __init__(self, rec: Recollect, clock: Callable[[], float]) -> None:
        self._rec = rec
        self._clock = clock
        self._lock = threading.Lock()
        self._state: tuple[StoreStatus, NavigationCounts] | None = None
        self._read_at = 0.0

    def current(self) -> NavigationCounts:
        """Return the counts; they may be a second old."""
        return self._current()[1]

    def status(self) -> StoreStatus:
        """Return the state of the store; it may be a second old."""
        return self._current()[0]

    def _current(self) -> tuple[StoreStatus, NavigationCounts]:
        with self._lock:
            now = self._clock()
            if self._state is None or now - self._read_at > MAX_AGE_S:
                self._state, self._read_at = self._read(), now
            return self._state

    def expire(self) -> None:
        """Read the counts again for the next page: something was changed here."""
        with self._lock:
            self._state = None

    def _read(self) -> tuple[StoreStatus, NavigationCounts]:
        status = self._rec.maintenance.status()
        jobs = dict(status.jobs)
        failed = jobs.pop("parked", 0)
        jobs.pop("done", None)
        counts = NavigationCounts(
            inbox=status.memories_by_status.get("inbox", 0),
            conflicts=status.contradictions,
            jobs=sum(jobs.values()),
            failed_jobs=failed,
            proposals=len(self._rec.blocks.proposals()),
        )
        return status, counts
