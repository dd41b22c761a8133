"""
Every failure of a route as a problem body: translated here, once, for all routes.

Our own errors say what a caller needs to know. Refused values say where and why. Whatever else is
raised is a fault of ours: the caller gets a number, and the log has the traceback under it. No
traceback, path or repr of ours goes to a caller.
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
from recollect.server.guard import send_problem
from recollect.wire.problem import (
    MEDIA_TYPE,
    SCHEMA,
    as_json,
    problem,
    problem_of,
    refused_values,
)

log = logging.getLogger(__name__)

# What every route may answer besides what it promises.
RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457).",
        "content": {MEDIA_TYPE: {"schema": SCHEMA}},
    }
}


def answer_with_problems(app: FastAPI) -> None:
    """Make *app* answer every failure with a problem."""
    app.add_exception_handler(RecollectError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_values)
    app.add_exception_handler(HTTPException, _of_routing)


class LastResort:
    """Around an application: what nobody expected is logged under a number and answered with it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer whatever the application does not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:  # the door: a fault of one request must not show itself to the caller
            if started:
                raise  # half an answer is out; breaking the connection off is all that is left
            number = secrets.token_hex(4)
            log.exception("%s %s failed, number %s", scope["method"], _shown(scope), number)
            told = f"something went wrong inside; the log has it under {number}"
            await send_problem(send, 500, as_json(problem(500, told)))


def _of_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, RecollectError)
    found = problem_of(error)
    wait_s = found.get("retry_after_s")
    headers = {} if wait_s is None else {"Retry-After": str(max(1, math.ceil(wait_s)))}
    if error.status >= 500:
        log.warning("%s %s: %s", request.method, _shown(request.scope), error)
    return _response(found, headers)


def _of_values(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _response(refused_values([_refused(one) for one in error.errors()]))


def _of_routing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = str(error.detail)
    if error.status_code == 404 and told == "Not Found":
        told = "there is no such address on this server; /openapi.json lists those there are"
    if error.status_code == 405:
        told = "this address does not answer that method; /openapi.json says which it does"
    return _response(problem(error.status_code, told), error.headers)


def _response(found: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        as_json(found),
        status_code=found["status"],
        media_type=MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def _refused(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return where a refused value stood and why it was refused, without the value itself."""
    where: Sequence[Any] = one["loc"]
    if one["type"] == "json_invalid":
        return "body", f"is no JSON: {one['ctx']['error']} at character {where[-1]}"
    return ".".join(str(part) for part in where), str(one["msg"])


def _shown(scope: Scope) -> str:
    """Return the path of a request as one line of a log can hold it."""
    return ascii(scope["path"])[1:-1][:200]
