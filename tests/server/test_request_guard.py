"""The checks of the request guard, each with a table of cases; then the guard as middleware."""

import asyncio
import json
from collections.abc import Iterable, MutableMapping
from typing import Any

import pytest
from fastapi import Body, FastAPI
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from recollect.config import Settings
from recollect.server.allowed_hosts import HostPort, is_loopback, parse_host, parse_origin
from recollect.server.request_guard import (
    MAX_ADDRESSES,
    GuardRules,
    RateLimiter,
    RequestGuard,
    check_host,
    check_length,
    check_origin,
    check_token,
)
from tables import each_row

Message = MutableMapping[str, Any]

HERE = GuardRules(loopback_only=True)
HERE_AND_NAMED = GuardRules(loopback_only=True, allowed_hosts=frozenset({"memory.lan"}))
ANYWHERE = GuardRules(loopback_only=False)
ANYWHERE_NAMED = GuardRules(loopback_only=False, allowed_hosts=frozenset({"memory.lan"}))


@each_row(
    ("written", "place"),
    [
        ("localhost", HostPort("localhost", None)),
        ("LocalHost:8283", HostPort("localhost", 8283)),
        ("localhost.", HostPort("localhost", None)),
        ("127.0.0.1:1", HostPort("127.0.0.1", 1)),
        ("[::1]:8283", HostPort("::1", 8283)),
        ("[::1]", HostPort("::1", None)),
        ("", None),
        (":8283", None),
        ("localhost:", None),
        ("localhost:0", None),
        ("localhost:65536", None),
        ("localhost:8283:1", None),
        ("::1", None),
        ("user@localhost", None),
        ("localhost/x", None),
        ("local host", None),
        ("localhost\x00", None),
        ("lócalhost", None),
    ],
)
def test_a_host_header_is_a_name_and_perhaps_a_port(written: str, place: HostPort | None) -> None:
    assert parse_host(written) == place


@each_row(
    ("origin", "place"),
    [
        ("http://localhost:8283", HostPort("localhost", 8283)),
        ("http://localhost", HostPort("localhost", 80)),
        ("https://memory.lan", HostPort("memory.lan", 443)),
        ("null", None),
        ("file://", None),
        ("chrome-extension://abcdef", None),
        ("http://localhost:8283/", None),
        ("localhost:8283", None),
        ("", None),
    ],
)
def test_an_origin_is_a_web_address_without_a_path(origin: str, place: HostPort | None) -> None:
    assert parse_origin(origin) == place


