"""
Fetch memory before a model call, within a timeout.

After a failure or a timeout the memory is not asked again for a while (client/circuit_breaker.py),
so that calls in the meantime do not wait. The text is fenced as data: first the part that stays the
same from call to call, so that prompt caches keep working, then what is relevant to the query.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
        self._pool = ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="recollect-recall")

    def memory_text(self, query: str, visible: Sequence[str]) -> str:
        """Return the text to inject for *query*; '' if there is none or the memory failed."""
        if not query.strip() or self._breaker.is_paused:
            return ""
        short = [text for text in visible if len(text) <= MAX_VISIBLE_CHARS][-MAX_VISIBLE_TEXTS:]
        try:
            bundle = self._context_for(_shorten(query), {**self._arguments, "visible_texts": short})
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

    def _context_for(self, query: str, arguments: Mapping[str, Any]) -> Any:
        with no_session():
            future = self._pool.submit(self._ask, query, arguments)
        try:
            return future.result(self._timeout_s)
        except FutureTimeout:
            future.cancel()
            raise ServerUnavailable(f"memory took longer than {self._timeout_s:g} s") from None

    def _ask(self, query: str, arguments: Mapping[str, Any]) -> Any:
        with use_client(LEARNING):
            return self._memory.context_for(query, **arguments)


def with_timeout(memory: Any, timeout_s: float) -> Any:
    """Return *memory* with a timeout per request; a local store is returned as it is."""
    return memory.within(timeout_s) if isinstance(memory, RemoteRecollect) else memory


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
