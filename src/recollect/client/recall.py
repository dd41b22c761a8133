"""
Fetch memory before a model call, within a timeout.

After a failure or a timeout the memory is not asked again for a while (client/circuit_breaker.py),
so that calls in the meantime do not wait. The text is fenced as data: first the part that stays the
same from call to call, so that prompt caches keep working, then what is relevant to the query.

If many calls are made at once, the memory answers them one after the other, and some would wait too
long although it works. Calls with the same query share one answer. A query that has waited for a
while among others is answered quickly, by its words. A call whose turn does not come in time gets
the briefing instead: what is known about the user and the project, whatever is asked. It is fetched
once for all of them, when the first call has waited for half of its time.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from recollect.calling_client import LEARNING, use_client
from recollect.client.circuit_breaker import CircuitBreaker
from recollect.client.current_session import no_session
from recollect.client.remote import RemoteRecollect
from recollect.errors import InvalidInput, RecollectError, ServerUnavailable
from recollect.text.fence import INTRODUCTION, fence_bundle

MAX_VISIBLE_TEXTS = 40  # texts of the caller's own prompt that need not be recalled
MAX_VISIBLE_CHARS = 4_000
MAX_QUERY_CHARS = 4_000
MAX_PARALLEL = 8  # more queries wait, within their timeout
QUICK_SHARE = 0.125  # of the timeout; a query that waited longer is answered by its words
QUICK_MESSAGES = 6  # in such an answer
BRIEFING_AGE_S = 30.0  # for which a briefing is used again
_BRIEFING_FIELDS = ("agent", "project", "repo", "session", "budget_tokens", "form")

QueryKey = tuple[str, tuple[str, ...]]


class MemoryBusy(ServerUnavailable):
    """The memory works, but answers others first."""


class MemoryRecall:
    """Fetches the context of one agent within a timeout."""

    def __init__(
        self,
        memory: Any,
        arguments: Mapping[str, Any],
        *,
        timeout_s: float,
        breaker: CircuitBreaker,
        warn: Callable[[str], None],
    ) -> None:
        self._memory = with_timeout(memory, timeout_s)
        self._arguments = arguments
        self._timeout_s = timeout_s
        self._breaker = breaker
        self._warn = warn
        self._lock = threading.Lock()
        self._answered_at = float("-inf")  # when the memory last answered, monotonic
        self._running: dict[QueryKey, Future[Any]] = {}
        self._briefing: Future[str] | None = None
        self._briefing_at = float("-inf")
        self._pool = ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="recollect-recall")
        # Of its own, because the other one is busy when a briefing is needed.
        self._briefing_pool = ThreadPoolExecutor(1, thread_name_prefix="recollect-briefing")

    def memory_text(self, query: str, visible: Sequence[str], *, asked_at: float) -> str:
        """
        Return the text to inject for *query*; '' if there is none or the memory failed.

        The timeout begins at *asked_at*, a monotonic time.
        """
        if not query.strip() or self._breaker.is_paused:
            return ""
        short = [text for text in visible if len(text) <= MAX_VISIBLE_CHARS][-MAX_VISIBLE_TEXTS:]
        try:
            bundle = self._context_for((_shorten(query), tuple(short)), asked_at)
        except MemoryBusy:
            return self._briefing_text()
        except RecollectError as error:
            self._warn(f"calls continue without memory for now: {error}")
            if not isinstance(error, InvalidInput):  # that is caused by the query
                self._breaker.pause()
            return ""
        self._breaker.resume()
        return render_bundle(bundle.prefix, bundle.text)

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._briefing_pool.shutdown(wait=False, cancel_futures=True)

    def _context_for(self, key: QueryKey, asked_at: float) -> Any:
        future = self._start(key, asked_at)
        try:
            return future.result(_seconds_until(asked_at + self._timeout_s / 2))
        except FutureTimeout:
            self._start_briefing()
        except CancelledError:
            raise MemoryBusy("another call gave this query up") from None
        try:
            return future.result(_seconds_until(asked_at + self._timeout_s))
        except (FutureTimeout, CancelledError):
            future.cancel()  # if it has not begun, nobody waits for it much longer
            if self._answered_at > asked_at:
                raise MemoryBusy(f"memory was busy for {self._timeout_s:g} s") from None
            raise ServerUnavailable(f"memory took longer than {self._timeout_s:g} s") from None

    def _start(self, key: QueryKey, asked_at: float) -> "Future[Any]":
        """Return the answer to a query that is being fetched; others wait for the same one."""
        with self._lock, no_session():
            future = self._running.get(key)
            if future is None or future.cancelled():
                future = self._running[key] = self._pool.submit(self._ask, key, asked_at)
                future.add_done_callback(lambda _: self._running.pop(key, None))
        return future

    def _ask(self, key: QueryKey, asked_at: float) -> Any:
        query, visible = key
        arguments = {**self._arguments, "visible_texts": list(visible)}
        with self._lock:
            is_alone = len(self._running) == 1
        if not is_alone and time.monotonic() > asked_at + QUICK_SHARE * self._timeout_s:
            arguments |= {"quick": True, "message_limit": QUICK_MESSAGES}
        with use_client(LEARNING):
            bundle = self._memory.context_for(query, **arguments)
        self._answered_at = time.monotonic()
        return bundle

    def _start_briefing(self) -> None:
        with self._lock, no_session():
            if time.monotonic() - self._briefing_at > BRIEFING_AGE_S:
                self._briefing_at = time.monotonic()
                self._briefing = self._briefing_pool.submit(self._fetch_briefing)

    def _fetch_briefing(self) -> str:
        arguments = {name: self._arguments.get(name) for name in _BRIEFING_FIELDS}
        fields = {name: value for name, value in arguments.items() if value is not None}
        with use_client(LEARNING):
            bundle = self._memory.briefing(**fields)
        return render_bundle(bundle.prefix, bundle.text)

    def _briefing_text(self) -> str:
        """Return the briefing if it has arrived; a call whose timeout has passed does not wait."""
        briefing = self._briefing
        if briefing is None or not briefing.done() or briefing.cancelled():
            return ""
        return "" if briefing.exception() is not None else briefing.result()


def with_timeout(memory: Any, timeout_s: float) -> Any:
    """Return *memory* with a timeout per request; a local store is returned as it is."""
    return memory.within(timeout_s) if isinstance(memory, RemoteRecollect) else memory


def _seconds_until(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0.0)


def _shorten(query: str) -> str:
    """Return the query; if it is too long, its beginning and its end."""
    if len(query) <= MAX_QUERY_CHARS:
        return query
    half = MAX_QUERY_CHARS // 2
    return f"{query[:half]}\n{query[-half:]}"


def render_bundle(prefix: str, text: str) -> str:
    """Return a context bundle as it is injected into a prompt; '' if it is empty."""
    fenced, _ = fence_bundle(prefix, text)
    return f"{INTRODUCTION}\n\n{fenced}" if fenced else ""
