"""
Idempotency keys: a write sent twice with the same `Idempotency-Key` is carried out once.

The store keeps the keys, so that this holds across restarts. Answers are kept here, in memory, for
a while: whoever sends again because the first answer was lost gets that same answer. While the
first is still under way, the second waits for it.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header, Request, Response

from recollect.app import Recollect
from recollect.errors import InvalidInput
from recollect.text.fingerprint import sha256_hex

Key = Annotated[str | None, Header(max_length=200)]

MOST_BYTES = 16_000_000  # of answers kept
WAIT_S = 60.0


class Once:
    """The answers to keyed writes of one server."""

    def __init__(self, memory: Recollect) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.Event] = {}
        self._kept: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._size = 0

    def answer(
        self, key: str, request: Request, values: Mapping[str, Any], run: Callable[[], Response]
    ) -> Response:
        """Return the answer of *run*, or the one that was given to this key before."""
        if not key.strip() or len(request.headers.getlist("idempotency-key")) > 1:
            raise InvalidInput("a request has one Idempotency-Key; leave it out or make one up")
        asked = json.dumps([request.method, request.url.path, values], sort_keys=True, default=str)
        fingerprint = sha256_hex(asked)
        first = self._begin(key)
        if first is None:
            try:
                response = self._memory.once(key, fingerprint, run)
                if request.method == "DELETE":
                    self.forget()
                self._keep(key, fingerprint, bytes(response.body))
                return response
            finally:
                self._end(key)
        first.wait(WAIT_S)
        return self._again(key, fingerprint, run)

    def given(self, key: str | None, values: Mapping[str, Any]) -> "Keyed":
        """Return how a request with or without a *key* is answered."""
        return Keyed(self, key, values)

    def forget(self) -> None:
        """Keep no answers: something was deleted, and they may quote it."""
        with self._lock:
            self._kept.clear()
            self._size = 0

    def _begin(self, key: str) -> threading.Event | None:
        """Return None for whoever comes first, otherwise what tells that the first is done."""
        with self._lock:
            if key in self._kept:
                done = threading.Event()
                done.set()
                return done
            if key in self._under_way:
                return self._under_way[key]
            self._under_way[key] = threading.Event()
            return None

    def _end(self, key: str) -> None:
        with self._lock:
            self._under_way.pop(key).set()

    def _again(self, key: str, fingerprint: str, run: Callable[[], Response]) -> Response:
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0] == fingerprint:
            return Response(
                kept[1], media_type="application/json", headers={"idempotent-replay": "true"}
            )
        # The first failed and left no trace, or was another request: the store knows which.
        response: Response = self._memory.once(key, fingerprint, run)
        return response

    def _keep(self, key: str, fingerprint: str, body: bytes) -> None:
        with self._lock:
            self._kept[key] = (fingerprint, body)
            self._size += len(body)
            while self._size > MOST_BYTES:
                _, (_, oldest) = self._kept.popitem(last=False)
                self._size -= len(oldest)


@dataclass(frozen=True)
class Keyed:
    """A request that may carry a key: with one it is carried out once."""

    once: Once
    key: str | None
    values: Mapping[str, Any]

    def answer(self, request: Request, asked: str, run: Callable[[], Response]) -> Response:
        """Return the answer of *run*; *asked* tells what else was asked, beside the values."""
        if self.key is None:
            return run()
        return self.once.answer(self.key, request, {**self.values, "": asked}, run)
