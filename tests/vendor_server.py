"""
A local server with the APIs of OpenAI and Anthropic, for tests with their packages.

    with vendor_server() as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key="test")
        server.script(ScriptedResponse(text="Sunny."))

It handles `POST …/chat/completions`, `…/responses` and `…/messages`, with and without streams. Each
request takes the next scripted response; without one it gets the default of vendor_responses.py,
which depends only on the last user message. A request that a vendor would refuse is refused
(vendor_rules.py) and takes no scripted response. This file does the HTTP: keep-alive, chunks, gzip,
responses that wait or break. An error of the server itself is raised at the end of the block.
"""

import json
import socket
import sys
import threading
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chat_server import SSE, ChatRequest, run_http_server
from vendor_responses import (
    OVERLOADED,
    Body,
    Dialect,
    ScriptedCall,
    ScriptedResponse,
    default_text,
    error_body,
    fingerprint,
    response_body,
    with_default_text,
)
from vendor_rules import RuleViolation, VendorRefusal, check_request
from vendor_streams import encode_event, error_event, split_inside_character, stream_events
from vendor_threads import StoredThreads

__all__ = [
    "OVERLOADED",
    "ScriptedCall",
    "ScriptedResponse",
    "VendorRequest",
    "VendorServer",
    "default_text",
    "vendor_server",
]

_PATHS: Mapping[str, Dialect] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
}
_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"  # fixed, so that the heads of equal answers are equal


@dataclass(frozen=True)
class VendorRequest(ChatRequest):
    """A received request. Header names are in lower case."""

    raw: bytes
    connection: int  # the caller's port: the same for requests over one connection


