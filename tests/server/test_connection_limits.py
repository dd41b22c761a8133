"""Half-sent requests time out, connections are limited, and `/health` answers while all is busy."""

import json
import logging
import resource
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from fault_proxy import wait_until
from raw_http import RawResponse, request, send_raw
from recollect.server.log_rate_limit import MAX_REPEATS, PERIOD_S, RepeatedLogFilter
from server_process import ServerProcess, run_server, without_embedder

pytestmark = pytest.mark.door

HOST = "host: 127.0.0.1"
TIMEOUT_S = 1.0
SLACK_S = 8.0  # for a machine that has other things to do
MAX_CONNECTIONS = 60
LIMITS = {
    "RECOLLECT_HEADER_TIMEOUT_S": "1",
    "RECOLLECT_BODY_TIMEOUT_S": "1",
    "RECOLLECT_MAX_CONNECTIONS": str(MAX_CONNECTIONS),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with short timeouts."""
    db = tmp_path_factory.mktemp("limits") / "memory.db"
    with run_server(db, env=without_embedder(**LIMITS)) as server:
        yield server


def connect(server: ServerProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), 60)


def ask_health(server: ServerProcess) -> RawResponse:
    start = time.monotonic()
    response = send_raw(server.port, request("GET", "/health", HOST), timeout_s=20)
    assert response is not None
    assert time.monotonic() - start < SLACK_S
    return response


def seconds_until_closed(connection: socket.socket, drip: bytes) -> tuple[float, bytes]:
    """Send *drip* again and again until the server closes; return how long that took."""
    start = time.monotonic()
    connection.settimeout(0.1)
    received = b""
    with suppress(ConnectionError):
        while time.monotonic() - start < 20:
            try:
                piece = connection.recv(65_536)
            except TimeoutError:
                connection.sendall(drip)
                continue
            received += piece
            if not piece:
                break
    return time.monotonic() - start, received


BODY_HEAD = request("POST", "/agents", HOST, "content-type: application/json", "content-length: 99")
WHOLE = request("GET", "/health", HOST)
HALVES = {
    "nothing": (b"", b""),
    "half of the first line": (b"GET /hea", b"l"),
    "headers that never end": (b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n", b"x: y\r\n"),
    "a body that stops": (BODY_HEAD + b'{"name": ', b""),
    "a body that drips": (BODY_HEAD + b'{"name": ', b" "),
    "a body that nobody wants": (BODY_HEAD.replace(b"127.0.0.1", b"evil.example"), b" "),
    "a second request that stops": (WHOLE + b"GET /hea", b""),
    "a second request that drips": (WHOLE + b"GET /hea", b"l"),
}


@pytest.mark.door
def test_a_half_sent_request_is_closed_in_time_however_it_drips(served: ServerProcess) -> None:
    def send_half(name: str) -> tuple[float, bytes]:
        start, drip = HALVES[name]
        with connect(served) as connection:
            connection.sendall(start)
            return seconds_until_closed(connection, drip)

    with ThreadPoolExecutor(len(HALVES)) as pool:
        results = dict(zip(HALVES, pool.map(send_half, HALVES), strict=True))

    for name, (spent, received) in results.items():
        assert TIMEOUT_S - 0.5 < spent < TIMEOUT_S + SLACK_S, name
        if name != "a body that nobody wants":  # which has its response before it is complete
            assert b" 408 " in received, name
    assert ask_health(served).status == 200


@pytest.mark.door
def test_a_slow_upload_that_makes_progress_is_accepted(served: ServerProcess) -> None:
    body = json.dumps({"name": "slow"}).encode()
    length = 2_000 * 6 + len(body)
    head = request(
        "POST", "/agents", HOST, "content-type: application/json", f"content-length: {length}"
    )
    with connect(served) as connection:
        connection.sendall(head)
        for _ in range(6):
            time.sleep(0.4)  # twice the timeout in all
            connection.sendall(b" " * 2_000)
        connection.sendall(body)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")


@pytest.mark.door
def test_idle_connections_make_room_for_new_ones(served: ServerProcess) -> None:
    with ExitStack() as stack:
        for _ in range(3 * MAX_CONNECTIONS):
            connection = stack.enter_context(connect(served))
            connection.sendall(b"GET /hea")

        assert ask_health(served).status == 200


@contextmanager
def write_lock(db: Path) -> Iterator[None]:
    connection = apsw.Connection(str(db))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


@pytest.mark.door
def test_health_answers_while_every_thread_waits_for_the_store(served: ServerProcess) -> None:
    threads = 45  # more than the routes have
    with write_lock(served.db), ExitStack() as stack:
        for number in range(threads):
            body = json.dumps({"name": f"agent {number}"}).encode()
            lines = (HOST, "content-type: application/json", f"content-length: {len(body)}")
            waiting = stack.enter_context(connect(served))
            waiting.sendall(request("POST", "/agents", *lines, body=body))
        time.sleep(0.5)
        response = ask_health(served)

    assert response.status == 200
    assert json.loads(response.body)["database_path"] == str(served.db)


@pytest.mark.door
def test_at_the_limit_of_open_files_the_log_stays_small_and_the_server_recovers(
    tmp_path: Path,
) -> None:
    log = tmp_path / "server.log"
    with run_server(tmp_path / "memory.db", log=log) as server, ExitStack() as stack:
        ask_health(server)
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (60, hard))  # lower than at its start
        for _ in range(120):
            stack.enter_context(connect(server))
        assert wait_until(lambda: "accept" in log.read_text())
        time.sleep(1.2)  # another attempt to accept
        size = log.stat().st_size
        stack.close()

        assert size < 50_000
        assert wait_until(lambda: ask_health(server).status == 200)


@pytest.mark.door
def test_a_server_that_may_open_few_files_takes_fewer_connections(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with (
        run_server(tmp_path / "memory.db", log=log, max_files=128) as server,
        ExitStack() as stack,
    ):
        for _ in range(200):
            stack.enter_context(connect(server)).sendall(b"GET /hea")

        assert ask_health(server).status == 200
    assert "accept" not in log.read_text()


def test_a_message_that_repeats_is_logged_a_few_times_and_then_counted() -> None:
    now = 0.0
    limit = RepeatedLogFilter(clock=lambda: now)

    def log(message: str, level: int = logging.WARNING) -> str:
        record = logging.LogRecord("uvicorn.error", level, "", 0, message, (), None)
        return record.getMessage() if limit.filter(record) else ""

    first = [log("broken %") for _ in range(100)]
    other = log("other")
    now = PERIOD_S
    later = log("broken %")

    assert first == ["broken %"] * MAX_REPEATS + [""] * (100 - MAX_REPEATS)
    assert other == "other"
    assert later == f"broken % (and {100 - MAX_REPEATS} more like it since the last)"
    assert all(log("request", logging.INFO) for _ in range(100))
