"""Send raw bytes as HTTP requests, for requests that no client would send; parse the responses."""

import json
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RawResponse:
    """A response: status, headers by lower-case name, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> Any:
        """The body, which must be a problem."""
        assert self.headers.get("content-type") == "application/problem+json", self
        problem = json.loads(self.body)
        assert problem["status"] == self.status
        assert {"type", "title", "detail", "error"} <= problem.keys()
        return problem


def request(
    method: str, target: str, *lines: str, body: bytes = b"", version: str = "HTTP/1.1"
) -> bytes:
    """Return the bytes of a request with exactly these header lines."""
    head = "\r\n".join([f"{method} {target} {version}", *lines])
    return head.encode() + b"\r\n\r\n" + body


def send_raw(port: int, *pieces: bytes, timeout_s: float = 60.0) -> RawResponse | None:
    """Send bytes; return the first response, or None if the connection closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout_s) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
        except ConnectionError:
            pass  # refused while we were still sending; there may be a response anyway
        return _read(connection)


def _read(connection: socket.socket) -> RawResponse | None:
    raw = b""
    try:
        while not _is_whole(raw):
            piece = connection.recv(65_536)
            if not piece:
                break
            raw += piece
    except ConnectionError:
        pass
    if not raw:
        return None
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = _headers(rest)
    if "content-length" in headers:
        body = body[: int(headers["content-length"])]
    return RawResponse(int(first.split()[1]), headers, body)


def _is_whole(raw: bytes) -> bool:
    head, end, body = raw.partition(b"\r\n\r\n")
    if not end:
        return False
    headers = _headers(head.decode("latin-1").split("\r\n")[1:])
    if "content-length" in headers:
        return len(body) >= int(headers["content-length"])
    return body.endswith(b"0\r\n\r\n")


def _headers(lines: Iterable[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def becomes_empty(folder: Path) -> bool:
    """Return whether *folder* becomes empty within a minute."""
    end = time.monotonic() + 60
    while list(folder.iterdir()):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
