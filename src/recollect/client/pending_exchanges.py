"""
Exchanges of a `learning()` block that are not recorded yet, because an adapter may store them.

An adapter of `recollect.integrations` that keeps the history of a framework stores what was said
itself, before the model is called or after the run. It reports that with `note_stored`, and a call
whose last user message it stored is not recorded a second time.

Theory of operation. In a process without such an adapter nothing waits. In one with an adapter an
exchange waits until the adapter stores its user message, for at most `HOLD_S`; what still waits
then, or at the end of the block, is recorded: no adapter stores it. The texts that an adapter
stored are remembered for `HOLD_S` too, because later calls of the same run repeat them.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recollect.client.current_session import current_session
from recollect.client.intercept.model_call import ResponseRecorder

HOLD_S = 600.0  # a run with many steps may take so long
MAX_PENDING = 500
MAX_PENDING_BYTES = 32_000_000
MAX_NOTED = 1_000  # texts of one block


class PendingExchanges:
    """The exchanges of one block that are not recorded yet. Thread-safe."""

    def __init__(self, record: Callable[[ResponseRecorder], None]) -> None:
        self._record = record
        self._lock = threading.Lock()
        self._pending: deque[tuple[float, str, ResponseRecorder]] = deque()
        self._bytes = 0
        self._noted: dict[str, float] = {}  # texts that an adapter stored, and when; oldest first

    def add(self, exchange: ResponseRecorder) -> None:
        """Record an exchange, or keep it pending if an adapter may store it."""
        if not _adapter.is_in_use:
            self._record(exchange)
            return
        query = _normalize_lines(exchange.last_user_text())
        with self._lock:
            if not self._is_stored(query):
                self._pending.append((time.monotonic(), query, exchange))
                self._bytes += exchange.size
            surplus = self._take_surplus()
        for old in surplus:
            self._record(old)

    def note_stored(self, texts: Iterable[str]) -> None:
        """Drop pending and later exchanges with these user messages: an adapter has stored them."""
        with self._lock:
            for text in filter(None, map(_normalize_lines, texts)):
                self._note(text)
            waiting, self._pending = self._pending, deque()
            self._pending.extend(entry for entry in waiting if not self._is_stored(entry[1]))
            self._bytes = sum(exchange.size for _, _, exchange in self._pending)

    def release(self) -> None:
        """Record every pending exchange, because the block ends."""
        with self._lock:
            pending, self._pending = self._pending, deque()
        for _, _, exchange in pending:
            self._record(exchange)

    def _is_stored(self, query: str) -> bool:
        """Return whether an adapter stored this message, perhaps without some of its lines."""
        oldest = time.monotonic() - HOLD_S
        for text, noted_at in self._noted.items():
            if noted_at >= oldest and f"\n{text}\n" in f"\n{query}\n":
                self._note(text)  # the run goes on
                return True
        return False

    def _note(self, text: str) -> None:
        self._noted.pop(text, None)
        self._noted[text] = time.monotonic()
        if len(self._noted) > MAX_NOTED:
            del self._noted[next(iter(self._noted))]

    def _take_surplus(self) -> list[ResponseRecorder]:
        """Remove and return the oldest exchanges: those that waited too long, or are too many."""
        oldest = time.monotonic() - HOLD_S
        surplus = []
        while self._pending and (
            self._pending[0][0] < oldest
            or len(self._pending) > MAX_PENDING
            or self._bytes > MAX_PENDING_BYTES
        ):
            _, _, exchange = self._pending.popleft()
            self._bytes -= exchange.size
            surplus.append(exchange)
        return surplus


class _RecordingAdapter:
    """Whether this process has used an adapter that records what is said."""

    is_in_use = False


_adapter = _RecordingAdapter()


def announce_adapter() -> None:
    """Record that this process uses an adapter; `learning()` then waits for what it stores."""
    _adapter.is_in_use = True


def note_stored(drafts: Iterable[Mapping[str, Any]]) -> None:
    """Tell the `learning()` block around this code which messages an adapter has stored."""
    session = current_session()
    if session is not None:
        session.note_stored(draft["content"] for draft in drafts if draft["role"] == "user")


def _normalize_lines(text: str) -> str:
    """Return a text as it is compared: without differences of white space in and between lines."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))
