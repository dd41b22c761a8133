"""
An HTTP proxy in front of a memory server that can delay, drop or replace answers.

    with fault_proxy(url) as proxy:
        proxy.set_behavior(lose_answer)  # the server does the work, the answer never arrives
        proxy.set_behavior(answer(500))  # the server is not asked at all
        proxy.stop_listening()           # `listen()` listens again on the same port

It records the requests in `requests`.
"""

import http.client
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behavior = Callable[["_ProxyHandler", bytes], None]


class FaultProxy:
    """A proxy whose behavior a test can change at any time."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.requests: list[str] = []
        self.bugs: list[BaseException] = []  # of behaviors
        self.ended = threading.Event()  # set at the end, to release waiting handlers
        self._behavior: Behavior = forward
        self._only: str = ""
        self._server: _ProxyServer | None = None
        self._port = 0
        self.listen()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def set_behavior(self, behavior: Behavior, *, only: str = "") -> None:
        """Handle requests with *behavior*; *only*: just those whose path contains it."""
        self._behavior, self._only = behavior, only

    def behavior_for(self, path: str) -> Behavior:
        return self._behavior if self._only in path else forward

    def listen(self) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = _ProxyServer(("127.0.0.1", self._port), _ProxyHandler)
        self._server.proxy = self
        self._port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()

    def release(self) -> None:
        """Release waiting handlers, and listen if the proxy does not."""
        self.ended.set()
        if self._server is None:
            self.listen()

    def stop_listening(self) -> None:
        """Close all connections and stop listening, as if the server was killed."""
        if self._server is not None:
            self._server.shutdown()
            self._server.close_connections()
            self._server.server_close()
            self._server = None


@contextmanager
def fault_proxy(upstream: str) -> Iterator[FaultProxy]:
    """Run a proxy for the server at *upstream* inside the block."""
    proxy = FaultProxy(upstream)
    try:
        yield proxy
    finally:
        proxy.ended.set()
        proxy.stop_listening()
    assert not proxy.bugs, proxy.bugs


class _ProxyServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    proxy: FaultProxy

    def __init__(self, *arguments: Any) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(*arguments)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def close_connections(self) -> None:
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing: dropped connections are part of the test. Report bugs of a behavior."""
        error = sys.exception()
        if isinstance(error, AttributeError | TypeError | NameError):
            self.proxy.bugs.append(error)


class _ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _ProxyServer

    def _pass(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client died; the server behind would wait for the rest of the body
        proxy = self.server.proxy
        proxy.requests.append(f"{self.command} {self.path}")
        proxy.behavior_for(self.path)(self, body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _pass

    def forward_request(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Forward the request; return status, headers and body of the answer."""
        host = self.server.proxy.upstream.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=60)
        try:
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def send_answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop_connection(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


# Behaviors


def forward(handler: _ProxyHandler, body: bytes) -> None:
    """Forward the request and the answer."""
    try:
        response = handler.forward_request(body)
    except OSError:
        handler.drop_connection()
        return
    handler.send_answer(*response)


def never_answer(handler: _ProxyHandler, body: bytes) -> None:
    """Accept the request and never answer."""
    handler.server.proxy.ended.wait()
    handler.drop_connection()


def lose_answer(handler: _ProxyHandler, body: bytes) -> None:
    """Forward the request, then drop the connection instead of answering."""
    handler.forward_request(body)
    handler.drop_connection()


def answer(
    status: int, body: bytes = b"", kind: str = "application/json", **headers: str
) -> Behavior:
    """Return a behavior that answers without asking the server."""

    def behavior(handler: _ProxyHandler, _: bytes) -> None:
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        handler.send_answer(status, {"content-type": kind, **more}, body)

    return behavior


def answer_slowly(every_s: float) -> Behavior:
    """Return a behavior that forwards, and sends the answer one byte at a time."""

    def behavior(handler: _ProxyHandler, body: bytes) -> None:
        status, headers, response = handler.forward_request(body)
        handler.send_response_only(status)
        handler.send_header("content-type", headers.get("content-type", "application/json"))
        handler.send_header("content-length", str(len(response)))
        handler.end_headers()
        for index in range(len(response)):
            if handler.server.proxy.ended.wait(every_s):
                return
            handler.wfile.write(response[index : index + 1])

    return behavior


def forward_after(by_s: float) -> Behavior:
    """Return a behavior that forwards after a delay."""

    def behavior(handler: _ProxyHandler, body: bytes) -> None:
        if not handler.server.proxy.ended.wait(by_s):
            forward(handler, body)

    return behavior


def first_times(count: int, first: Behavior, then: Behavior = forward) -> Behavior:
    """Return a behavior that does *first* *count* times, and *then* after that."""
    left = [count]
    lock = threading.Lock()

    def behavior(handler: _ProxyHandler, body: bytes) -> None:
        with lock:
            left[0] -= 1
            current = first if left[0] >= 0 else then
        current(handler, body)

    return behavior


def wait_until(condition: Callable[[], Any], *, within_s: float = 60.0) -> bool:
    """Wait until *condition* returns true; return whether it did in time."""
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
