"""
Idempotency keys: a write that is sent twice with the same `Idempotency-Key` is carried out once.

The store saves the keys, so this holds across restarts. Responses are cached here, in memory: a
client that retries because the first response was lost gets the same response. If the first request
is still running, the second waits for it.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Annotated, Any

from fastapi import Header, Request, Response

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.fingerprint import sha256_hex

MAX_KEY_LENGTH = 200
IdempotencyKey = Annotated[str | None, Header(max_length=MAX_KEY_LENGTH)]

MAX_CACHED_BYTES = 16_000_000  # total size of the cached responses
WAIT_S = 60.0


class IdempotentResponses:
    """The cached responses to writes with an idempotency key, and the writes in progress."""

    def __init__(self, rec: LocalRecollect) -> None:
        self._memory = rec
        self._lock = threading.Lock()
        self._in_progress: dict[str, threading.Event] = {}
        self._cache: OrderedDict[str, tuple[tuple[str, Hashable], bytes]] = OrderedDict()
        self._cached_bytes = 0

    def respond(
        self, key: str, request: Request, values: Mapping[str, Any], run: Callable[[], Response]
    ) -> Response:
        """Return the response of *run*, or the earlier response to the same key."""
        if not key.strip() or len(request.headers.getlist("idempotency-key")) > 1:
            raise InvalidInput("send one Idempotency-Key that is not empty, or none")
        if len(key) > MAX_KEY_LENGTH:
            raise InvalidInput(f"an Idempotency-Key has at most {MAX_KEY_LENGTH} characters")
        content = [request.method, request.url.path, values]
        fingerprint = sha256_hex(json.dumps(content, sort_keys=True, default=str))
        first_done = self._begin(key)
        if first_done is None:
            try:
                seen = self._memory.engine.replay_condition()
                response = self._memory.engine.run_once(key, fingerprint, run)
                if request.method == "DELETE":
                    self.clear()
                    seen = self._memory.engine.replay_condition()
                self._store(key, (fingerprint, seen), bytes(response.body))
                return response
            finally:
                with self._lock:
                    self._in_progress.pop(key).set()
        first_done.wait(WAIT_S)
        return self._replay(key, fingerprint, run)

    def for_request(self, key: str | None, values: Mapping[str, Any]) -> "KeyedRequest":
        """Bind *key* and *values*, so that a handler can respond later."""
        return KeyedRequest(self, key, values)

    def clear(self) -> None:
        """Drop all responses, because they may quote an item that was deleted."""
        self._memory.engine.record_deletion()
        with self._lock:
            self._cache.clear()
            self._cached_bytes = 0

    def _begin(self, key: str) -> threading.Event | None:
        """Return None for the first request, otherwise the event that the first one is done."""
        with self._lock:
            if key in self._cache:
                done = threading.Event()
                done.set()
                return done
            if key in self._in_progress:
                return self._in_progress[key]
            self._in_progress[key] = threading.Event()
            return None

    def _replay(self, key: str, fingerprint: str, run: Callable[[], Response]) -> Response:
        with self._lock:
            cached = self._cache.get(key)
        now = (fingerprint, self._memory.engine.replay_condition())
        if cached is not None and cached[0] == now:
            headers = {"idempotent-replay": "true"}
            return Response(cached[1], media_type="application/json", headers=headers)
        # The first request failed, or was a different one, or may be answered differently now. The
        # store knows which.
        response: Response = self._memory.engine.run_once(key, fingerprint, run)
        return response

    def _store(self, key: str, valid_for: tuple[str, Hashable], body: bytes) -> None:
        with self._lock:
            self._cache[key] = (valid_for, body)
            self._cached_bytes += len(body)
            while self._cached_bytes > MAX_CACHED_BYTES:
                _, (_, oldest) = self._cache.popitem(last=False)
                self._cached_bytes -= len(oldest)


@dataclass(frozen=True)
class KeyedRequest:
    """A request that may have an idempotency key; with one it is carried out once."""

    responses: IdempotentResponses
    key: str | None
    values: Mapping[str, Any]

    def respond(self, request: Request, body: str, run: Callable[[], Response]) -> Response:
        """Return the response of *run*; *body* identifies the rest of the request."""
        if self.key is None:
            return run()
        return self.responses.respond(self.key, request, {**self.values, "": body}, run)
