"""
Limit how often the same message is logged.

A client that sends garbage, or a limit of the operating system, can cause thousands of warnings a
second. The first few of each kind are logged, then one line a minute that counts the others.
"""

import logging
import time
from collections.abc import Callable

MAX_REPEATS = 5  # per period
PERIOD_S = 60.0
MAX_KINDS = 500
KEY_CHARS = 80


class RepeatedLogFilter(logging.Filter):
    """A filter for warnings and errors; what is less important passes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._periods: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether *record* is logged; add how many like it were not."""
        if record.levelno < logging.WARNING:
            return True
        now = self._clock()
        key = (record.name, record.levelno, str(record.msg)[:KEY_CHARS])
        began_at, count = self._periods.pop(key, (now, 0))
        if now - began_at >= PERIOD_S:
            if (omitted := count - MAX_REPEATS) > 0:
                record.msg = f"{record.getMessage()} (and {omitted} more like it since the last)"
                record.args = ()
            began_at, count = now, 0
        self._periods[key] = (began_at, count + 1)
        if len(self._periods) > MAX_KINDS:
            del self._periods[next(iter(self._periods))]  # the one that was not seen for longest
        return count < MAX_REPEATS
