"""
Limit how long a client may take to send a request or to read a response, and how many there are.

Theory of operation. Uvicorn times out a connection only between two requests: a request that was
begun and never finished would hold its connection, and its file descriptor, forever.
`LimitedProtocol` adds one timer per connection, for the phase that it is in:

headers  from the connection, or from the first byte of a later request, until the headers are
         complete. More bytes do not extend it.
body     until the body is complete. Each period must bring a minimum of bytes, unless the server
         itself has stopped reading.

A second timer runs while the client does not read its response. If there are too many connections,
one that waits for its client is closed for a new one, those with a half-sent request first, so that
`/health` can be reached. Only if a request runs on each of them, the new one is refused.
"""

import asyncio
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.config import Settings
from recollect.errors import RequestRefused
from recollect.lazy_dataclass import dataclass
from recollect.wire.problem import MEDIA_TYPE, problem, problem_json

MIN_BODY_BYTES_PER_S = 1_000
MIN_CONNECTIONS = 8
MIN_ACCEPTED_AT_ONCE = 8
_REASONS = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of one server."""

    header_timeout_s: float
    body_timeout_s: float
    max_connections: int

    @property
    def accepted_at_once(self) -> int:
        """How many connections asyncio may accept before the first of them can be refused."""
        return max(MIN_ACCEPTED_AT_ONCE, self.max_connections // 16)

    @classmethod
    def from_settings(cls, settings: Settings) -> "ConnectionLimits":
        """Return the limits of *settings*, with fewer connections if few files may be open."""
        return cls(
            header_timeout_s=settings.header_timeout_s,
            body_timeout_s=settings.body_timeout_s,
            max_connections=min(settings.max_connections, _spare_descriptors()),
        )


def limited_protocol(limits: ConnectionLimits) -> type[H11Protocol]:
    """Return the protocol class with these limits; uvicorn makes an instance per connection."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


class RequestPhase(StrEnum):
    """What a connection waits for."""

    HEADERS = "headers"
    BODY = "body"
    IDLE = "idle"  # the next request, within uvicorn's keep-alive timeout
    RESPONSE = "response"


class LimitedProtocol(H11Protocol):
    """The HTTP protocol of uvicorn with timeouts for requests and responses."""

    limits: ConnectionLimits

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._phase = RequestPhase.IDLE
        self._phase_began_at = 0.0
        self._period_bytes = 0
        self._request_timer: asyncio.TimerHandle | None = None
        self._response_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer, and make room if there are too many connections."""
        super().connection_made(transport)
        self._enter_phase()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Count the bytes, and follow the request into its next phase."""
        self._period_bytes += len(data)
        super().data_received(data)
        self._enter_phase()

    def on_response_complete(self) -> None:
        """Follow the connection to its next request."""
        super().on_response_complete()
        self._enter_phase()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_request_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timer of a client that does not read."""
        super().pause_writing()
        if self._response_timer is None:
            timeout_s = self.limits.body_timeout_s
            self._response_timer = self.loop.call_later(timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of a client that did not read."""
        if self._response_timer is not None:
            self._response_timer.cancel()
            self._response_timer = None
        super().resume_writing()

    def _current_phase(self) -> RequestPhase:
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            return RequestPhase.BODY
        if state is not h11.IDLE:
            return RequestPhase.RESPONSE
        is_between_requests = self.timeout_keep_alive_task is not None
        has_begun = bool(self.conn.trailing_data[0])
        return RequestPhase.IDLE if is_between_requests and not has_begun else RequestPhase.HEADERS

    def _enter_phase(self) -> None:
        """Set the timer of the phase that the connection is in, if that has changed."""
        phase = self._current_phase()
        if phase is self._phase and self._phase_began_at:
            return
        self._phase = phase
        self._phase_began_at = self.loop.time()
        self._period_bytes = 0
        self._stop_request_timer()
        if self.transport.is_closing():
            return
        if phase is RequestPhase.HEADERS:
            self._set_request_timer(self.limits.header_timeout_s, self._time_out)
        elif phase is RequestPhase.BODY:
            self._set_request_timer(self.limits.body_timeout_s, self._check_body)

    def _set_request_timer(self, timeout_s: float, action: Callable[[], None]) -> None:
        self._stop_request_timer()
        self._request_timer = self.loop.call_later(timeout_s, action)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _check_body(self) -> None:
        timeout_s = self.limits.body_timeout_s
        is_own_fault = self.flow.read_paused
        if is_own_fault or self._period_bytes >= timeout_s * MIN_BODY_BYTES_PER_S:
            self._period_bytes = 0
            self._set_request_timer(timeout_s, self._check_body)
        else:
            self._time_out()

    def _time_out(self) -> None:
        phase, limits = self._phase, self.limits
        timeout_s = limits.header_timeout_s if phase == "headers" else limits.body_timeout_s
        self._refuse(408, f"the {phase} of the request did not arrive within {timeout_s:g} s")

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed, or whose headers are too large."""
        self._refuse(400, "the request is not valid HTTP, or its address and headers are too long")

    def _refuse(self, status: int, detail: str) -> None:
        """Close the connection, with a response if none was begun."""
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = problem_json(problem(status, detail, error=RequestRefused))
            head = (
                f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()

    def _make_room(self) -> None:
        live = [other for other in self.connections if not other.transport.is_closing()]
        if len(live) <= self.limits.max_connections:
            return
        waiting = [
            other
            for other in live
            if isinstance(other, LimitedProtocol)
            and other is not self
            and other._phase is not RequestPhase.RESPONSE
        ]
        if not waiting:
            self._refuse(503, "the server has too many connections; try again later")
            return
        order = (RequestPhase.HEADERS, RequestPhase.IDLE, RequestPhase.BODY)
        oldest = min(waiting, key=lambda other: (order.index(other._phase), other._phase_began_at))
        oldest.transport.close()


def _spare_descriptors() -> int:
    """Return how many connections the process can have beside the files of its store."""
    if sys.platform == "win32":
        return sys.maxsize  # Windows has no such limit
    import resource  # does not exist on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    return max(MIN_CONNECTIONS, soft - max(64, soft // 4))