class VendorServer:
    """The URLs of the server, the received requests and the scripted responses."""

    def __init__(self, url: str) -> None:
        self.openai_url = f"{url}/v1"
        self.anthropic_url = url
        # OpenAI gives `instructions` back in a response. Off, since they hold what an interceptor
        # adds, and a call with it could not be compared with a bare one.
        self.echoes_instructions = False
        self.threads = StoredThreads()
        self._requests: list[VendorRequest] = []
        self._script: deque[ScriptedResponse] = deque()
        self._default = ScriptedResponse()
        self._arrived = threading.Condition()
        self._go = threading.Event()

    @property
    def requests(self) -> list[VendorRequest]:
        """The requests received so far, in order."""
        with self._arrived:
            return list(self._requests)

    def clear_requests(self) -> None:
        """Forget the received requests."""
        with self._arrived:
            self._requests.clear()

    def script(self, *answers: ScriptedResponse) -> None:
        """Respond to the next requests with *answers*, after those scripted before."""
        with self._arrived:
            self._script.extend(answers)

    def set_default(self, answer: ScriptedResponse) -> None:
        """Respond with *answer* if nothing is scripted."""
        with self._arrived:
            self._default = answer

    def wait_for_requests(self, count: int, *, within_s: float = 60.0) -> list[VendorRequest]:
        """Wait until *count* requests have arrived, and return all of them."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._requests) >= count, within_s):
                raise TimeoutError(f"{len(self._requests)} of {count} requests in {within_s} s")
            return list(self._requests)

    def release(self) -> None:
        """Continue responses with `hold_after`, now and from now on."""
        self._go.set()

    def hold(self) -> None:
        """Wait for `release` or the end of the server."""
        self._go.wait()

    def add_request(self, request: VendorRequest) -> None:
        """Add a received request."""
        with self._arrived:
            self._requests.append(request)
            self._arrived.notify_all()

    def next_response(self) -> ScriptedResponse:
        """Take the response for the next request."""
        with self._arrived:
            return self._script.popleft() if self._script else self._default


@contextmanager
def vendor_server() -> Iterator[VendorServer]:
    """Serve on a free port until the block ends."""
    with (
        _VendorHttpServer(("127.0.0.1", 0), _VendorHandler) as listening,
        run_http_server(listening) as url,
    ):
        vendor = listening.vendor = VendorServer(url)
        try:
            yield vendor
        finally:
            vendor.release()
    if listening.error is not None:
        raise listening.error


class _VendorHttpServer(ThreadingHTTPServer):
    daemon_threads = False  # so that the end waits for them
    request_queue_size = 128
    vendor: VendorServer
    error: BaseException | None = None

    def __init__(self, *where: Any) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(*where)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def server_close(self) -> None:
        """Close open connections, because their threads wait for the next request."""
        for connection in self._connections:
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # the client may disconnect at any time
            self.error = error


class _VendorHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _VendorHttpServer

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._reply()

    def _reply(self) -> None:
        vendor = self.server.vendor
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        vendor.add_request(VendorRequest(self.path, headers, body, raw, self.client_address[1]))

        path, _, query = self.path.partition("?")
        dialect = next((spoken for end, spoken in _PATHS.items() if path.endswith(end)), None)
        if dialect is None or self.command != "POST":
            assumed: Dialect = "messages" if "anthropic-version" in headers else "chat"
            self._send_error(assumed, RuleViolation(404, f"Invalid URL ({self.command} {path})"))
            return
        try:
            whole = vendor.threads.with_history(body) if dialect == "messages" else body
            check_request(dialect, headers, whole)
        except VendorRefusal as refused:
            self._send_error(dialect, refused.violation)
            return
        beta = "beta=true" in query or "anthropic-beta" in headers
        self._respond(vendor.next_response(), dialect, whole, beta=beta)

    def _respond(
        self, answer: ScriptedResponse, dialect: Dialect, request: Body, *, beta: bool
    ) -> None:
        vendor = self.server.vendor
        streams = bool(request.get("stream"))
        if answer.hold_after == 0 or (answer.hold_after and not streams):
            vendor.hold()
        if answer.status >= 400:
            self._send_error(
                dialect,
                RuleViolation(answer.status, answer.error_text),
                retry_after=answer.retry_after,
            )
            return
        answer = with_default_text(answer, dialect, request)
        body = response_body(answer, dialect, request, beta=beta)
        if dialect == "responses" and vendor.echoes_instructions:
            body["instructions"] = request.get("instructions")
        if dialect == "messages":
            vendor.threads.store(request, body)
        mark = fingerprint(answer, dialect, request)
        if streams:
            chunks = [encode_event(event) for event in stream_events(body, dialect, request)]
            if answer.error_after is not None:
                chunks = chunks[: answer.error_after]
                chunks.append(encode_event(error_event(dialect, answer.error_after)))
            self._stream(chunks, answer, dialect, mark)
        else:
            self._send(body, answer, dialect, mark)

    def _send_error(
        self, dialect: Dialect, violation: RuleViolation, *, retry_after: int | None = None
    ) -> None:
        overloaded = violation.status == OVERLOADED and dialect != "messages"
        status = 503 if overloaded else violation.status
        body = error_body(dialect, status, violation.message or None, code=violation.code)
        if dialect == "messages":
            body["request_id"] = f"req_{status}"
        more = {} if retry_after is None else {"retry-after": str(retry_after)}
        self._send(body, ScriptedResponse(status=status), dialect, str(status), more)

    def _send(
        self,
        body: Body,
        answer: ScriptedResponse,
        dialect: Dialect,
        mark: str,
        more: Body | None = None,
    ) -> None:
        whole = json.dumps(body, ensure_ascii=False).encode()
        if answer.gzip:
            whole = zlib.compress(whole, wbits=_GZIP)
        length = {"content-type": "application/json", "content-length": str(len(whole))}
        self._head(answer, dialect, mark, length | dict(more or {}))
        if answer.break_after is not None:
            whole = whole[: len(whole) // 2]
            self.close_connection = True
        self.wfile.write(whole)

    def _stream(
        self, chunks: Sequence[bytes], answer: ScriptedResponse, dialect: Dialect, mark: str
    ) -> None:
        self._head(answer, dialect, mark, SSE | {"transfer-encoding": "chunked"})
        compressor = zlib.compressobj(wbits=_GZIP) if answer.gzip else None
        for number, event in enumerate(chunks):
            if number == answer.break_after:
                self.close_connection = True
                return
            if number and number == answer.hold_after:
                self.server.vendor.hold()
            pieces = split_inside_character(event)
            if answer.byte_by_byte:
                pieces = [event[place : place + 1] for place in range(len(event))]
            for piece in pieces:
                if compressor:
                    compressed = compressor.compress(piece) + compressor.flush(zlib.Z_SYNC_FLUSH)
                    self._chunk(compressed)
                else:
                    self._chunk(piece)
        if compressor:
            self._chunk(compressor.flush())
        self._chunk(b"")

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def _head(
        self, answer: ScriptedResponse, dialect: Dialect, mark: str, more: Mapping[str, str]
    ) -> None:
        anthropic = dialect == "messages"
        self.send_response_only(answer.status)
        headers = {"date": _DATE, "request-id" if anthropic else "x-request-id": f"req_{mark}"}
        headers |= (
            {"anthropic-organization-id": "org"} if anthropic else {"openai-version": "2020-10-01"}
        )
        headers |= {"content-encoding": "gzip"} if answer.gzip else {}
        for name, value in (headers | dict(more)).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log."""


_GZIP = 31  # zlib's number for gzip at full window
