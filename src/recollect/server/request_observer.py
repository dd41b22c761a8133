"""
The outermost middleware: give each request an id, measure it, and write it to the log.

A request is counted by its route, such as `/api/memories/{memory_id}`, never by its path: a path
may contain the name of an agent or a project. While the server is stopping, responses close their
connection, so that a client finds another server for its next request.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.lazy_dataclass import dataclass
from recollect.mcp.http_transport import ENDPOINT_PATH
from recollect.server.letta_v1.letta_app import PREFIX as LETTA_PREFIX
from recollect.server.log_format import FIELDS, REQUEST_LOG
from recollect.server.request_ids import HEADER, choose_request_id, use_request_id
from recollect.tracing import trace
from recollect.web.page_guard import PAGES, is_page_path

OTHER = "other"  # the route of a request that has none
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_RESPONSE = 499  # the status of a request whose client left before the response began

log = logging.getLogger(REQUEST_LOG)


@dataclass(frozen=True, kw_only=True)
class HandledRequest:
    """A request that was handled. Its duration ends when the response begins."""

    method: str
    route: str
    status: int
    seconds: float


class ServerLifecycle:
    """Whether the server was told to stop. Every part of one server shares this object."""

    def __init__(self) -> None:
        self.is_stopping = False


class RequestObserver:
    """ASGI middleware that calls *observe* with each request. *clock* returns seconds."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        lifecycle: ServerLifecycle,
        observe: Callable[[HandledRequest], None] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._app = app
        self._lifecycle = lifecycle
        self._observe = observe
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = choose_request_id(scope["headers"])
        begun_at = self._clock()
        status, seconds = NO_RESPONSE, 0.0

        async def note_start(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], self._clock() - begun_at
                message = {**message, "headers": self._headers(message, request_id)}
            await send(message)

        with use_request_id(request_id), trace("request", headers=_caller_span(scope)) as span:
            try:
                await self._app(scope, receive, note_start)
            finally:
                request = HandledRequest(
                    method=scope["method"] if scope["method"] in METHODS else OTHER,
                    route=route_of(scope),
                    status=status,
                    seconds=self._clock() - begun_at if status == NO_RESPONSE else seconds,
                )
                span.rename(f"{request.method} {request.route}")
                span.set_attribute("http.request.method", request.method)
                span.set_attribute("http.route", request.route)
                span.set_attribute("http.response.status_code", request.status)
                span.set_attribute("request_id", request_id)
                self._record(request)

    def _headers(self, message: Message, request_id: str) -> list[tuple[bytes, bytes]]:
        headers = [*message.get("headers", ()), (HEADER.encode(), request_id.encode())]
        if self._lifecycle.is_stopping:
            headers.append((b"connection", b"close"))
        return headers

    def _record(self, request: HandledRequest) -> None:
        if self._observe is not None:
            self._observe(request)
        if log.isEnabledFor(logging.INFO):
            fields: dict[str, Any] = {**vars(request), "seconds": round(request.seconds, 6)}
            text = f"{request.method} {request.route} {request.status}"
            log.info("%s", text, extra={FIELDS: fields})


def _caller_span(scope: Scope) -> dict[str, str]:
    """Return the header that names the span of the caller, if there is one (W3C trace context)."""
    value = dict(scope["headers"]).get(b"traceparent")
    return {} if value is None else {"traceparent": value.decode("latin-1")}


def route_of(scope: Scope) -> str:
    """Return the route of a request as it was declared, or the prefix of its group of routes."""
    path: str = scope["path"]
    if is_page_path(path):
        return PAGES
    for prefix in (LETTA_PREFIX, ENDPOINT_PATH):
        if path == prefix or path.startswith(f"{prefix}/"):
            return prefix
    declared = getattr(scope.get("route"), "path", None)
    return declared if isinstance(declared, str) else OTHER