@each_row(
    ("name", "here"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("app.localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("::ffff:8.8.8.8", False),
        ("192.168.1.5", False),
        ("127.1", False),
        ("2130706433", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("evillocalhost", False),
        ("", False),
    ],
)
def test_only_loopback_names_are_this_machine(name: str, here: bool) -> None:
    assert is_loopback(name) is here


@each_row(
    ("rules", "hosts", "status"),
    [
        (HERE, ["127.0.0.1:8283"], None),
        (HERE, ["localhost"], None),
        (HERE, ["[::1]:9"], None),
        (HERE, ["localhost:1"], None),
        (HERE, ["evil.example:8283"], 403),
        (HERE, ["0.0.0.0:8283"], 403),
        (HERE, ["192.168.1.5:8283"], 403),
        (HERE, [], 400),
        (HERE, [""], 400),
        (HERE, ["localhost", "localhost"], 400),
        (HERE_AND_NAMED, ["Memory.LAN"], None),
        (HERE_AND_NAMED, ["localhost"], None),
        (HERE_AND_NAMED, ["sub.memory.lan"], 403),
        (ANYWHERE, ["whatever.example"], None),
        (ANYWHERE, [], 400),
        (ANYWHERE_NAMED, ["memory.lan:8283"], None),
        (ANYWHERE_NAMED, ["whatever.example"], 403),
        (ANYWHERE_NAMED, ["localhost"], 403),
    ],
)
def test_a_request_must_ask_for_a_name_the_server_goes_by(
    rules: GuardRules, hosts: list[str], status: int | None
) -> None:
    refusal = check_host(hosts, rules)

    assert (refusal and refusal.status) == status


@each_row(
    ("origins", "sites", "host", "let_in"),
    [
        ([], [], "localhost:8283", True),
        ([], ["same-origin"], "localhost:8283", True),
        ([], ["none"], "localhost:8283", True),
        ([], ["cross-site"], "localhost:8283", False),
        ([], [" Cross-Site "], "localhost:8283", False),
        (["http://localhost:8283"], ["cross-site"], "localhost:8283", False),
        (["http://localhost:8283"], [], "localhost:8283", True),
        (["http://LOCALHOST:8283"], [], "localhost:8283", True),
        (["http://localhost:8283"], [], "127.0.0.1:8283", True),
        (["http://[::1]:8283"], [], "127.0.0.1:8283", True),
        (["http://localhost:3000"], [], "localhost:8283", False),
        (["http://localhost"], [], "localhost:8283", False),
        (["http://localhost"], [], "localhost", True),
        (["https://memory.lan"], [], "memory.lan", True),
        (["https://memory.lan:8443"], [], "memory.lan", False),
        (["http://localhost:8283"], [], "memory.lan:8283", False),
        (["http://evil.example:8283"], [], "localhost:8283", False),
        (["null"], [], "localhost:8283", False),
        ([""], [], "localhost:8283", False),
        (["file://"], [], "localhost:8283", False),
        (["http://localhost:8283", "http://localhost:8283"], [], "localhost:8283", False),
    ],
)
def test_a_page_of_another_origin_is_refused(
    origins: list[str], sites: list[str], host: str, let_in: bool
) -> None:
    refusal = check_origin(origins, sites, host)

    assert (refusal is None) is let_in
    assert refusal is None or refusal.status == 403


@each_row(
    ("given", "token", "let_in"),
    [
        ([], "", True),
        (["Bearer whatever"], "", True),
        (["Bearer s3cret"], "s3cret", True),
        (["bearer  s3cret "], "s3cret", True),
        ([], "s3cret", False),
        (["Bearer"], "s3cret", False),
        (["Bearer s3cre"], "s3cret", False),
        (["Bearer s3cret2"], "s3cret", False),
        (["Bearer sécret"], "s3cret", False),
        (["Basic s3cret"], "s3cret", False),
        (["s3cret"], "s3cret", False),
        (["Bearer s3cret", "Bearer s3cret"], "s3cret", False),
    ],
)
def test_where_a_token_is_set_a_request_must_have_it(
    given: list[str], token: str, let_in: bool
) -> None:
    refusal = check_token(given, token.encode())

    assert (refusal is None) is let_in
    if refusal is not None:
        assert refusal.status == 401
        assert dict(refusal.headers)["www-authenticate"].startswith("Bearer ")
        assert "s3cret" not in refusal.detail


@each_row(
    ("lengths", "status"),
    [
        ([], None),
        (["0"], None),
        (["1000"], None),
        (["1001"], 413),
        (["9" * 5000], 413),
        (["-1"], 400),
        (["1e3"], 400),
        (["²"], 400),
        (["10", "10"], 400),
    ],
)
def test_a_body_that_says_it_is_too_large_is_refused(
    lengths: list[str], status: int | None
) -> None:
    refusal = check_length(lengths, 1000)

    assert (refusal and refusal.status) == status


def test_a_bucket_holds_a_seconds_worth_and_fills_again() -> None:
    buckets = RateLimiter(2)

    assert [buckets.wait_s("a", 10.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert buckets.wait_s("b", 10.0) == 0.0
    assert buckets.wait_s("a", 10.25) == 0.25
    assert buckets.wait_s("a", 10.5) == 0.0
    assert [buckets.wait_s("a", 99.0) for _ in range(3)] == [0.0, 0.0, 0.5]


def test_a_clock_that_goes_back_fills_no_bucket_and_breaks_none() -> None:
    buckets = RateLimiter(1)

    assert buckets.wait_s("a", 10.0) == 0.0
    assert buckets.wait_s("a", 5.0) == 1.0
    assert buckets.wait_s("a", 6.0) == 0.0


def test_only_so_many_addresses_are_remembered() -> None:
    buckets = RateLimiter(1)

    for number in range(MAX_ADDRESSES + 50):
        buckets.wait_s(f"10.0.{number // 256}.{number % 256}", 1.0)

    assert len(buckets) == MAX_ADDRESSES


def test_the_rules_are_those_of_the_settings() -> None:
    settings = Settings(
        host="0.0.0.0",
        token="s3cret",
        allowed_hosts="Memory.lan, 192.168.1.5",
        max_body_mb=2,
        requests_per_second=7,
    )

    assert GuardRules.from_settings(settings) == GuardRules(
        loopback_only=False,
        allowed_hosts=frozenset({"memory.lan", "192.168.1.5"}),
        token=b"s3cret",
        max_body_bytes=2_000_000,
        requests_per_second=7,
    )
    assert GuardRules.from_settings(Settings()).loopback_only
    assert "s3cret" not in repr(settings)


# The guard around an application


class EchoApp:
    """An application that answers with the number of bytes it was sent."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        read = 0
        while True:
            message = await receive()
            read += len(message.get("body", b""))
            if not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(read).encode()})


def ask(
    guard: RequestGuard,
    *,
    kind: str = "http",
    headers: Iterable[tuple[str, str]] = (("host", "localhost:8283"),),
    body: Iterable[bytes] = (b"",),
    address: str = "127.0.0.1",
) -> list[Message]:
    """Ask *guard* as a server does; return what it sent."""
    sent: list[Message] = []
    parts = list(body)

    async def receive() -> Message:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "method": "POST",
        "path": "/",
        "client": (address, 1234),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    asyncio.run(guard(scope, receive, send))
    return sent


def problem_in(sent: list[Message]) -> dict[str, Any]:
    """Return the problem in what was sent, with its headers."""
    start, body = sent
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    assert headers["content-type"] == "application/problem+json"
    assert headers["content-length"] == str(len(body["body"]))
    found: dict[str, Any] = json.loads(body["body"])
    assert found["status"] == start["status"]
    return {**found, "headers": headers}


def guarded(app: Any, clock: Any = lambda: 0.0, **rules: Any) -> RequestGuard:
    return RequestGuard(app, rules=GuardRules(loopback_only=True, **rules), clock=clock)


def test_a_welcome_request_comes_through_whole() -> None:
    sent = ask(guarded(EchoApp(), max_body_bytes=10), body=[b"12345", b"67890"])

    assert sent[0]["status"] == 200
    assert sent[1]["body"] == b"10"


def test_a_refused_request_never_reaches_the_application() -> None:
    echo = EchoApp()

    sent = ask(guarded(echo), headers=[("host", "evil.example")])

    assert problem_in(sent)["error"] == "RequestRefused"
    assert "RECOLLECT_ALLOWED_HOSTS" in problem_in(sent)["detail"]
    assert echo.asked == 0


def test_a_body_that_grows_too_large_while_it_comes_in_is_refused() -> None:
    class SwallowingApp(EchoApp):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await super().__call__(scope, receive, send)
            except Exception:  # as a framework does
                await send({"type": "http.response.start", "status": 400, "headers": []})
                await send({"type": "http.response.body", "body": b"?"})

    sent = ask(guarded(SwallowingApp(), max_body_bytes=10), body=[b"12345", b"678901", b"2"])

    assert problem_in(sent)["status"] == 413
    assert problem_in(sent)["error"] == "TooLarge"
    assert problem_in(sent)["headers"]["connection"] == "close"


def test_too_many_requests_are_told_when_to_come_again() -> None:
    now = 0.0
    guard = guarded(EchoApp(), lambda: now, requests_per_second=2)

    assert [ask(guard)[0]["status"] for _ in range(3)] == [200, 200, 429]
    refused = problem_in(ask(guard))
    assert refused["error"] == "TooManyRequests"
    assert refused["retry_after_s"] == 0.5
    assert refused["headers"]["retry-after"] == "1"
    assert ask(guard, address="10.0.0.9")[0]["status"] == 200
    now = 1.0
    assert ask(guard)[0]["status"] == 200


def test_a_page_of_elsewhere_does_not_use_up_this_machines_requests() -> None:
    guard = guarded(EchoApp(), requests_per_second=1)

    for _ in range(5):
        evil = [("host", "localhost:8283"), ("origin", "http://evil.example")]
        assert ask(guard, headers=evil)[0]["status"] == 403

    assert ask(guard)[0]["status"] == 200


def test_guessing_tokens_is_slowed_down() -> None:
    guard = guarded(EchoApp(), requests_per_second=2, token=b"s3cret")
    wrong = [("host", "localhost"), ("authorization", "Bearer nope")]

    assert [ask(guard, headers=wrong)[0]["status"] for _ in range(3)] == [401, 401, 429]


def test_a_websocket_is_refused() -> None:
    assert ask(guarded(EchoApp()), kind="websocket") == [{"type": "websocket.close", "code": 1008}]


def test_a_chunked_body_over_the_limit_is_refused_by_a_route_of_the_framework_too() -> None:
    app = FastAPI()

    @app.post("/")
    def count(body: dict[str, Any] = Body()) -> int:  # noqa: B008  # how a route is written
        return len(body)

    app.add_middleware(
        RequestGuard, rules=GuardRules(loopback_only=True, max_body_bytes=1000), clock=lambda: 0.0
    )
    with TestClient(app, base_url="http://localhost:8283") as client:
        client.headers["content-type"] = "application/json"
        small = client.post("/", content=iter([b'{"a": 1,', b' "b": 2}']))
        large = client.post("/", content=iter([b'{"a": "', b"x" * 2000, b'"}']))

    assert small.json() == 2
    assert large.status_code == 413
    assert large.json()["error"] == "TooLarge"


def test_no_token_comes_into_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    guard = guarded(EchoApp(), token=b"s3cret-token")

    ask(guard, headers=[("host", "localhost"), ("authorization", "Bearer s3cret-token")])
    ask(guard, headers=[("host", "localhost"), ("authorization", "Bearer other-token")])

    assert "token" not in caplog.text
