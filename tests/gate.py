"""
A gate in front of a memory server, through which a test decides what becomes of each request.

    with gate(url) as before:
        before.does(lose_answer)   # the server does the work, the answer never arrives
        before.does(answer(500))   # the server is not asked at all
        before.shut()              # nobody listens; `open()` listens again on the same port

It forwards HTTP as it comes and keeps what passed in `asked`. It knows nothing of memory.
"""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Doing = Callable[["_Handler", bytes], None]


class Gate:
    """Where the gate is, and what it does with those who knock."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.asked: list[str] = []
        self.ended = threading.Event()  # ends every wait of those who hang
        self._doing: Doing = forward
        self._only: str = ""
        self._listening: _Listening | None = None
        self._port = 0
        self.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def does(self, doing: Doing, *, only: str = "") -> None:
        """Do this with requests from now on; with *only*, to those whose path has it in it."""
        self._doing, self._only = doing, only

    def doing(self, path: str) -> Doing:
        return self._doing if self._only in path else forward

    def open(self) -> None:
        """Listen, on the same port as before."""
        self._listening = _Listening(("127.0.0.1", self._port), _Handler)
        self._listening.gate = self
        self._port = self._listening.server_address[1]
        threading.Thread(
            target=self._listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def let_go(self) -> None:
        """Listen, whatever was before, and let those go who hang."""
        self.ended.set()
        if self._listening is None:
            self.open()

    def shut(self) -> None:
        """Hang up on everybody and listen no more, as if the server was killed."""
        if self._listening is not None:
            self._listening.shutdown()
            self._listening.hang_up()
            self._listening.server_close()
            self._listening = None


@contextmanager
def gate(upstream: str) -> Iterator[Gate]:
    """Stand before the server at *upstream* inside the block."""
    standing = Gate(upstream)
    try:
        yield standing
    finally:
        standing.ended.set()
        standing.shut()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    gate: Gate

    def __init__(self, *where: Any) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(*where)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def hang_up(self) -> None:
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: those who hang up are part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listening

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        standing = self.server.gate
        standing.asked.append(f"{self.command} {self.path}")
        standing.doing(self.path)(self, body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _pass

    def fetched(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Ask the server behind; return its answer."""
        host = self.server.gate.upstream.removeprefix("http://")
        behind = http.client.HTTPConnection(host, timeout=60)
        try:
            behind.request(self.command, self.path, body, dict(self.headers.items()))
            told = behind.getresponse()
            return told.status, dict(told.getheaders()), told.read()
        finally:
            behind.close()

    def tell(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


# What a gate may do


def forward(knock: _Handler, body: bytes) -> None:
    """Let the request through and the answer back."""
    try:
        told = knock.fetched(body)
    except OSError:
        knock.drop()
        return
    knock.tell(*told)


def hang(knock: _Handler, body: bytes) -> None:
    """Take the request and never answer."""
    knock.server.gate.ended.wait()
    knock.drop()


def lose_answer(knock: _Handler, body: bytes) -> None:
    """Let the server do the work, then hang up."""
    knock.fetched(body)
    knock.drop()


def answer(status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> Doing:
    """Return what answers in the server's place."""

    def doing(knock: _Handler, _: bytes) -> None:
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        knock.tell(status, {"content-type": kind, **more}, body)

    return doing


def drip(every_s: float) -> Doing:
    """Return what forwards, and gives the answer back one byte at a time."""

    def doing(knock: _Handler, body: bytes) -> None:
        status, headers, told = knock.fetched(body)
        knock.send_response_only(status)
        knock.send_header("content-type", headers.get("content-type", "application/json"))
        knock.send_header("content-length", str(len(told)))
        knock.end_headers()
        for at in range(len(told)):
            if knock.server.gate.ended.wait(every_s):
                return
            knock.wfile.write(told[at : at + 1])

    return doing


def late(by_s: float) -> Doing:
    """Return what forwards after a while."""

    def doing(knock: _Handler, body: bytes) -> None:
        if not knock.server.gate.ended.wait(by_s):
            forward(knock, body)

    return doing


def times(count: int, first: Doing, then: Doing = forward) -> Doing:
    """Return what does *first* so many times, and *then* after that."""
    left = [count]
    lock = threading.Lock()

    def doing(knock: _Handler, body: bytes) -> None:
        with lock:
            left[0] -= 1
            chosen = first if left[0] >= 0 else then
        chosen(knock, body)

    return doing


def until(true: Callable[[], Any], *, within_s: float = 60.0) -> bool:
    """Wait until *true*; say whether it became so in time."""
    end = time.monotonic() + within_s
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
