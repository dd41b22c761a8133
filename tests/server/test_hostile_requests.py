"""The guard through a real server: what comes in over the socket, well formed or not."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from raw_http import RawResponse, becomes_empty, request, send_raw
from recollect.errors import TooManyRequests
from recollect.wire.problem import error_from_problem
from server_process import run_server, without_embedder

pytestmark = pytest.mark.door

TOKEN = "t0ken-of-this-test-0123456789"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "FOO")
OTHER_HOSTS = (
    "evil.com",
    "127.0.0.1.evil.com",
    "localhost.evil.com",
    "evil.com:{port}",
    "192.168.1.1:{port}",
    "0.0.0.0:{port}",
    "[::]:{port}",
    "2130706433",
    "127.1",
    "localhost@evil.com",
)
OTHER_ORIGINS = (
    "null",
    "http://evil.com",
    "http://localhost.evil.com:{port}",
    "http://127.0.0.1.evil.com:{port}",
    "https://127.0.0.1",
    "http://localhost:1",
    "file://",
    "chrome-extension://abcdef",
    "",
)


@dataclass(frozen=True)
class LoggedServer:
    """A server with a token, and its log."""

    port: int
    log: Path
    pid: int

    @property
    def host(self) -> str:
        return f"Host: 127.0.0.1:{self.port}"

    def ask(self, method: str, target: str, *lines: str, body: bytes = b"") -> RawResponse:
        """Send a request that has the token and the right name."""
        head = (
            self.host,
            f"Authorization: Bearer {TOKEN}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        found = send_raw(self.port, request(method, target, *head, *lines, body=body))
        assert found is not None
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggedServer]:
    """A server that logs every request, with a token and a small limit."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "token").write_text(TOKEN)
    log = folder / "log"
    (folder / "temporary").mkdir()
    env = without_embedder(
        RECOLLECT_MAX_BODY_MB="1",
        RECOLLECT_REQUESTS_PER_SECOND="0",
        TMPDIR=str(folder / "temporary"),
    )
    options = ("--token-file", str(folder / "token"), "--verbose")
    with run_server(folder / "memory.db", *options, env=env, log=log) as served:
        yield LoggedServer(served.port, log, served.pid)
        assert served.process.poll() is None  # whatever it was sent, it still runs
    said = log.read_text()
    assert TOKEN not in said
    assert "Traceback" not in said


@pytest.fixture(scope="module")
def paths(server: LoggedServer) -> list[str]:
    """Every path of the document, filled in, and some that are none."""
    found = json.loads(server.ask("GET", "/openapi.json").body)["paths"]
    assert len(found) > 80
    filled = [path.replace("{", "").replace("}", "") for path in found]
    return [*filled, "/openapi.json", "/docs", "/redoc", "/", "/nothing", "/api", "/api/nothing"]


def test_without_the_token_nothing_is_told_on_any_path_by_any_method(
    server: LoggedServer, paths: list[str]
) -> None:
    told = set()
    for path in paths:
        for method in METHODS:
            lines = ("Connection: close", "X-Request-Id: r1")
            answer = send_raw(server.port, request(method, path, server.host, *lines))
            assert answer is not None
            assert answer.status == 401, (method, path)
            told.add(answer.body)
            assert answer.headers["www-authenticate"].startswith("Bearer")

    assert len(told - {b""}) == 1  # not even whether there is such a path


@pytest.mark.parametrize(
    "line",
    [
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization: Bearer wrong",
        f"Authorization: Bearer {TOKEN}x",
        f"Authorization: Bearer {TOKEN[:-1]}",
        f"Authorization: Basic {TOKEN}",
        f"Authorization: {TOKEN}",
        f"Authorization: Bearer {TOKEN} {TOKEN}",
        f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}",
        f"X-Authorization: Bearer {TOKEN}",
        f"Cookie: token={TOKEN}",
        "Authorization: Bearer \xff\xfe",
    ],
)
def test_what_is_not_quite_the_token_is_refused(server: LoggedServer, line: str) -> None:
    raw = request("GET", "/health", server.host, line)

    answer = send_raw(server.port, raw)

    assert answer is not None
    assert answer.status == 401
    assert answer.problem["error"] == "TokenRefused"
    assert TOKEN not in answer.body.decode()


@pytest.mark.parametrize("written", OTHER_HOSTS)
def test_another_name_is_refused_on_every_path(
    server: LoggedServer, paths: list[str], written: str
) -> None:
    host = f"Host: {written.format(port=server.port)}"
    for path in paths:
        answer = send_raw(server.port, request("GET", path, host, f"Authorization: Bearer {TOKEN}"))
        assert answer is not None
        assert answer.status in (400, 403)
        assert answer.problem["error"] == "RequestRefused"


