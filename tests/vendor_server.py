"""
A server on this machine that speaks as OpenAI and Anthropic do, for tests with their own packages.

    with vendor_server() as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key="test")
        server.script(Answer(calls=[Call("weather", {"city": "Bern"})]), Answer(text="Sunny."))

It answers `POST …/chat/completions`, `…/responses` and `…/messages`, plainly or as a stream. Each
request takes the next scripted answer; without one it gets the default of vendor_answers.py, which
depends on the caller's last user message alone. A request that a vendor would refuse is refused
(vendor_rules.py), and takes none. This file knows HTTP: connections that stay open, chunks, gzip,
answers that wait or break off. A fault of its own is raised where the block ends.
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

from chat_server import SSE, Request, served
from vendor_answers import (
    OVERLOADED,
    Answer,
    Body,
    Call,
    Dialect,
    completed,
    default_text,
    error_body,
    fingerprint,
    plain_body,
)
from vendor_rules import Fault, Refused, check
from vendor_streams import cut, encoded, error_event, events
from vendor_threads import Threads

__all__ = ["OVERLOADED", "Answer", "Asked", "Call", "VendorServer", "default_text", "vendor_server"]

_PATHS: Mapping[str, Dialect] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
}
_DATE = "Thu, 01 Jan 2026 00:00:00 GMT"  # fixed, so that the heads of equal answers are equal


@dataclass(frozen=True)
class Asked(Request):
    """What reached the server. Names of headers are in lower case."""

    raw: bytes
    connection: int  # the caller's port: the same for requests over one connection


class VendorServer:
    """Where the server is, what it was asked and what it answers next."""

    def __init__(self, url: str) -> None:
        self.openai_url = f"{url}/v1"
        self.anthropic_url = url
        # OpenAI gives `instructions` back in a response. Off, since they hold what an interceptor
        # adds, and a call with it could not be compared with a bare one.
        self.echoes_instructions = False
        self.threads = Threads()
        self._asked: list[Asked] = []
        self._script: deque[Answer] = deque()
        self._otherwise = Answer()
        self._arrived = threading.Condition()
        self._go = threading.Event()

    @property
    def asked(self) -> list[Asked]:
        """What has been asked so far, in order."""
        with self._arrived:
            return list(self._asked)

    def forget(self) -> None:
        """Keep nothing of what was asked so far."""
        with self._arrived:
            self._asked.clear()

    def script(self, *answers: Answer) -> None:
        """Give *answers* to the next requests, one each, after those scripted before."""
        with self._arrived:
            self._script.extend(answers)

    def always(self, answer: Answer) -> None:
        """Give *answer* whenever nothing is scripted."""
        with self._arrived:
            self._otherwise = answer

    def until_asked(self, count: int, *, within_s: float = 60.0) -> list[Asked]:
        """Wait until *count* requests have arrived, and return all."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._asked) >= count, within_s):
                raise TimeoutError(f"{len(self._asked)} of {count} requests in {within_s} s")
            return list(self._asked)

    def release(self) -> None:
        """Let answers with `hold_after` go on, now and from now on."""
        self._go.set()

    def hold(self) -> None:
        """Wait for `release` or the end of the server."""
        self._go.wait()

    def note(self, asked: Asked) -> None:
        """Keep what has arrived."""
        with self._arrived:
            self._asked.append(asked)
            self._arrived.notify_all()

    def next_answer(self) -> Answer:
        """Take the answer of the next request."""
        with self._arrived:
            return self._script.popleft() if self._script else self._otherwise


@contextmanager
def vendor_server() -> Iterator[VendorServer]:
    """Serve on a free port until the block ends."""
    with _Listening(("127.0.0.1", 0), _Handler) as listening, served(listening) as url:
        vendor = listening.vendor = VendorServer(url)
        try:
            yield vendor
        finally:
            vendor.release()
    if listening.fault is not None:
        raise listening.fault


