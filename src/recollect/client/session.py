"""
One block of `learning()`: whose memory, and what is open in it.

A session recalls before each call, overhears the answer, and hands what was said to its outbox. It
never raises into a call: whatever goes wrong here is one warning in the log, and no memory.
"""

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from recollect.client.guard import Guarded, log
from recollect.client.intercept.call import Outgoing, Overheard, outgoing, rewritten
from recollect.client.intercept.sight import in_sight
from recollect.client.intercept.tee import teed
from recollect.client.outbox import Outbox
from recollect.client.recall import Recall
from recollect.errors import InvalidInput

LONGEST_S = 3_600.0


@dataclass(frozen=True)
class Wish:
    """How a session remembers."""

    agent: str
    capture_only: bool
    budget_tokens: int
    timeout_s: float
    flush_s: float
    places: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name, least in (("timeout_s", 0.001), ("flush_s", 0.0)):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidInput(f"{name} must be a number of seconds, not {value!r}")
            if not least <= value <= LONGEST_S:
                raise InvalidInput(
                    f"{name} must be {least:g} to {LONGEST_S:g} seconds, not {value}"
                )


class Session:
    """An open block."""

    def __init__(
        self, memory: Any, wish: Wish, outer: "Session | None", *, at_the_end: Callable[[], None]
    ) -> None:
        self._left = False
        self._pid = os.getpid()
        self.outer = outer
        self._wish = wish
        self._warned = False
        self._lock = threading.Lock()
        self._open_answers: set[Overheard] = set()
        where = {"agent": wish.agent, **wish.places}
        self._outbox = Outbox(memory, where, warn=self.warn, at_the_end=at_the_end)
        self._recall = (
            None
            if wish.capture_only
            else Recall(
                memory,
                {
                    **where,
                    "budget_tokens": wish.budget_tokens,
                    "form": "markdown",
                    "metadata": False,
                },
                timeout_s=wish.timeout_s,
                warn=self.warn,
            )
        )

    @property
    def is_open(self) -> bool:
        """Whether the block goes on. In a forked process it does not: its threads stayed behind."""
        return not self._left and self._pid == os.getpid()

    def leave(self) -> None:
        """Take no more calls; the block is over."""
        self._left = True

    @property
    def recalls(self) -> bool:
        """Whether calls are given memory, not only overheard."""
        return self._recall is not None

    def understood(self, request: Any) -> Outgoing | None:
        """Return *request* as a call to a language model, or None where it is none."""
        with self._guarded():
            return outgoing(request)
        return None

    def told(self, asked: Outgoing, request: Any) -> Any:
        """Return *request* with what memory has to say to it."""
        if self._recall is None:
            return request
        with self._guarded():
            text = self._recall.text(asked.dialect.asked(asked.body), in_sight(asked.body))
            return rewritten(request, asked.with_memory(text)) if text else request
        return request

    def overhear(self, asked: Outgoing, http: ModuleType, response: Any) -> None:
        """Listen to the answer, without touching what the caller gets."""
        with self._guarded():
            if not response.is_success:
                return
            heard = Overheard(asked, response, self._remember)
            if response.is_stream_consumed:
                heard.hear_all(response.content)
                return
            with self._lock:
                self._open_answers.add(heard)
            response.stream = teed(http, response.stream, self._listening(heard))

    def close(self) -> None:
        """Remember what was said, and be done."""
        if self._pid != os.getpid():
            return
        with self._lock:
            unfinished = list(self._open_answers)
        for heard in unfinished:
            heard.end()  # what was read of it so far was said
        if self._recall is not None:
            self._recall.close()
        self._outbox.close(self._wish.flush_s)

    def warn(self, what: str) -> None:
        """Say once per session what goes wrong; the rest is for whoever debugs."""
        with self._lock:
            first, self._warned = not self._warned, True
        log.log(logging.WARNING if first else logging.DEBUG, "%s: %s", self._wish.agent, what)

    def _listening(self, heard: Overheard) -> Any:
        def listen(piece: bytes | None) -> None:
            with self._guarded():
                heard.end() if piece is None else heard.hear(piece)

        return listen

    def _remember(self, heard: Overheard) -> None:
        with self._lock:
            self._open_answers.discard(heard)
        self._outbox.put(heard.sayings, heard.size)

    def _guarded(self) -> Guarded:
        return Guarded(self.warn, "a call goes without memory")
