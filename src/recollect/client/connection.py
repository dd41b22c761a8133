"""
A connection to a memory server: sends requests, returns responses or raises Recollect's errors.

Requests are retried: reads are safe to repeat, and each write has an idempotency key. A server that
does not respond raises `ServerUnavailable`; an error response raises the error that it describes.
"""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import lru_cache
from typing import Any

import httpx2

from recollect.calling_client import LIBRARY, calling_client
from recollect.clock import SystemClock
from recollect.errors import (
    AlreadyAccepted,
    InvalidInput,
    RecollectError,
    ServerUnavailable,
    StoreBusy,
    StoreClosed,
    TooManyRequests,
)
from recollect.wire.problem import error_from_problem
from recollect.wire.request import CLIENT_HEADER

ATTEMPTS = 3
FIRST_DELAY_S = 0.1
MAX_DELAY_S = 5.0
CONNECT_S = 2.0
_CLOCK = SystemClock()
_RETRIED = (ServerUnavailable, StoreBusy, TooManyRequests, AlreadyAccepted)

_KEY: ContextVar[str] = ContextVar("recollect_request_key", default="")


@contextmanager
def use_idempotency_key(key: str) -> Iterator[None]:
    """Send the write in this block with *key*, so that repeated attempts take effect once."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


class Connection:
    """A connection to one server. Thread-safe."""

    def __init__(
        self, url: str, *, token: str = "", timeout_s: float = 60.0, attempts: int = ATTEMPTS
    ) -> None:
        self.url = _validate_url(url)
        self._attempts = attempts
        self._timeout_s: float | None = None  # None: the timeout of the HTTP client
        self._http = httpx2.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            trust_env=False,  # no proxy for a server on this machine
        )

    def with_timeout(self, timeout_s: float) -> "Connection":
        """Return a copy that sends each request once, with that timeout."""
        limited = copy(self)
        limited._attempts = 1
        limited._timeout_s = timeout_s
        return limited

    def send(
        self, method: str, path: str, *, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> httpx2.Response:
        """Send a request, with retries; return the response or raise the error it describes."""
        # A request that is sent once needs no key, unless its caller sends it again.
        is_repeated = self._attempts > 1 or bool(_KEY.get())
        headers = self.idempotency_header() if method != "GET" and is_repeated else {}
        options: dict[str, Any] = {"headers": headers, "params": _without_none(query)}
        if body is not None:
            options["json"] = body
        if self._timeout_s is not None:
            options["timeout"] = self._timeout_s
        for attempt in range(1, self._attempts + 1):
            try:
                return self.send_once(method, path, **options)
            except _RETRIED as error:
                if attempt == self._attempts:
                    raise
                time.sleep(_retry_delay_s(attempt, error))
        raise AssertionError  # the last attempt returns or raises

    def idempotency_header(self) -> dict[str, str]:
        """Return the header with the idempotency key of a write."""
        return {"idempotency-key": _KEY.get() or _CLOCK.new_id()}

    def send_once(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request without retries; *options* are those of `httpx2.Client.request`."""
        name = (calling_client() or LIBRARY).encode("ascii", "replace").decode()
        options["headers"] = {CLIENT_HEADER: name, **options.get("headers", {})}
        with self._translate_errors():
            response = self._http.request(method, _absolute_url(self.url, path), **options)
        if response.is_success:
            return response
        raise _error_from_response(response, self.url)

    @contextmanager
    def stream(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, **options: Any
    ) -> Iterator[httpx2.Response]:
        """Yield a response whose body is not read yet; *options* are those of the HTTP client."""
        options["params"] = _without_none(query)
        with self._translate_errors(), self._http.stream(method, path, **options) as response:
            if not response.is_success:
                response.read()
                raise _error_from_response(response, self.url)
            yield response

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        if self._http.is_closed:
            raise StoreClosed(
                f"the connection to {self.url} was closed; open it again with recollect.connect(…)"
            )
        try:
            yield
        except httpx2.TimeoutException as error:
            raise ServerUnavailable(
                f"the memory server at {self.url} did not respond in time; it may be busy, "
                "see its log"
            ) from error
        except httpx2.InvalidURL as error:
            raise InvalidInput(f"a name in the request is too long for a URL: {error}") from error
        except httpx2.HTTPError as error:
            raise ServerUnavailable(
                f"no memory server responds at {self.url} ({error}); "
                "start it with `recollect serve --background`"
            ) from error

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def is_transient(error: RecollectError) -> bool:
    """Return whether a later attempt may succeed."""
    return (error.status == 429 or error.status >= 500) and not isinstance(error, StoreClosed)


@lru_cache(maxsize=64)
def _absolute_url(url: str, path: str) -> httpx2.URL:
    """Return the URL of a path. The HTTP client would parse it three times for each request."""
    return httpx2.URL(url + path)


def _validate_url(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError) as error:
        raise InvalidInput(f"{url!r} is not the URL of a server: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidInput(f"{url!r} is not the URL of a server; use e.g. http://127.0.0.1:8283")
    return str(url).rstrip("/")


def _without_none(query: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (query or {}).items() if value is not None}


def _retry_delay_s(attempt: int, error: RecollectError) -> float:
    retry_after_s: float | None = getattr(error, "retry_after_s", None)
    if retry_after_s is not None:
        return min(retry_after_s, MAX_DELAY_S)
    return float(FIRST_DELAY_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))


def _error_from_response(response: httpx2.Response, url: str) -> RecollectError:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping):
        return not_a_memory_server(url, response.status_code)
    return error_from_problem(problem, response.status_code)


def not_a_memory_server(url: str, status: int) -> ServerUnavailable:
    """Return the error for a response that is not from a memory server."""
    return ServerUnavailable(
        f"the server at {url} is not a memory server (status {status}); "
        "check the URL, or start one with `recollect serve --background`"
    )


def next_offset(response: httpx2.Response) -> int | None:
    """Return the offset of the next page of a list, or None on the last page."""
    link = response.links.get("next")
    offset = httpx2.URL(link["url"]).params.get("offset", "") if link else ""
    return int(offset) if offset.isdecimal() else None