class _Listening(ThreadingHTTPServer):
    daemon_threads = False  # so that the end waits for them
    request_queue_size = 128
    vendor: VendorServer
    fault: BaseException | None = None

    def __init__(self, *where: Any) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(*where)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def server_close(self) -> None:
        """Hang up on callers that keep their connection open, for their threads wait on it."""
        for connection in self._connections:
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # who asked may hang up whenever it likes
            self.fault = error


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listening

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
        vendor.note(Asked(self.path, headers, body, raw, self.client_address[1]))

        path, _, query = self.path.partition("?")
        dialect = next((said for end, said in _PATHS.items() if path.endswith(end)), None)
        if dialect is None or self.command != "POST":
            spoken: Dialect = "messages" if "anthropic-version" in headers else "chat"
            self._fail(spoken, Fault(404, f"Invalid URL ({self.command} {path})"))
            return
        try:
            whole = vendor.threads.whole(body) if dialect == "messages" else body
            check(dialect, headers, whole)
        except Refused as refused:
            self._fail(dialect, refused.fault)
            return
        beta = "beta=true" in query or "anthropic-beta" in headers
        self._say(vendor.next_answer(), dialect, whole, beta=beta)

    def _say(self, answer: Answer, dialect: Dialect, asked: Body, *, beta: bool) -> None:
        vendor = self.server.vendor
        streams = bool(asked.get("stream"))
        if answer.hold_after == 0 or (answer.hold_after and not streams):
            vendor.hold()
        if answer.status >= 400:
            self._fail(dialect, Fault(answer.status, ""), retry_after=answer.retry_after)
            return
        answer = completed(answer, dialect, asked)
        body = plain_body(answer, dialect, asked, beta=beta)
        if dialect == "responses" and vendor.echoes_instructions:
            body["instructions"] = asked.get("instructions")
        if dialect == "messages":
            vendor.threads.keep(asked, body)
        mark = fingerprint(answer, dialect, asked)
        if streams:
            told = [encoded(event) for event in events(body, dialect, asked)]
            if answer.error_after is not None:
                told = told[: answer.error_after]
                told.append(encoded(error_event(dialect, answer.error_after)))
            self._stream(told, answer, dialect, mark)
        else:
            self._send(body, answer, dialect, mark)

    def _fail(self, dialect: Dialect, why: Fault, *, retry_after: int | None = None) -> None:
        overloaded = why.status == OVERLOADED and dialect != "messages"
        status = 503 if overloaded else why.status
        body = error_body(dialect, status, why.message or None, code=why.code)
        if dialect == "messages":
            body["request_id"] = f"req_{status}"
        more = {} if retry_after is None else {"retry-after": str(retry_after)}
        self._send(body, Answer(status=status), dialect, str(status), more)

    def _send(
        self, body: Body, answer: Answer, dialect: Dialect, mark: str, more: Body | None = None
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

    def _stream(self, told: Sequence[bytes], answer: Answer, dialect: Dialect, mark: str) -> None:
        self._head(answer, dialect, mark, SSE | {"transfer-encoding": "chunked"})
        squeezed = zlib.compressobj(wbits=_GZIP) if answer.gzip else None
        for number, event in enumerate(told):
            if number == answer.break_after:
                self.close_connection = True
                return
            if number and number == answer.hold_after:
                self.server.vendor.hold()
            for piece in cut(event):
                if squeezed:
                    packed = squeezed.compress(piece) + squeezed.flush(zlib.Z_SYNC_FLUSH)
                    self._chunk(packed)
                else:
                    self._chunk(piece)
        if squeezed:
            self._chunk(squeezed.flush())
        self._chunk(b"")

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def _head(self, answer: Answer, dialect: Dialect, mark: str, more: Mapping[str, str]) -> None:
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
        """Say nothing."""


_GZIP = 31  # zlib's number for gzip at full window
