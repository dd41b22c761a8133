"""
Check every request before it reaches a route: host, origin, rate, token and body size.

Every web page in a browser on this machine can send requests to a local server. So the Host header
must name this machine (this stops DNS rebinding), the request must not come from a page of another
site, and it must have the token if one is set; the pages under /ui have sessions instead. Body size
and request rate are limited.

The checks are pure functions that return a `RequestRefusal` or None. `RequestGuard` calls them in
order and sends the refusal as a problem response. Header values are never logged.
"""

import hmac
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.config import Settings
from recollect.errors import RecollectError, RequestRefused, TokenRefused, TooLarge, TooManyRequests
from recollect.lazy_dataclass import dataclass
from recollect.server.allowed_hosts import is_loopback, is_same_origin, parse_host, parse_origin
from recollect.server.probes import is_probe
from recollect.server.request_ids import with_request_id
from recollect.web.page_guard import ENTER, foreign_request, is_page_path
from recollect.wire.problem import MEDIA_TYPE, problem, problem_json

MAX_ADDRESSES = 1_024  # with a bucket; the least recently used one is dropped


@dataclass(frozen=True)
class RequestRefusal:
    """Why a request is refused, and the response to it."""

    status: int
    detail: str
    error: type[RecollectError] = RequestRefused
    headers: tuple[tuple[str, str], ...] = ()
    retry_after_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class GuardRules:
    """The limits and secrets that requests are checked against."""

    loopback_only: bool  # the server listens on the loopback interface
    allowed_hosts: frozenset[str] = frozenset()
    token: bytes = b""
    max_body_bytes: int = 64_000_000
    requests_per_second: int = 0

    @classmethod
    def from_settings(cls, settings: Settings) -> "GuardRules":
        """Return the rules for *settings*."""
        return cls(
            loopback_only=is_loopback(settings.host),
            allowed_hosts=frozenset(
                name.lower().strip("[]") for name in settings.allowed_host_names
            ),
            token=settings.token.encode("ascii"),
            max_body_bytes=settings.max_body_mb * 1_000_000,
            requests_per_second=settings.requests_per_second,
        )

    def without_token(self) -> "GuardRules":
        """Return these rules for requests whose token was checked already."""
        return replace(self, token=b"")


