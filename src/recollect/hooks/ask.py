"""
One question to a server, within a time: a socket, a request, an answer.

The standard library's HTTP client takes longer to load than the whole question takes. What is
spoken here is the least of HTTP/1.1: one request, and the connection ends with its answer. It knows
nothing of events.
"""

import socket
import time

MOST_ANSWER_BYTES = 1_000_000


class Nobody(Exception):
    """Nothing listens there."""


class Late(Exception):
    """No answer within the time."""


class NoAnswer(Exception):
    """What came back is no answer that can be used."""


def post(
    where: "tuple[str, int, bool]", path: str, body: bytes, *, token: str, until: float
) -> "tuple[int, bytes]":
    """Return status and body of the answer of the server *where*; *until* is a monotonic time."""
    host, port, encrypted = where
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {name}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n"
    )
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    try:
        connection = socket.create_connection((host, port), timeout=_left(until))
    except TimeoutError as error:
        raise Late from error
    except OSError as error:
        raise Nobody from error
    try:
        if encrypted:
            connection = _encrypted(connection, host)
        connection.settimeout(_left(until))
        connection.sendall(f"{head}\r\n".encode("latin-1") + body)
        return _answer(connection, until)
    except TimeoutError as error:
        raise Late from error
    except OSError as error:
        raise NoAnswer from error
    finally:
        connection.close()


def _answer(connection: socket.socket, until: float) -> "tuple[int, bytes]":
    received = b""
    while True:
        connection.settimeout(_left(until))
        piece = connection.recv(65_536)
        received += piece
        if len(received) > MOST_ANSWER_BYTES:
            raise NoAnswer
        head, blank, body = received.partition(b"\r\n\r\n")
        if blank:
            status, length = _understood(head)
            if status == 204 or (length is not None and len(body) >= length):
                return status, body[:length]
        if not piece:
            raise NoAnswer  # cut off


def _understood(head: bytes) -> "tuple[int, int | None]":
    first, *rest = head.decode("latin-1").split("\r\n")
    length = None
    for line in rest:
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-length":
            length = int(value) if value.strip().isdigit() else None
    words = first.split(" ")
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        raise NoAnswer
    return int(words[1]), length


def _encrypted(connection: socket.socket, host: str) -> socket.socket:
    # Slow to load, and needed only for a server on another machine.
    import ssl

    return ssl.create_default_context().wrap_socket(connection, server_hostname=host)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
