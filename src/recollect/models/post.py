"""
Post JSON to a server and read its answer, within a time and a size, with one kind of failure.

httpx bounds each read and not their sum: a server that sends a byte now and then, in its headers,
its body or between two chunks, could hold a call for ever. So a `Deadline` watches the connection
and shuts it down. Two things are beyond it: looking up a name, which the system bounds by itself,
and the headers on a connection that the given client kept from an earlier call.

What a failed call means to the user, and what to do next, is for the model to say.
"""

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx2

from recollect.wire.mark import OURS

CONNECT_S = 10.0  # for each address of a host: several that do not answer would add up
SHOWN = 300  # how much of a server's words a message repeats

# User and password of an address. The second case is a password with a slash: no valid address, but
# one that people write.
_USER = re.compile(
    r"^([a-z+]+://)?([^/?#]*@|[^/?#]*:(?!\d+([/?#]|$)).*@)", re.DOTALL | re.IGNORECASE
)


class CallFailed(Exception):
    """A call failed. The message ends a sentence that begins with the server's name."""

    def __init__(self, what: str, *, next_step: str = "") -> None:
        super().__init__(what)
        self.next_step = next_step


@dataclass(frozen=True)
class Answer:
    """What a server answered, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def accepted(self) -> bool:
        """Whether the request was done; a redirect is not followed, and so is a failure."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, for showing."""
        return self.body.decode(errors="replace")


class Deadline:
    """A time after which the connections it watches are shut down. Use it in a `with` block."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over = False
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
        """The seconds left, and never none: to httpx a timeout of zero is another thing."""
        return max(self._ends_at - time.monotonic(), 0.001)

    def watch(self, stream: Any) -> None:
        """Shut the connection of this network stream down when the time is over."""
        with self._lock:
            self._socket = stream.get_extra_info("socket")
            self._shut_down_if_over()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Watch each connection that httpx says it has made."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self.watch(info["return_value"])

    def _end(self) -> None:
        with self._lock:
            self.over = True
            self._shut_down_if_over()

    def _shut_down_if_over(self) -> None:
        if self.over and self._socket is not None:
            # The plain socket's method: that of a TLS socket is not made for a second thread.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def post(
    url: str,
    body: Mapping[str, Any],
    *,
    headers: Mapping[str, str],
    deadline: Deadline,
    max_bytes: int,
    client: httpx2.Client | None = None,
) -> Answer:
    """Return what the server answers, or raise `CallFailed`. Without *client*, over a new one."""
    try:
        with contextlib.nullcontext(client) if client else httpx2.Client() as asking:
            answer = _post(asking, url, body, headers, deadline, max_bytes)
    except httpx2.InvalidURL as error:
        # Its message may quote a part of the address, such as a password.
        raise CallFailed("cannot be asked: this is no address of a server") from error
    except (
        httpx2.HTTPError,
        ValueError,  # a host or a text that has no encoding
        OverflowError,  # a port that is too large
        ImportError,  # a proxy in the environment that needs another package
    ) as error:
        if deadline.over or isinstance(error, httpx2.TimeoutException):
            raise _too_slow(deadline) from error
        raise CallFailed(f"gave no answer: {str(error) or type(error).__name__}") from error
    if deadline.over:  # a body that ends where its connection ends looks whole when it is shut down
        raise _too_slow(deadline)
    return answer


def read_json(text: str | bytes, *, finite: bool = False) -> Any:
    """Return the value *text* stands for, or raise `CallFailed`; *finite* refuses NaN as well."""
    try:
        return json.loads(text, parse_constant=_refuse if finite else None)
    except (ValueError, RecursionError) as error:
        raise CallFailed(f"answered with something that is no JSON: {error}") from error


def check_key(key: str) -> None:
    """Raise `CallFailed`, without showing it, if *key* cannot be sent."""
    if not (key.isascii() and key.isprintable()):
        raise CallFailed("cannot be asked: the key has characters that no key has")


def shown_address(url: str) -> str:
    """Return *url* without its user and password."""
    return _USER.sub(r"\1", url)


def shown_words(text: str, *, key: str) -> str:
    """Return the beginning of *text*, printable, on one line, and without *key*."""
    hidden = text.replace(key, "[key]") if key else text
    printable = "".join(char if char.isprintable() else " " for char in hidden[: 4 * SHOWN])
    return " ".join(printable.split())[:SHOWN]


def _post(
    client: httpx2.Client,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    deadline: Deadline,
    max_bytes: int,
) -> Answer:
    with client.stream(
        "POST",
        url,
        json=body,
        headers=headers,
        timeout=httpx2.Timeout(deadline.left_s, connect=min(deadline.left_s, CONNECT_S)),
        extensions={"trace": deadline.trace, OURS: True},
    ) as response:
        deadline.watch(response.extensions["network_stream"])
        read = bytearray()
        for chunk in response.iter_bytes():
            read += chunk
            if len(read) > max_bytes:
                raise CallFailed(f"answered with more than {max_bytes / 1e6:g} MB")
        return Answer(response.status_code, response.headers, bytes(read))


def _too_slow(deadline: Deadline) -> CallFailed:
    return CallFailed(
        f"did not answer in full within {deadline.seconds:g} s",
        next_step="check that it is running, and try again later",
    )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")