@pytest.mark.parametrize("written", OTHER_ORIGINS)
def test_pages_of_elsewhere_are_refused_on_every_path(
    server: LoggedServer, paths: list[str], written: str
) -> None:
    origin = f"Origin: {written.format(port=server.port)}"
    for path in paths:
        for method in ("GET", "POST", "OPTIONS"):
            answer = server.ask(method, path, origin)
            assert answer.status == 403, (method, path)
            assert answer.problem["error"] == "RequestRefused"
            assert not any(name.startswith("access-control") for name in answer.headers)


def test_the_servers_own_origin_may_ask(server: LoggedServer) -> None:
    for origin in (f"http://127.0.0.1:{server.port}", f"http://localhost:{server.port}"):
        assert server.ask("GET", "/health", f"Origin: {origin}").status == 200


def test_another_port_of_this_machine_in_the_host_is_this_machine(server: LoggedServer) -> None:
    found = send_raw(
        server.port,
        request("GET", "/health", "Host: localhost:1", f"Authorization: Bearer {TOKEN}"),
    )

    assert found is not None
    assert found.status == 200


def odd_requests(server: LoggedServer) -> dict[str, bytes]:
    host, token = server.host, f"Authorization: Bearer {TOKEN}"
    chunked = "Transfer-Encoding: chunked"
    return {
        "no host": request("GET", "/health", token),
        "no host, old": request("GET", "/health", token, version="HTTP/1.0"),
        "two hosts": request("GET", "/health", host, host, token),
        "two hosts, one foreign": request("GET", "/health", host, "Host: evil.com", token),
        "absolute, foreign host": request(
            "GET", f"http://127.0.0.1:{server.port}/health", "Host: evil.com", token
        ),
        "two lengths": request(
            "POST", "/agents", host, token, "Content-Length: 2", "Content-Length: 3", body=b"{} "
        ),
        "length below zero": request("POST", "/agents", host, token, "Content-Length: -1"),
        "length no number": request("POST", "/agents", host, token, "Content-Length: ten"),
        "length too long": request("POST", "/agents", host, token, "Content-Length: 9" + "9" * 30),
        "length over the limit": request("POST", "/agents", host, token, "Content-Length: 1000001"),
        "expects to go on": request(
            "POST", "/agents", host, token, "Expect: 100-continue", "Content-Length: 1000001"
        ),
        "coding unknown": request("POST", "/agents", host, token, "Transfer-Encoding: xchunked"),
        "coding twice": request(
            "POST", "/agents", host, token, chunked, chunked, body=b"0\r\n\r\n"
        ),
        "chunk no number": request("POST", "/agents", host, token, chunked, body=b"ZZ\r\nx\r\n"),
        "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600,
        "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "raw bytes in the path": request("GET", "/agents/\xff", host, token),
        "a header without a name": request("GET", "/health", host, token, ": x"),
        "a space before the colon": request("GET", "/health", "Host : x", host, token),
        "a folded header": request("GET", "/health", "Host:", " evil.com", token),
    }


ODD = tuple(odd_requests(LoggedServer(1, Path(), 0)))


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_request_is_answered_with_400_to_413_and_little_else(
    server: LoggedServer, name: str
) -> None:
    answer = send_raw(server.port, odd_requests(server)[name])

    assert answer is not None
    assert answer.status in (400, 403, 413, 422)
    assert len(answer.body) < 1_000
    assert b"/" + b"src" not in answer.body
    assert server.ask("GET", "/health").status == 200


@pytest.mark.parametrize(
    "target",
    [
        "/agents/%2e%2e",
        "/agents/%2e%2e%2fhealth",
        "/agents/../health",
        "/agents/./..",
        "//health",
        "/agents/%00",
        "/agents/%0d%0aX:%20y",
        "/agents/%2F",
        "/agents/%2f%2F",
        "/agents/a%2Fb%2F..%2F..%2Fetc",
        "/agents/%c0%af",
        "/agents/%ff%fe",
        "/agents/%ff%2f",
        "/agents/%ed%a0%80",
        "/agents/%",
        "/agents/%2",
        "/agents/%zz",
        "/agents/%1F",
        "/agents/%1E",
        "/agents/" + "%F0%9F%A6%80" * 1_000,
        "/agents/" + "a" * 60_000,
        "/agents/" + "%2F" * 15_000,
        "/" + "a/" * 30_000,
        "/agents/x;y=z",
        "/agents/x?" + "a=b&" * 10_000,
        "/api/memories?tags=%ff&since=%00",
        "/api/memories?offset=99999999999999999999999",
        "*",
        "health",
        "/\\..\\..\\etc",
    ],
)
def test_tricks_with_paths_lead_nowhere(server: LoggedServer, target: str) -> None:
    answer = server.ask("GET", target)

    assert answer.status in (400, 404, 405, 422), answer
    assert answer.problem["detail"]
    assert b"/tmp" not in answer.body


def test_headers_that_arrive_in_parts_and_are_too_large_get_a_problem(server: LoggedServer) -> None:
    whole = request("GET", "/" + "a/" * 30_000, "Host: 127.0.0.1")

    answer = send_raw(server.port, whole[:20_000])

    assert answer is not None
    assert answer.status == 400
    assert "too long" in answer.problem["detail"]


