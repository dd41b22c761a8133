"""
The outbox of a `learning()` session: a bounded queue of exchanges and the thread that stores them.

`put` takes microseconds and never fails. The thread parses the recorded bytes, stores the messages
in order and in batches, and retries while the memory is unavailable. When the outbox closes, the
thread stores the remaining messages and ends the conversation, which queues it for learning. A
deadline limits how long the caller waits for that; in an outage only the first block waits.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

from recollect.calling_client import LEARNING, use_client
from recollect.client.circuit_breaker import CircuitBreaker
from recollect.client.connection import is_transient, use_idempotency_key
from recollect.client.current_session import no_session
from recollect.client.remote import RemoteRecollect
from recollect.client.suppress_errors import SuppressErrors, log
from recollect.clock import SystemClock
from recollect.errors import AlreadyAccepted, InvalidInput, NotFound, RecollectError

MAX_TURNS = 1_000
MAX_BYTES = 64_000_000
BATCH_TURNS = 50
BATCH_BYTES = 4_000_000
GIVE_UP_S = 30.0  # after the deadline at the end of a block
MAX_CLOSED = 200  # outboxes of ended blocks that still wait for the memory, in this process
MAX_CONVERSATION_STARTS = 3  # if the conversation is deleted meanwhile
RETRY_DELAYS_S = (0.2, 0.5, 1.0, 2.0, 5.0)  # the last one repeats

StoredMessage = Mapping[str, Any]
Turn = Callable[[], Sequence[StoredMessage]]  # parses the exchange, in the thread of the outbox


class Outbox:
    """The messages of one session, stored in order in one conversation."""

    def __init__(
        self,
        memory: Any,
        scope: Mapping[str, Any],
        *,
        breaker: CircuitBreaker,
        warn: Callable[[str], None],
        warn_outage: Callable[[str], None],
        on_close: Callable[[], None],
    ) -> None:
        self._memory = memory
        self._scope = scope
        self._breaker = breaker
        self._warn = warn
        self._warn_outage = warn_outage
        self._on_close = on_close
        self._turns: deque[tuple[Turn, int]] = deque()
        self._bytes = 0
        self._conversation: Any = None
        self._closing = False
        self._changed = threading.Condition()
        self._hurry = threading.Event()
        self._done = threading.Event()
        self._give_up_at: float | None = None
        self._thread: threading.Thread | None = None

    def put(self, turn: Turn, size: int) -> None:
        """Queue one turn of about *size* bytes; drop it with a warning if the queue is full."""
        with self._changed:
            if self._closing:
                return
            if len(self._turns) >= MAX_TURNS or self._bytes + size > MAX_BYTES:
                self._warn("the queue of messages to store is full; a message was not recorded")
                return
            self._turns.append((turn, size))
            self._bytes += size
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="recollect-outbox", daemon=True)
                self._thread = thread
                with no_session():
                    thread.start()
            self._changed.notify()

    def close(self, deadline_s: float) -> None:
        """Store the remaining turns and end the conversation; wait at most until the deadline."""
        with self._changed:
            started = self._thread is not None
            may_wait = started and self._breaker.claim_flush()
            wait_s = deadline_s if may_wait else 0.0
            give_up_s = GIVE_UP_S if may_wait or _closed.has_room() else 0.0
            self._closing = True
            self._give_up_at = time.monotonic() + wait_s + give_up_s
            self._changed.notify()
        self._hurry.set()
        if not started:
            self._on_close()
        elif not self._done.wait(wait_s):
            _closed.add(self._done)
            self._breaker.begin_outage(is_gone=True)
            self._warn_outage(
                f"the conversation is not stored yet after {wait_s:g} s; it will be "
                "stored if the memory becomes available before this program ends"
            )

    def _run(self) -> None:
        # An error here must not block the end of the `learning()` block.
        with SuppressErrors(self._warn, "messages are no longer recorded"), no_session():
            self._store_turns()
        self._on_close()
        self._done.set()

    def _store_turns(self) -> None:
        while (batch := self._next_batch()) is not None:
            turns, size = batch
            messages = [message for turn in turns for message in self._parse(turn)]
            if messages:
                self._store(messages)
                self._embed()
            with self._changed:
                self._bytes -= size  # in memory until now
        if self._conversation is not None:
            self._retry(lambda: self._memory.conversations.end(self._conversation, capture=True))

    def _next_batch(self) -> tuple[list[Turn], int] | None:
        """Wait for turns and return a batch of them with its size; None after the last one."""
        with self._changed:
            self._changed.wait_for(lambda: self._turns or self._closing)
            if not self._turns:
                return None
            batch: list[Turn] = []
            total = 0
            while self._turns and len(batch) < BATCH_TURNS and total < BATCH_BYTES:
                turn, size = self._turns.popleft()
                batch.append(turn)
                total += size
        return batch, total

    def _parse(self, turn: Turn) -> Sequence[StoredMessage]:
        with SuppressErrors(self._warn, "an exchange could not be parsed and is not recorded"):
            return turn()
        return ()

    def _store(self, messages: Sequence[StoredMessage]) -> None:
        if self._try_append(messages) or len(messages) == 1:
            return
        for message in messages:
            # One of them was refused. Store the others.
            self._try_append([message])

    def _try_append(self, messages: Sequence[StoredMessage]) -> bool:
        for _ in range(MAX_CONVERSATION_STARTS):
            if self._conversation is None and not self._retry(self._start):
                return False
            if self._conversation is None:
                continue  # it was started, but the response with its id was lost
            if self._retry(partial(self._append, self._conversation, messages)):
                return True
            if self._conversation is not None:
                return False
        return False

    def _embed(self) -> None:
        """Embed new messages in a local store, so that the next search does not wait for it."""
        if isinstance(self._memory, RemoteRecollect):
            return  # the server embeds in the background
        try:
            self._memory.engine.embed_batch()
        except RecollectError:
            log.debug("new messages could not be embedded", exc_info=True)

    def _start(self) -> None:
        self._conversation = self._memory.conversations.start(**self._scope)

    def _append(self, conversation: Any, messages: Sequence[StoredMessage]) -> None:
        try:
            self._memory.conversations.append_many(conversation, messages)
        except NotFound:
            self._conversation = None  # it was deleted; continue in a new one
            raise

    def _retry(self, work: Callable[[], Any]) -> bool:
        """Do *work*, and retry while the memory is unavailable; return whether it was done."""
        key = _CLOCK.new_id()  # the same for all attempts, so that it is carried out once
        delays = self._wait_between_attempts()
        while self._give_up_at is None or time.monotonic() <= self._give_up_at:
            try:
                with use_idempotency_key(key), use_client(LEARNING):
                    work()
                self._breaker.end_outage()
                return True
            except AlreadyAccepted:
                return True
            except RecollectError as error:
                if not is_transient(error):
                    is_own_fault = isinstance(error, InvalidInput | NotFound)
                    warn = self._warn if is_own_fault else self._warn_outage
                    warn(f"a message is not recorded: {error}")
                    return False
                self._breaker.begin_outage()
                self._warn_outage(f"messages cannot be stored now, retrying: {error}")
                next(delays)
        self._warn_outage("messages are not stored: the memory did not become available")
        return False

    def _wait_between_attempts(self) -> Iterator[None]:
        """Wait longer before each attempt; when the block ends, retry at once and start again."""
        for delay_s in _growing_delays():
            if self._hurry.wait(delay_s):
                break
            yield
        yield
        for delay_s in _growing_delays():
            time.sleep(delay_s)
            yield


class _ClosedOutboxes:
    """Outboxes of ended blocks that still wait. Each has a thread, so their number is limited."""

    def __init__(self) -> None:
        self._waiting: list[threading.Event] = []

    def has_room(self) -> bool:
        """Return whether one more outbox may wait."""
        self._waiting = [done for done in self._waiting if not done.is_set()]
        return len(self._waiting) < MAX_CLOSED

    def add(self, done: threading.Event) -> None:
        """Count an outbox until it is *done*."""
        self._waiting.append(done)


_closed = _ClosedOutboxes()


def _growing_delays() -> Iterator[float]:
    return chain(RETRY_DELAYS_S, repeat(RETRY_DELAYS_S[-1]))


_CLOCK = SystemClock()
