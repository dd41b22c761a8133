"""
Send one POST request to a server and read the response before a deadline.

The HTTP client of the standard library takes longer to load than the whole request takes, and so
does the module `socket`. This is the minimum of HTTP/1.1 on `_socket`, which `socket` is built on:
one request per connection, closed after the response.
"""

import _socket
import time

TYPE_CHECKING = False  # not from typing, which is slow to load
if TYPE_CHECKING:
    from typing import Any

MAX_RESPONSE_BYTES = 1_000_000


class ServerUnreachable(Exception):
    """No server accepts connections at the address."""


class ServerTimeout(Exception):
    """The response did not arrive before the deadline."""


class InvalidServerResponse(Exception):
    """The response is incomplete, too large or not HTTP."""


def post_json(
    address: "tuple[str, int, bool]", path: str, body: bytes, *, token: str, deadline: float
) -> "tuple[int, bytes]":
    """Return status and body of the response. *deadline* is a monotonic time."""
    host, port, encrypted = address
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {name}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n"
    )
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    try:
        connection = _connect(address, timeout_s=_seconds_left(deadline))
    except TimeoutError as error:
        raise ServerTimeout from error
    except OSError as error:
        raise ServerUnreachable from error
    try:
        if encrypted:
            connection = _wrap_tls(connection, host)
        connection.settimeout(_seconds_left(deadline))
        connection.sendall(f"{head}\r\n".encode("latin-1") + body)
        return _read_response(connection, deadline)
    except TimeoutError as error:
        raise ServerTimeout from error
    except OSError as error:
        raise InvalidServerResponse from error
    finally:
        connection.close()


def _connect(address: "tuple[str, int, bool]", *, timeout_s: float) -> "Any":
    host, port, encrypted = address
    if encrypted or not host.replace(".", "").isdigit():
        # A name, an IPv6 address or a server with TLS: slow to load, but not the usual case.
        import socket

        return socket.create_connection((host, port), timeout=timeout_s)
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect((host, port))
    except OSError:
        connection.close()
        raise
    return connection


def _read_response(connection: "Any", deadline: float) -> "tuple[int, bytes]":
    received = b""
    while True:
        connection.settimeout(_seconds_left(deadline))
        chunk = connection.recv(65_536)
        received += chunk
        if len(received) > MAX_RESPONSE_BYTES:
            raise InvalidServerResponse
        head, blank, body = received.partition(b"\r\n\r\n")
        if blank:
            status, length = _parse_head(head)
            if status == 204 or (length is not None and len(body) >= length):
                return status, body[:length]
        if not chunk:
            raise InvalidServerResponse  # the connection closed before the end of the body


def _parse_head(head: bytes) -> "tuple[int, int | None]":
    status_line, *headers = head.decode("latin-1").split("\r\n")
    length = None
    for header in headers:
        name, _, value = header.partition(":")
        if name.strip().lower() == "content-length":
            length = int(value) if value.strip().isdigit() else None
    words = status_line.split(" ")
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        raise InvalidServerResponse
    return int(words[1]), length


def _wrap_tls(connection: "Any", host: str) -> "Any":
    # Slow to load, and needed only for a server on another machine.
    import ssl

    return ssl.create_default_context().wrap_socket(connection, server_hostname=host)


def _seconds_left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