class RateLimiter:
    """A token bucket per client address or user; it holds the requests of one second."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._capacity = max(1.0, per_second)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def wait_s(self, address: str, now: float) -> float:
        """Consume one rate-limit token of *address*; return 0.0, or the seconds to wait for one."""
        if not self._per_second:
            return 0.0
        tokens, updated_at = self._buckets.pop(address, (self._capacity, now))
        tokens = min(self._capacity, tokens + max(0.0, now - updated_at) * self._per_second)
        wait_s = 0.0 if tokens >= 1.0 else (1.0 - tokens) / self._per_second
        self._buckets[address] = (tokens if wait_s else tokens - 1.0, now)
        if len(self._buckets) > MAX_ADDRESSES:
            self._buckets.popitem(last=False)
        return wait_s


def check_host(hosts: list[str], rules: GuardRules) -> RequestRefusal | None:
    """Refuse a request for a host name that is not allowed."""
    host = parse_host(hosts[0]) if len(hosts) == 1 else None
    if host is None:
        return RequestRefusal(400, "the request needs one well-formed Host header")
    if host.name in rules.allowed_hosts:
        return None
    if rules.loopback_only:
        if is_loopback(host.name):
            return None
    elif not rules.allowed_hosts:
        return None
    return RequestRefusal(
        403,
        f"the host name {host.name[:80]!r} is not allowed; "
        "to allow it, add it to RECOLLECT_ALLOWED_HOSTS",
    )


def check_origin(origins: list[str], sites: list[str], host: str) -> RequestRefusal | None:
    """Refuse a request from a web page of another site."""
    if "cross-site" in (site.strip().lower() for site in sites):
        return RequestRefusal(403, "requests from web pages of other sites are refused")
    if not origins:
        return None
    target = parse_host(host)
    origin = parse_origin(origins[0]) if len(origins) == 1 else None
    if origin is not None and target is not None and is_same_origin(origin, target):
        return None
    return RequestRefusal(403, "requests from web pages of other origins are refused")


def check_token(authorizations: list[str], token: bytes) -> RequestRefusal | None:
    """Refuse a request without the token, if one is set."""
    if not token:
        return None
    if not authorizations:
        return _token_refusal("a token is required; send: Authorization: Bearer TOKEN", "")
    scheme, _, value = authorizations[0].strip().partition(" ")
    # Compare bytes: `compare_digest` does not accept text that is not ASCII.
    is_same = hmac.compare_digest(value.strip().encode("latin-1"), token)
    if len(authorizations) == 1 and scheme.lower() == "bearer" and is_same:
        return None
    return _token_refusal("the token is wrong", ', error="invalid_token"')


def check_length(lengths: list[str], max_bytes: int) -> RequestRefusal | None:
    """Refuse a body whose Content-Length is over the limit."""
    if not lengths:
        return None
    length = lengths[0].strip()
    if len(lengths) > 1 or not (length.isascii() and length.isdigit()):
        return RequestRefusal(400, "the Content-Length of the request is not a number")
    return too_large(max_bytes) if len(length) > 18 or int(length) > max_bytes else None


def too_large(max_bytes: int) -> RequestRefusal:
    """Return the refusal of a body over the limit."""
    return RequestRefusal(
        413,
        f"the body of the request is larger than {max_bytes // 1_000_000} MB; send less at once, "
        "or set RECOLLECT_MAX_BODY_MB",
        TooLarge,
        (("connection", "close"),),  # do not read the rest of the body
    )


def too_many_requests(wait_s: float, *, of_user: bool = False) -> RequestRefusal:
    """Return the refusal of a request over the rate limit of its address, or of its user."""
    whose, variable = "from this address", "RECOLLECT_REQUESTS_PER_SECOND"
    if of_user:
        whose, variable = "of this user", "RECOLLECT_USER_REQUESTS_PER_SECOND"
    return RequestRefusal(
        429,
        f"too many requests {whose}; wait, or set {variable} (0: no limit)",
        TooManyRequests,
        (("retry-after", str(max(1, math.ceil(wait_s)))),),
        round(wait_s, 3),
    )


def bearer_token(scope: Scope) -> str:
    """Return the token of a request, '' if it has none, or more than one."""
    values = [value for key, value in scope["headers"] if key == b"authorization"]
    scheme, _, token = (
        values[0].decode("latin-1").strip().partition(" ") if values else ("", "", "")
    )
    return token.strip() if len(values) == 1 and scheme.lower() == "bearer" else ""


def user_refusal(*, has_token: bool) -> RequestRefusal:
    """Return the refusal of a request that has no token of a user of the team."""
    if has_token:
        detail = "the token is wrong, or it was replaced or revoked; ask an admin of the server"
        return _token_refusal(detail, ', error="invalid_token"')
    return _token_refusal("a user's token is required; send: Authorization: Bearer TOKEN", "")


def _token_refusal(detail: str, parameters: str) -> RequestRefusal:
    challenge = f'Bearer realm="recollect"{parameters}'
    return RequestRefusal(401, detail, TokenRefused, (("www-authenticate", challenge),))


class RequestGuard:
    """ASGI middleware that refuses requests. *clock* returns seconds."""

    def __init__(self, app: ASGIApp, *, rules: GuardRules, clock: Callable[[], float]) -> None:
        self._app = app
        self._rules = rules
        self._clock = clock
        self._rate_limiter = RateLimiter(rules.requests_per_second)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or send the refusal."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._refusal(scope)) is not None:
            await send_refusal(refusal, send)
        else:
            body = _BodyLimit(receive, send, self._rules.max_body_bytes)
            await self._app(scope, body.receive, body.send)

    def _refusal(self, scope: Scope) -> RequestRefusal | None:
        def header(name: bytes) -> list[str]:
            return [value.decode("latin-1") for key, value in scope["headers"] if key == name]

        if is_probe(scope["method"], scope["path"]):
            return self._check_rate(scope)
        hosts = header(b"host")
        # The origin is checked first, so that foreign pages do not use up the rate limit.
        return (
            check_host(hosts, self._rules)
            or self._check_origin(scope, header(b"origin"), header(b"sec-fetch-site"), hosts[0])
            or self._check_rate(scope)
            or self._check_token(scope["path"], header(b"authorization"))
            or check_length(header(b"content-length"), self._rules.max_body_bytes)
        )

    def _check_origin(
        self, scope: Scope, origins: list[str], sites: list[str], host: str
    ) -> RequestRefusal | None:
        if not is_page_path(scope["path"]) or scope["path"] == ENTER:
            return check_origin(origins, sites, host)  # a program asks for a code there
        # The form of a page without a referrer has the origin "null"; the browser says in another
        # header that it is our own.
        headers = {"host": host, "origin": ",".join(origins)}
        if sites:
            headers["sec-fetch-site"] = ",".join(sites)
        refusal = foreign_request(scope["method"], headers)
        return None if refusal is None else RequestRefusal(403, refusal)

    def _check_token(self, path: str, authorizations: list[str]) -> RequestRefusal | None:
        if is_page_path(path):  # pages require a session; a browser has no token
            return None
        return check_token(authorizations, self._rules.token)

    def _check_rate(self, scope: Scope) -> RequestRefusal | None:
        if not self._rules.requests_per_second:
            return None
        client = scope.get("client")
        wait_s = self._rate_limiter.wait_s(client[0] if client else "", self._clock())
        return too_many_requests(wait_s) if wait_s else None


class _BodyLimit:
    """Counts the body of one request while it arrives: not every body has a Content-Length."""

    def __init__(self, receive: Receive, send: Send, max_bytes: int) -> None:
        self._receive = receive
        self._send = send
        self._max_bytes = max_bytes
        self._received = 0
        self._response_started = False
        self._refused = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if self._received > self._max_bytes:
            raise TooLarge(too_large(self._max_bytes).detail)
        return message

    async def send(self, message: Message) -> None:
        # The framework may turn the error of `receive` into its own response. Replace that.
        if self._response_started or self._received <= self._max_bytes:
            self._response_started = True
            await self._send(message)
        elif not self._refused:
            self._refused = True
            await send_refusal(too_large(self._max_bytes), self._send)


async def send_refusal(refusal: RequestRefusal, send: Send) -> None:
    """Send a refusal as a problem."""
    fields = problem(
        refusal.status, refusal.detail, error=refusal.error, retry_after_s=refusal.retry_after_s
    )
    await send_problem(send, fields, refusal.headers)


async def send_problem(
    send: Send, fields: Mapping[str, Any], headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Send a complete response whose body is a problem with these fields."""
    body = problem_json(with_request_id(fields))
    raw_headers: list[Any] = [(b"content-type", MEDIA_TYPE.encode())]
    raw_headers.append((b"content-length", str(len(body)).encode()))
    raw_headers += [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": fields["status"], "headers": raw_headers})
    await send({"type": "http.response.body", "body": body})
