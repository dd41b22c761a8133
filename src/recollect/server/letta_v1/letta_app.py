"""
The application under /v1: it finds the route, reads the request and answers in a thread.

A path may end with a slash or not; there are no redirects. Errors go up as they are: the problem
that the server answers with has the field `detail`, where Letta's clients look for the reason.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import Receive, Scope, Send

from recollect.errors import InvalidInput, RecollectError, TooLarge
from recollect.server.letta_v1 import (
    letta_agent_files,
    letta_agents,
    letta_archives,
    letta_blocks,
    letta_catalog,
    letta_conversations,
    letta_messages,
    letta_models,
    letta_passages,
    letta_unsupported_routes,
)
from recollect.server.letta_v1.letta_call import LettaCall, LettaRoute
from recollect.server.letta_v1.letta_form import form_parts
from recollect.server.request_ids import with_request_id
from recollect.server.verb_routes import ServedStore, json_body
from recollect.wire import path_segment
from recollect.wire import problem as problems

PREFIX = "/v1"
NO_RETRY_STATUSES = (409, 501)  # the client tries again unless it is told not to
SERVED: tuple[LettaRoute, ...] = (
    *letta_catalog.ROUTES,
    *letta_agent_files.ROUTES,
    *letta_agents.ROUTES,
    *letta_blocks.ROUTES,
    *letta_passages.ROUTES,
    *letta_messages.ROUTES,
    *letta_conversations.ROUTES,
    *letta_archives.ROUTES,
    *letta_models.ROUTES,
)


@cache
def letta_mount() -> Mount:
    """Return the routes of Letta's interface, for the store in `app.state.served`."""
    return Mount(PREFIX, app=_WithoutSlash((*SERVED, *letta_unsupported_routes.ROUTES)))


class _WithoutSlash:
    """Routes whose paths may end with a slash."""

    def __init__(self, routes: Iterable[LettaRoute]) -> None:
        self._router = Router(
            [Route(route.path, _endpoint(route), methods=[route.method]) for route in routes],
            redirect_slashes=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router({**scope, "path": scope["path"].rstrip("/")}, receive, send)


def _endpoint(route: LettaRoute) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            call = await _call_of(request)
        except ClientDisconnect:
            return Response(status_code=499)  # no client is left to read it
        return await run_in_threadpool(_carry_out, route, call)

    return respond


def _carry_out(route: LettaRoute, call: LettaCall) -> Response:
    try:
        answer = route.answer(call)
    except TooLarge as error:
        raise InvalidInput(str(error)) from None  # Letta answers 422, not 413
    except RecollectError as error:
        if error.status not in NO_RETRY_STATUSES:
            raise
        body = problems.problem_json(with_request_id(problems.problem_from_error(error)))
        headers = {"x-should-retry": "false"}
        return Response(body, error.status, headers, problems.MEDIA_TYPE)
    return answer if isinstance(answer, Response) else JSONResponse(answer)


async def _call_of(request: Request) -> LettaCall:
    served: ServedStore = request.app.state.served
    query = request.query_params
    media_type = request.headers.get("content-type", "")
    fields: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    if media_type.startswith("multipart/form-data"):
        files = form_parts(media_type, await request.body())
    else:
        fields = await json_body(request)
    return LettaCall(
        rec=served.rec,
        settings=request.app.state.settings,
        path={
            name: path_segment.decode_segment(value) for name, value in request.path_params.items()
        },
        query={name: query.getlist(name) for name in query},
        body=fields,
        files=files,
    )
