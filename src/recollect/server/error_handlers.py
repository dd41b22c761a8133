"""
Turn every error of a route into a problem response.

Recollect's errors have a message for the caller. Validation errors say where and why. Any other
exception is a bug: the response has a number, and the log has the traceback with that number. A
response never contains a traceback, a path or a repr.
"""

import logging
import math
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.errors import RecollectError
from recollect.server.request_guard import send_problem
from recollect.server.request_ids import with_request_id
from recollect.wire import problem as problems

log = logging.getLogger(__name__)

# For OpenAPI: every route may respond with a problem.
PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457).",
        "content": {problems.MEDIA_TYPE: {"schema": problems.SCHEMA}},
    }
}


def add_error_handlers(app: FastAPI) -> None:
    """Make *app* respond to every error with a problem."""
    app.add_exception_handler(RecollectError, _handle_recollect_error)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_routing_error)


class UnexpectedErrorMiddleware:
    """ASGI middleware that logs unexpected errors with a number and responds with that number."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and respond if it raises."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def note_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, note_start)
        except Exception:  # no detail of a bug may reach the caller
            if started:
                raise  # the response is partly sent; only closing the connection is left
            number = secrets.token_hex(4)
            log.exception("%s %s failed, number %s", scope["method"], _log_path(scope), number)
            detail = f"internal error; see number {number} in the log of the server"
            await send_problem(send, problems.problem(500, detail))


def _handle_recollect_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RecollectError)
    body = problems.problem_from_error(error)
    wait_s = body.get("retry_after_s")
    headers = {} if wait_s is None else {"Retry-After": str(max(1, math.ceil(wait_s)))}
    if error.status >= 500:
        log.warning("%s %s: %s", request.method, _log_path(request.scope), error)
    return _response(body, headers)


def _handle_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    invalid = [_where_and_why(entry) for entry in error.errors()]
    return _response(problems.validation_problem(invalid))


def _handle_routing_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    if error.status_code == 404 and detail == "Not Found":
        detail = "this path does not exist; see /openapi.json for all paths"
    if error.status_code == 405:
        detail = "this path does not support this method; see /openapi.json"
    return _response(problems.problem(error.status_code, detail), error.headers)


def _response(body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        problems.problem_json(with_request_id(body)),
        status_code=body["status"],
        media_type=problems.MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def _where_and_why(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return the location and the message of a validation error, without the value."""
    location: Sequence[Any] = entry["loc"]
    if entry["type"] == "json_invalid":
        return "body", f"is not JSON: {entry['ctx']['error']} at character {location[-1]}"
    return ".".join(str(part) for part in location), str(entry["msg"])


def _log_path(scope: Scope) -> str:
    """Return the path of a request, escaped and cut for one line of the log."""
    return ascii(scope["path"])[1:-1][:200]
