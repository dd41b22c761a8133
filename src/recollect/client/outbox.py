"""
What was said, on its way to memory: a bounded queue with one thread behind it.

The caller only ever puts something in, which takes microseconds and never fails. The thread reads
what passed over the wire, stores it in order and in batches, and tries again while the memory
cannot be reached. When the outbox closes it stores what is left and ends the conversation, which
hands it over for learning; a deadline keeps the caller from waiting for a memory that is gone.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from recollect.client import current
from recollect.client.connection import keyed
from recollect.clock import SystemClock
from recollect.errors import AlreadyAccepted, InvalidInput, RecollectError

log = logging.getLogger("recollect.learning")

MOST_TURNS = 1_000
MOST_BYTES = 64_000_000
BATCH_MESSAGES = 100
PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)  # between tries; the last one again and again

Saying = Mapping[str, Any]
Turn = Callable[[], Sequence[Saying]]  # read when its turn comes, in the outbox's thread


class Outbox:
    """The messages of one session, in order, on their way to one conversation."""

    def __init__(
        self,
        memory: Any,
        where: Mapping[str, Any],
        *,
        warn: Callable[[str], None],
        at_the_end: Callable[[], None],
    ) -> None:
        self._memory = memory
        self._where = where
        self._warn = warn
        self._at_the_end = at_the_end
        self._turns: deque[tuple[Turn, int]] = deque()
        self._bytes = 0
        self._conversation: Any = None
        self._closing = False
        self._changed = threading.Condition()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, turn: Turn, size: int) -> None:
        """Queue one turn of about *size* bytes; one too many is dropped, with a warning."""
        with self._changed:
            if self._closing:
                return
            if len(self._turns) >= MOST_TURNS or self._bytes + size > MOST_BYTES:
                self._warn("more is said than memory can store; some of it will not be remembered")
                return
            self._turns.append((turn, size))
            self._bytes += size
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="recollect-outbox", daemon=True
                )
                with current.outside():
                    self._thread.start()
            self._changed.notify()

    def close(self, deadline_s: float) -> None:
        """Store what is left and end the conversation; wait for that until the deadline."""
        with self._changed:
            self._closing = True
            self._changed.notify()
            started = self._thread is not None
        if not started:
            self._at_the_end()
        elif not self._done.wait(deadline_s):
            self._warn(
                f"what was said is not stored yet after {deadline_s:g} s; "
                "it will be if the memory answers before this program ends"
            )

    def _run(self) -> None:
        with current.outside():
            while (batch := self._next_batch()) is not None:
                if batch:
                    self._store(batch)
            if self._conversation is not None:
                self._insist(
                    lambda: self._memory.end_conversation(self._conversation, capture=True)
                )
            self._at_the_end()
        self._done.set()

    def _next_batch(self) -> list[Saying] | None:
        """Return what waits, read; an empty list where nothing was said, None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._turns or self._closing)
            if not self._turns:
                return None
            taken: list[Turn] = []
            while self._turns and len(taken) < BATCH_MESSAGES // 2:
                turn, size = self._turns.popleft()
                self._bytes -= size
                taken.append(turn)
        return [saying for turn in taken for saying in self._read(turn)]

    def _read(self, turn: Turn) -> Sequence[Saying]:
        try:
            return turn()
        except Exception as error:  # whatever a vendor sent: it must not end the outbox
            log.debug("a turn could not be read", exc_info=True)
            self._warn(f"a turn could not be read and is not remembered ({error})")
            return ()

    def _store(self, batch: Sequence[Saying]) -> None:
        if self._conversation is None:
            self._insist(self._start)
            if self._conversation is None:
                return
        if self._insist(lambda: self._memory.append_messages(self._conversation, batch)):
            return
        for saying in batch if len(batch) > 1 else ():
            # One of them was refused; the others are not to blame.
            self._insist(partial(self._memory.append_messages, self._conversation, [saying]))

    def _start(self) -> None:
        self._conversation = self._memory.start_conversation(**self._where)

    def _insist(self, work: Callable[[], Any]) -> bool:
        """Do *work*, again while the memory cannot be reached; say whether it was done."""
        key = _CLOCK.new_id()  # one key however often it is sent: it is carried out once
        tries = 0
        while True:
            try:
                with keyed(key):
                    work()
                return True
            except AlreadyAccepted:
                return True
            except InvalidInput as error:
                self._warn(f"something said was refused and is not remembered: {error}")
                return False
            except RecollectError as error:
                self._warn(f"what is said cannot be stored now: {error}")
                if not _is_passing(error):
                    return False
                self._pause(PAUSES_S[min(tries, len(PAUSES_S) - 1)])
                tries += 1

    def _pause(self, pause_s: float) -> None:
        time.sleep(pause_s)


_CLOCK = SystemClock()


def _is_passing(error: RecollectError) -> bool:
    return error.status in (429, 503)
