"""
Post JSON to a server and read the response, with a total timeout, a size limit and one exception.

httpx limits the time of each read and not the total: a server that sends a byte now and then could
block a call forever. So a `Deadline` watches the connection and shuts it down. It does not cover
two things: name resolution, which the system limits, and the headers on a connection that the
client kept from an earlier call.

The model that calls turns a failure into a message for the user.
"""

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Self

import httpx2

from recollect.lazy_dataclass import dataclass
from recollect.wire.internal_request import INTERNAL_REQUEST

CONNECT_S = 10.0  # for each address of a host
MAX_SHOWN_CHARS = 300  # of a server's response, in a message

# User and password of a URL. The second case is a password with a slash: not valid, but common.
_USER = re.compile(
    r"^([a-z+]+://)?([^/?#]*@|[^/?#]*:(?!\d+([/?#]|$)).*@)", re.DOTALL | re.IGNORECASE
)


class CallFailed(Exception):
    """A call failed. The message continues a sentence that begins with the server's name."""

    def __init__(self, problem: str, *, next_step: str = "", transient: bool = False) -> None:
        super().__init__(problem)
        self.next_step = next_step
        self.transient = transient  # the same call may succeed a moment later


@dataclass(frozen=True)
class HttpResponse:
    """The response of a server, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx. Redirects are not followed and count as failures."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, for messages."""
        return self.body.decode(errors="replace")


class Deadline:
    """Shuts down the connection it watches after a time. Use it in a `with` block."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False
        self._ends_at = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()

    @property
    def left_s(self) -> float:
        """The seconds left, more than zero: httpx gives a timeout of zero another meaning."""
        return max(self._ends_at - time.monotonic(), 0.001)

    def watch(self, stream: Any) -> None:
        """Shut down the connection of this network stream when the time expires."""
        with self._lock:
            self._socket = stream.get_extra_info("socket")
            self._shut_down_if_expired()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Watch each connection that httpx reports."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self.watch(info["return_value"])

    def _end(self) -> None:
        with self._lock:
            self.expired = True
            self._shut_down_if_expired()

    def _shut_down_if_expired(self) -> None:
        if self.expired and self._socket is not None:
            # The plain socket's method: that of a TLS socket is not safe from a second thread.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


@dataclass(frozen=True)
class OpenResponse:
    """A response whose body is read as it arrives."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]

    def read(self) -> HttpResponse:
        """Read the rest of the body."""
        return HttpResponse(self.status, self.headers, b"".join(self.chunks))


@contextlib.contextmanager
def post(
    url: str,
    body: Mapping[str, Any],
    *,
    headers: Mapping[str, str],
    deadline: Deadline,
    max_bytes: int,
    client: httpx2.Client | None = None,
) -> Iterator[OpenResponse]:
    """Yield the response with its body unread; raise `CallFailed` here and while it is read."""
    try:
        with (
            contextlib.nullcontext(client) if client else httpx2.Client() as sender,
            sender.stream(
                "POST",
                url,
                json=body,
                headers=headers,
                timeout=httpx2.Timeout(deadline.left_s, connect=min(deadline.left_s, CONNECT_S)),
                extensions={"trace": deadline.trace, INTERNAL_REQUEST: True},
            ) as response,
        ):
            deadline.watch(response.extensions["network_stream"])
            chunks = _limit_size(response.iter_bytes(), max_bytes, deadline)
            yield OpenResponse(response.status_code, response.headers, chunks)
    except httpx2.InvalidURL as error:
        # Its message may quote a part of the URL, such as a password.
        raise CallFailed("cannot be called: this is not a server address") from error
    except (
        httpx2.HTTPError,
        ValueError,  # a host or a text that cannot be encoded
        OverflowError,  # a port that is too large
        ImportError,  # a proxy in the environment that needs another package
    ) as error:
        if deadline.expired or isinstance(error, httpx2.TimeoutException):
            raise _timeout_error(deadline) from error
        problem = f"gave no response: {str(error) or type(error).__name__}"
        raise CallFailed(problem, transient=True) from error


def read_json(text: str | bytes, *, finite: bool = False) -> Any:
    """Return the parsed JSON, or raise `CallFailed`; *finite* rejects NaN as well."""
    try:
        return json.loads(text, parse_constant=_reject_constant if finite else None)
    except (ValueError, RecursionError) as error:
        raise CallFailed(f"answered with something that is not JSON: {error}") from error


def validate_key(key: str) -> None:
    """Raise `CallFailed`, without showing it, if *key* cannot be sent."""
    if not (key.isascii() and key.isprintable()):
        raise CallFailed("cannot be called: the key contains invalid characters")


def default_next_step(server: str, model: str) -> str:
    """Return what to check if *model* on a kind of server failed for an unknown reason."""
    if server == "ollama":
        return f"is Ollama running, and was `ollama pull {model}` done?"
    return "check the address, the key and the model's name"


def url_without_credentials(url: str) -> str:
    """Return *url* without its user and password."""
    return _USER.sub(r"\1", url)


def safe_excerpt(text: str, *, key: str) -> str:
    """Return the beginning of *text*: printable, on one line, without *key*."""
    hidden = text.replace(key, "[key]") if key else text
    start = hidden[: 4 * MAX_SHOWN_CHARS]
    printable = "".join(char if char.isprintable() else " " for char in start)
    return " ".join(printable.split())[:MAX_SHOWN_CHARS]


def _limit_size(chunks: Iterator[bytes], max_bytes: int, deadline: Deadline) -> Iterator[bytes]:
    received = 0
    for chunk in chunks:
        received += len(chunk)
        if received > max_bytes:
            raise CallFailed(f"answered with more than {max_bytes / 1e6:g} MB")
        yield chunk
    if deadline.expired:  # a body without a length looks complete when its connection is shut down
        raise _timeout_error(deadline)


def _timeout_error(deadline: Deadline) -> CallFailed:
    return CallFailed(
        f"did not answer in full within {deadline.seconds:g} s",
        next_step="check that it is running, and try again later",
        transient=True,
    )


def _reject_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
