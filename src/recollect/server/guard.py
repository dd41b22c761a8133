"""
The guard in front of every route: who may ask, how much, how often.

A server on this machine is reached by every page in a browser on it. So a request must ask for a
name of this machine (a page of elsewhere whose name was pointed here is refused), must not come
from another site's page, must have the token where one is set, and is bounded in size and number.

The rules are pure functions that return a `Refusal` or None; `Guard` asks them in order and sends
the refusal as a problem. It knows nothing of routes or memories. No header's value is ever logged.
"""

import hmac
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.config import Settings
from recollect.errors import RecollectError, RequestRefused, TokenRefused, TooLarge, TooManyRequests
from recollect.server.names import is_this_machine, origin_place, place_of, same_place
from recollect.wire.problem import MEDIA_TYPE, as_json, problem

MOST_ADDRESSES = 1_024  # remembered at once; the one not seen for longest is forgotten


@dataclass(frozen=True)
class Refusal:
    """Why a request is not let in, and as what it is answered."""

    status: int
    detail: str
    error: type[RecollectError] = RequestRefused
    headers: tuple[tuple[str, str], ...] = ()
    retry_after_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What the guard holds requests to."""

    this_machine_only: bool  # the server listens on the loopback
    allowed_hosts: frozenset[str] = frozenset()
    token: bytes = b""
    max_body_bytes: int = 64_000_000
    requests_per_second: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        """Return the rules that *settings* ask for."""
        return cls(
            this_machine_only=is_this_machine(settings.host),
            allowed_hosts=frozenset(name.lower().strip("[]") for name in settings.other_hosts),
            token=settings.token.encode("ascii"),
            max_body_bytes=settings.max_body_mb * 1_000_000,
            requests_per_second=settings.requests_per_second,
        )


class Buckets:
    """A bucket of requests per address that fills at *per_second* and holds one second's worth."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def wait_s(self, address: str, now: float) -> float:
        """Take one request out of *address*'s bucket; return how long to wait where it is empty."""
        left, then = self._left.pop(address, (self._most, now))
        left = min(self._most, left + max(0.0, now - then) * self._per_second)
        wait_s = 0.0 if left >= 1.0 else (1.0 - left) / self._per_second
        self._left[address] = (left if wait_s else left - 1.0, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return wait_s


def check_host(hosts: list[str], rules: Rules) -> Refusal | None:
    """Refuse a request that asks for a name this server does not go by."""
    place = place_of(hosts[0]) if len(hosts) == 1 else None
    if place is None:
        return Refusal(400, "the request needs one well-formed Host header")
    if place.name in rules.allowed_hosts:
        return None
    if rules.this_machine_only:
        if is_this_machine(place.name):
            return None
    elif not rules.allowed_hosts:
        return None
    return Refusal(
        403,
        f"this server does not go by the name {place.name[:80]!r}; "
        "to allow it, name it in RECOLLECT_ALLOWED_HOSTS",
    )


def check_origin(origins: list[str], sites: list[str], host: str) -> Refusal | None:
    """Refuse a request that a page of another site makes."""
    if "cross-site" in (site.strip().lower() for site in sites):
        return Refusal(403, "this server does not answer pages of other sites")
    if not origins:
        return None
    asked = place_of(host)
    origin = origin_place(origins[0]) if len(origins) == 1 else None
    if origin is not None and asked is not None and same_place(origin, asked):
        return None
    return Refusal(403, "this server does not answer pages of other origins")


def check_token(given: list[str], token: bytes) -> Refusal | None:
    """Refuse a request without the token, where there is one."""
    if not token:
        return None
    if not given:
        return _no_token("this server wants a token; send: Authorization: Bearer TOKEN", "")
    scheme, _, value = given[0].strip().partition(" ")
    # On bytes: comparing text would refuse to compare what is not ASCII.
    same = hmac.compare_digest(value.strip().encode("latin-1"), token)
    if len(given) == 1 and scheme.lower() == "bearer" and same:
        return None
    return _no_token("the token of the request is not this server's", ', error="invalid_token"')


def check_length(lengths: list[str], most: int) -> Refusal | None:
    """Refuse a body that is announced as too large."""
    if not lengths:
        return None
    written = lengths[0].strip()
    if len(lengths) > 1 or not (written.isascii() and written.isdigit()):
        return Refusal(400, "the Content-Length of the request is no number")
    return too_large(most) if len(written) > 18 or int(written) > most else None


def too_large(most: int) -> Refusal:
    """Return the refusal of a body over the limit."""
    return Refusal(
        413,
        f"the body of the request is larger than {most // 1_000_000} MB; send less at once, "
        "or set RECOLLECT_MAX_BODY_MB",
        TooLarge,
        (("connection", "close"),),  # the rest of the body is not waited for
    )


def too_often(wait_s: float) -> Refusal:
    """Return the refusal of a request beyond the rate."""
    return Refusal(
        429,
        "this address asks more often than this server allows; wait, "
        "or set RECOLLECT_REQUESTS_PER_SECOND (0: no limit)",
        TooManyRequests,
        (("retry-after", str(max(1, math.ceil(wait_s)))),),
        round(wait_s, 3),
    )


def _no_token(detail: str, more: str) -> Refusal:
    return Refusal(
        401, detail, TokenRefused, (("www-authenticate", f'Bearer realm="recollect"{more}'),)
    )


class Guard:
    """The ASGI application around the application. *clock* counts seconds."""

    def __init__(self, app: ASGIApp, *, rules: Rules, clock: Callable[[], float]) -> None:
        self._app = app
        self._rules = rules
        self._clock = clock
        self._buckets = Buckets(rules.requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._refusal(scope)) is not None:
            await _answer(refusal, send)
        else:
            body = _Bounded(receive, send, self._rules.max_body_bytes)
            await self._app(scope, body.receive, body.send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        def named(name: bytes) -> list[str]:
            return [value.decode("latin-1") for key, value in scope["headers"] if key == name]

        hosts = named(b"host")
        # A page of elsewhere is refused before it can use up the requests of this machine.
        return (
            check_host(hosts, self._rules)
            or check_origin(named(b"origin"), named(b"sec-fetch-site"), hosts[0])
            or self._check_rate(scope)
            or check_token(named(b"authorization"), self._rules.token)
            or check_length(named(b"content-length"), self._rules.max_body_bytes)
        )

    def _check_rate(self, scope: Scope) -> Refusal | None:
        if not self._rules.requests_per_second:
            return None
        client = scope.get("client")
        wait_s = self._buckets.wait_s(client[0] if client else "", self._clock())
        return too_often(wait_s) if wait_s else None


class _Bounded:
    """One request whose body is counted as it comes in, since not every body says its length."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive = receive
        self._send = send
        self._most = most
        self._read = 0
        self._started = False  # an answer is under way
        self._refused = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read > self._most:
            raise TooLarge(too_large(self._most).detail)
        return message

    async def send(self, message: Message) -> None:
        # A framework may turn what `receive` raised into an answer of its own.
        if self._started or self._read <= self._most:
            self._started = True
            await self._send(message)
        elif not self._refused:
            self._refused = True
            await _answer(too_large(self._most), self._send)


async def _answer(refusal: Refusal, send: Send) -> None:
    body = as_json(
        problem(
            refusal.status,
            refusal.detail,
            error=refusal.error,
            retry_after_s=refusal.retry_after_s,
        )
    )
    await send_problem(send, refusal.status, body, refusal.headers)


async def send_problem(
    send: Send, status: int, body: bytes, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Send a whole answer with a problem in it."""
    told: list[Any] = [(b"content-type", MEDIA_TYPE.encode())]
    told.append((b"content-length", str(len(body)).encode()))
    told += [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
