"""
One connection to a memory server: requests out, answers or our own errors back.

What is safe to send again is sent again: reads always, writes because each carries a key under
which the server carries it out once. A server that is down is told apart from one that says no.
"""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any

import httpx2

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
from recollect.wire.problem import error_of

ATTEMPTS = 3
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
CONNECT_S = 2.0
_CLOCK = SystemClock()
_PASSING = (ServerUnavailable, StoreBusy, TooManyRequests, AlreadyAccepted)


_KEY: ContextVar[str] = ContextVar("recollect_request_key", default="")


@contextmanager
def keyed(key: str) -> Iterator[None]:
    """Send the write in this block under *key*: however often it is sent, it is done once."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


class Connection:
    """A server's address and how it is spoken to. Safe to share between threads."""

    def __init__(
        self, url: str, *, token: str = "", timeout_s: float = 60.0, attempts: int = ATTEMPTS
    ) -> None:
        self.url = _checked(url)
        self._attempts = attempts
        self._timeout_s: float | None = None  # of the client, unless somebody is in a hurry
        self._http = httpx2.Client(
            base_url=self.url,
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=httpx2.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            trust_env=False,  # no proxy stands between us and our own server
        )

    def within(self, timeout_s: float) -> "Connection":
        """Return the same connection for requests that are sent once and wait no longer."""
        hurried = copy(self)
        hurried._attempts = 1
        hurried._timeout_s = timeout_s
        return hurried

    def send(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx2.Response:
        """Send a request, again where that is safe; return the answer or raise what it says."""
        headers = {} if method == "GET" else self.key()
        how: dict[str, Any] = {"headers": headers, "params": _query(query)}
        if body is not None:
            how["json"] = body
        if self._timeout_s is not None:
            how["timeout"] = self._timeout_s
        for attempt in range(1, self._attempts + 1):
            try:
                return self.send_once(method, path, **how)
            except _PASSING as error:
                if attempt == self._attempts:
                    raise
                time.sleep(_pause(attempt, error))
        raise AssertionError  # the last attempt returns or raises

    def key(self) -> dict[str, str]:
        """Return the header under which a write is carried out once."""
        return {"idempotency-key": _KEY.get() or _CLOCK.new_id()}

    def send_once(self, method: str, path: str, **how: Any) -> httpx2.Response:
        """Send a request as httpx takes it; return the answer or raise what it says."""
        with self._told_apart():
            response = self._http.request(method, path, **how)
        if response.is_success:
            return response
        raise _error(response, self.url)

    @contextmanager
    def streamed(
        self, method: str, path: str, *, query: Mapping[str, Any]
    ) -> Iterator[httpx2.Response]:
        """Lend an answer that has not been read yet."""
        with self._told_apart(), self._http.stream(method, path, params=_query(query)) as response:
            if not response.is_success:
                response.read()
                raise _error(response, self.url)
            yield response

    @contextmanager
    def _told_apart(self) -> Iterator[None]:
        if self._http.is_closed:
            raise StoreClosed(
                f"the connection to {self.url} was closed; open it again with recollect.connect(…)"
            )
        try:
            yield
        except httpx2.TimeoutException as error:
            raise ServerUnavailable(
                f"the memory server at {self.url} did not answer in time; it may be busy, "
                "its log says with what"
            ) from error
        except httpx2.InvalidURL as error:
            raise InvalidInput(
                f"a name in the request is too long for an address: {error}"
            ) from error
        except httpx2.HTTPError as error:
            raise ServerUnavailable(
                f"no memory server answers at {self.url} ({error}); "
                "start it with `recollect serve --background`"
            ) from error

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()


def is_passing(error: RecollectError) -> bool:
    """Say whether trying again later may help."""
    return (error.status == 429 or error.status >= 500) and not isinstance(error, StoreClosed)


def _checked(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError) as error:
        raise InvalidInput(f"{url!r} is no address of a server: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidInput(f"{url!r} is no address of a server; write it as http://127.0.0.1:8283")
    return str(url).rstrip("/")


def _query(query: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (query or {}).items() if value is not None}


def _pause(attempt: int, error: RecollectError) -> float:
    told: float | None = getattr(error, "retry_after_s", None)
    if told is not None:
        return min(told, LONGEST_PAUSE_S)
    return float(FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))


def _error(response: httpx2.Response, url: str) -> RecollectError:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, Mapping):
        return no_memory(url, response.status_code)
    return error_of(problem, response.status_code)


def no_memory(url: str, status: int) -> ServerUnavailable:
    """Return the error for an answer that no memory server gives."""
    return ServerUnavailable(
        f"what answers at {url} is no memory server (status {status}); "
        "check the address, or start one with `recollect serve --background`"
    )


def next_page(response: httpx2.Response) -> int | None:
    """Return where the next page of a list begins, None at its end."""
    link = response.links.get("next")
    offset = httpx2.URL(link["url"]).params.get("offset", "") if link else ""
    return int(offset) if offset.isdecimal() else None
