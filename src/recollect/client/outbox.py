"""
What was said, on its way to memory: a bounded queue with one thread behind it.

The caller only ever puts something in, which takes microseconds and never fails. The thread reads
what passed over the wire, stores it in order and in batches, and tries again while the memory
cannot be reached. When the outbox closes it stores what is left and ends the conversation, which
hands it over for learning; a deadline keeps the caller from waiting for a memory that is gone.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any

from recollect.client import current
from recollect.client.connection import is_passing, keyed
from recollect.client.guard import Guarded, log
from recollect.client.remote import Remote
from recollect.clock import SystemClock
from recollect.errors import AlreadyAccepted, NotFound, RecollectError

MOST_TURNS = 1_000
MOST_BYTES = 64_000_000
BATCH_TURNS = 50
BATCH_BYTES = 4_000_000
GIVE_UP_S = 30.0  # after the deadline at the end of a block
BEGINNINGS = 3  # of a conversation that a memory lost
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
        self._hurried = threading.Event()
        self._done = threading.Event()
        self._give_up_at: float | None = None
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
            self._give_up_at = time.monotonic() + deadline_s + GIVE_UP_S
            self._changed.notify()
            started = self._thread is not None
        self._hurried.set()
        if not started:
            self._at_the_end()
        elif not self._done.wait(deadline_s):
            self._warn(
                f"what was said is not stored yet after {deadline_s:g} s; "
                "it will be if the memory answers before this program ends"
            )

    def _run(self) -> None:
        # A fault must not hold up the end of the block.
        with Guarded(self._warn, "what is said is not remembered any more"), current.outside():
            self._work_off()
        self._at_the_end()
        self._done.set()

    def _work_off(self) -> None:
        while (taken := self._next_turns()) is not None:
            turns, size = taken
            batch = [saying for turn in turns for saying in self._read(turn)]
            if batch:
                self._store(batch)
                self._embed()
            with self._changed:
                self._bytes -= size  # held until now
        if self._conversation is not None:
            self._insist(lambda: self._memory.end_conversation(self._conversation, capture=True))

    def _next_turns(self) -> tuple[list[Turn], int] | None:
        """Return turns that wait, and their size; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._turns or self._closing)
            if not self._turns:
                return None
            taken: list[Turn] = []
            total = 0
            while self._turns and len(taken) < BATCH_TURNS and total < BATCH_BYTES:
                turn, size = self._turns.popleft()
                taken.append(turn)
                total += size
        return taken, total

    def _read(self, turn: Turn) -> Sequence[Saying]:
        with Guarded(self._warn, "a turn could not be read and is not remembered"):
            return turn()
        return ()

    def _store(self, batch: Sequence[Saying]) -> None:
        if self._appended(batch) or len(batch) == 1:
            return
        for saying in batch:
            # One of them was refused; the others are not to blame.
            self._appended([saying])

    def _appended(self, batch: Sequence[Saying]) -> bool:
        for _ in range(BEGINNINGS):
            if self._conversation is None and not self._insist(self._start):
                return False
            if self._conversation is None:
                continue  # it was begun, but nobody knows as which one
            if self._insist(partial(self._append, self._conversation, batch)):
                return True
            if self._conversation is not None:
                return False
        return False

    def _embed(self) -> None:
        """Let an open memory embed what is new, or the next question would wait for that."""
        if isinstance(self._memory, Remote):
            return  # a server does so by itself
        try:
            self._memory.embed_some()
        except RecollectError:
            log.debug("what is new could not be embedded", exc_info=True)

    def _start(self) -> None:
        self._conversation = self._memory.start_conversation(**self._where)

    def _append(self, conversation: Any, batch: Sequence[Saying]) -> None:
        try:
            self._memory.append_messages(conversation, batch)
        except NotFound:
            self._conversation = None  # the memory lost it; what is said goes on in another
            raise

    def _insist(self, work: Callable[[], Any]) -> bool:
        """Do *work*, again while the memory cannot be reached; say whether it was done."""
        key = _CLOCK.new_id()  # one key however often it is sent: it is carried out once
        pauses = self._pauses()
        while not self._given_up():
            try:
                with keyed(key):
                    work()
                return True
            except AlreadyAccepted:
                return True
            except RecollectError as error:
                if not is_passing(error):
                    self._warn(f"something said is not remembered: {error}")
                    return False
                self._warn(f"what is said cannot be stored now: {error}")
                next(pauses)
        self._warn("what was said is not stored: the memory did not come back")
        return False

    def _pauses(self) -> Iterator[None]:
        """Wait longer each time; the end of the block is a reason to try at once, then soon."""
        for pause_s in _growing():
            if self._hurried.wait(pause_s):
                break
            yield
        yield
        for pause_s in _growing():
            time.sleep(pause_s)
            yield

    def _given_up(self) -> bool:
        return self._give_up_at is not None and time.monotonic() > self._give_up_at


def _growing() -> Iterator[float]:
    return chain(PAUSES_S, repeat(PAUSES_S[-1]))


_CLOCK = SystemClock()
