"""
What memory has to say before a call, in the time a caller can spare.

A memory that answers late or not at all is left alone for a while, so that a call made meanwhile
waits for nothing. What comes back is written as data between marks: first the part that stays the
same from call to call, so that prompt caches keep working, then what this question calls for.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from typing import Any

from recollect.client import current
from recollect.client.remote import Remote
from recollect.errors import InvalidInput, RecollectError, ServerUnavailable
from recollect.text.fence import OPENING, fenced_bundle

FIRST_REST_S = 1.0
LONGEST_REST_S = 30.0
MOST_SIGHT = 40  # texts of the caller's own prompt that need not be recalled
LONGEST_SIGHT = 4_000
LONGEST_QUERY = 4_000
AT_ONCE = 8  # questions; more wait, and give up in time


class Recall:
    """Asks one memory for one agent's context, within a time."""

    def __init__(
        self,
        memory: Any,
        wanted: Mapping[str, Any],
        *,
        timeout_s: float,
        warn: Callable[[str], None],
    ) -> None:
        self._memory = within(memory, timeout_s)
        self._wanted = wanted
        self._timeout_s = timeout_s
        self._warn = warn
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="recollect-recall")
        self._lock = threading.Lock()
        self._resting_until = 0.0
        self._rest_s = FIRST_REST_S

    def text(self, query: str, in_sight: Sequence[str]) -> str:
        """Return what to tell the model for *query*; '' where there is nothing, or no time."""
        if not query.strip() or time.monotonic() < self._resting_until:
            return ""
        seen = [one for one in in_sight if len(one) <= LONGEST_SIGHT][-MOST_SIGHT:]
        try:
            bundle = self._asked(_cut(query), {**self._wanted, "in_sight": seen})
        except RecollectError as error:
            self._failed(error)
            return ""
        self._rest_s = FIRST_REST_S
        return written(bundle.prefix, bundle.text)

    def close(self) -> None:
        """Let go of what was needed to ask."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _asked(self, query: str, wanted: Mapping[str, Any]) -> Any:
        with current.outside():
            answer = self._pool.submit(self._memory.context_for, query, **wanted)
        try:
            return answer.result(self._timeout_s)
        except Late:
            answer.cancel()
            raise ServerUnavailable(f"memory took longer than {self._timeout_s:g} s") from None

    def _failed(self, error: RecollectError) -> None:
        self._warn(f"calls go without memory for now: {error}")
        if isinstance(error, InvalidInput):
            return  # it was this question's fault
        with self._lock:
            now = time.monotonic()
            if now < self._resting_until:
                return  # several calls met the same trouble
            self._resting_until = now + self._rest_s
            self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)


def within(memory: Any, timeout_s: float) -> Any:
    """Return *memory* for somebody in a hurry; one that is open here needs no network."""
    return memory.within(timeout_s) if isinstance(memory, Remote) else memory


def _cut(query: str) -> str:
    """Return a question short enough to ask: of a long one its beginning and its end."""
    if len(query) <= LONGEST_QUERY:
        return query
    half = LONGEST_QUERY // 2
    return f"{query[:half]}\n{query[-half:]}"


def written(prefix: str, text: str) -> str:
    """Return a bundle as it is told a model; '' where it holds nothing."""
    fenced, _ = fenced_bundle(prefix, text)
    return f"{OPENING}\n\n{fenced}" if fenced else ""