@pytest.mark.parametrize("target", ["/health/", "/agents//", "/api/agents/"])
def test_a_slash_too_many_is_another_address_and_no_way_elsewhere(
    server: LoggedServer, target: str
) -> None:
    answer = server.ask("GET", target)

    assert answer.status == 404
    assert answer.problem["detail"]


def test_a_refusal_does_not_repeat_a_long_name(server: LoggedServer) -> None:
    answer = server.ask("GET", "/agents/" + "a" * 60_000)

    assert len(answer.body) < 2_000


def test_a_body_that_goes_on_for_ever_is_cut_off(server: LoggedServer) -> None:
    lines = (server.host, f"Authorization: Bearer {TOKEN}", "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"

    answer = send_raw(server.port, request("POST", "/agents", *lines), *([chunk] * 40))

    assert answer is None or answer.problem["error"] == "TooLarge"
    assert server.ask("GET", "/health").status == 200


def test_bodies_that_never_end_do_not_keep_others_waiting(server: LoggedServer) -> None:
    head = (server.host, f"Authorization: Bearer {TOKEN}", "Content-Length: 1000")
    targets = ("/agents", "/messages", "/api/memories", "/api/drain")
    with ExitStack() as open_ones:
        for number in range(120):
            one = socket.create_connection(("127.0.0.1", server.port), 60)
            open_ones.enter_context(one)
            one.sendall(request("POST", targets[number % 4], *head, body=b'{"name'))
        started = time.monotonic()
        for _ in range(5):
            assert server.ask("GET", "/health").status == 200
            assert server.ask("POST", "/agents", body=b'{"name": "ada"}').status == 200

        # One that waits for its turn behind those bodies waits for ever.
        assert time.monotonic() - started < 30
    assert server.ask("GET", "/health").status == 200


def test_a_length_that_lies_is_a_request_that_never_came(server: LoggedServer) -> None:
    head = (server.host, f"Authorization: Bearer {TOKEN}", "Content-Length: 500")
    with socket.create_connection(("127.0.0.1", server.port), 60) as short:
        short.sendall(request("POST", "/agents", *head, body=b'{"name": "never"}'))
        short.shutdown(socket.SHUT_WR)
        short.recv(10_000)

    assert server.ask("GET", "/agents/never").status == 404


def test_floods_of_headers_do_no_harm(server: LoggedServer) -> None:
    many = [f"X-{number}: y" for number in range(20_000)]
    large = "X: " + "y" * 2_000_000

    for lines in (many, [large]):
        head = (server.host, f"Authorization: Bearer {TOKEN}")
        answer = send_raw(server.port, request("GET", "/health", *head, *lines))
        assert answer is None or answer.status in (200, 400, 431)

    assert server.ask("GET", "/health").status == 200


@pytest.mark.parametrize("asked", ["bytes=zz", "bytes=99999999-", "lines=1-2", "bytes=5-1"])
def test_an_export_does_not_come_in_parts_and_leaves_no_folder(
    server: LoggedServer, asked: str
) -> None:
    answer = server.ask("GET", "/api/export", f"Range: {asked}")

    assert becomes_empty(server.log.parent / "temporary")
    assert answer.status == 200 or answer.problem


def test_only_health_tells_where_the_store_is(server: LoggedServer, paths: list[str]) -> None:
    folder = str(server.log.parent)

    seen = [path for path in paths if folder in server.ask("GET", path).body.decode("latin-1")]

    assert seen in (["/health"], ["/health", "/api/status"])


def test_more_requests_than_allowed_are_told_to_wait(tmp_path: Path) -> None:
    env = without_embedder(RECOLLECT_REQUESTS_PER_SECOND="5")
    with run_server(tmp_path / "memory.db", env=env, log=tmp_path / "log") as served:
        raw = request("GET", "/health", f"Host: 127.0.0.1:{served.port}")
        answers = [send_raw(served.port, raw) for _ in range(12)]

    refused: list[Any] = [one for one in answers if one is not None and one.status == 429]
    assert 1 <= len(refused) <= 7
    assert int(refused[0].headers["retry-after"]) >= 1
    error = error_from_problem(refused[0].problem, 429)
    assert isinstance(error, TooManyRequests)
    assert error.retry_after_s
    assert 0 < error.retry_after_s <= 1


def test_pages_of_elsewhere_do_not_use_up_the_requests_of_this_machine(tmp_path: Path) -> None:
    env = without_embedder(RECOLLECT_REQUESTS_PER_SECOND="5")
    with run_server(tmp_path / "memory.db", env=env, log=tmp_path / "log") as served:
        host = f"Host: 127.0.0.1:{served.port}"
        for _ in range(20):
            send_raw(served.port, request("GET", "/health", host, "Origin: http://evil.com"))
        answer = send_raw(served.port, request("GET", "/health", host))

    assert answer is not None
    assert answer.status == 200
