"""
One HTTP route per verb, made from the request models in `wire/requests`.

An endpoint builds the request model from the path, the query and the body, sends it to the store's
transport and writes the response as JSON. Validation and error messages are those of the Python
API, because it is the same model. FastAPI has no part in this: to prepare its routes takes longer
than to start the rest of the server (`described_app.py` does it for `/openapi.json`).
"""

import json
import re
from collections.abc import Callable, Coroutine
from functools import cache, partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.server.event_streams import event_response, wants_events
from recollect.server.idempotency import IdempotentResponses
from recollect.server.paging import next_page_link, paging_of
from recollect.wire import path_segment
from recollect.wire.file_transfer import FILE_REQUESTS
from recollect.wire.request import PREFIX, VerbRequest
from recollect.wire.request_registry import request_classes

JSON = "application/json"
_JSON_SUFFIX = re.compile(r"application/[^/\s]+\+json")  # RFC 6839


@dataclass(frozen=True)
class ServedStore:
    """The store an application serves, and its cached responses to writes with a key."""

    rec: LocalRecollect
    responses: IdempotentResponses


class VerbRoute(Route):
    """The route of one verb."""

    def __init__(self, request_class: type[VerbRequest[Any]]) -> None:
        route = request_class.route
        endpoint, verb = _endpoint(request_class), request_class.verb()
        super().__init__(f"{PREFIX}{route.path}", endpoint, methods=[route.method], name=verb)
        self.methods = {route.method}  # without HEAD
        self.request_class = request_class

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the path and the method of a request; the scope names this route then."""
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self} if child_scope else child_scope


@cache
def verb_routes() -> list[VerbRoute]:
    """Return the routes of every verb; they serve the store in `app.state.served`."""
    return [
        VerbRoute(request_class)
        for request_class in request_classes().values()
        if request_class.__name__ not in FILE_REQUESTS
    ]


def _endpoint(
    request_class: type[VerbRequest[Any]],
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    route = request_class.route

    async def respond(request: Request) -> Response:
        try:
            fields = await json_body(request) if route.has_body else _query(request)
        except ClientDisconnect:
            return Response(status_code=499)  # no client is left to read it
        for name in route.path_fields:
            if name in fields:
                raise InvalidInput(f"unknown: {name}; it is part of the path")
            fields[name] = path_segment.decode_segment(request.path_params[name])
        return await run_in_threadpool(_carry_out, request, fields)

    def _carry_out(request: Request, fields: dict[str, Any]) -> Response:
        served: ServedStore = request.app.state.served
        if request_class.is_list():
            return _list_page(served, request, fields)
        verb_request = request_class.of(fields, from_query=not route.has_body)
        if wants_events(request_class, request.headers.get("accept", "")):
            return event_response(verb_request, served.rec.engine.transport.stream(verb_request))
        key = request.headers.get("idempotency-key")
        if key is not None and route.method != "GET":
            run = partial(_response, served, verb_request)
            return served.responses.respond(key, request, fields, run)
        response = _response(served, verb_request)
        if route.method == "DELETE":
            served.responses.clear()
        return response

    def _list_page(served: ServedStore, request: Request, fields: dict[str, Any]) -> Response:
        paging = paging_of(request_class, fields)
        items, next_offset = paging.page(served.rec.engine.transport.send(paging.request))
        response = Response(request_class.response_adapter().dump_json(items), media_type=JSON)
        if next_offset is not None:
            response.headers["link"] = next_page_link(request, next_offset, fields.get("limit"))
        return response

    return respond


def _response(served: ServedStore, request: VerbRequest[Any]) -> Response:
    body = request.response_adapter().dump_json(served.rec.engine.transport.send(request))
    return Response(body, media_type=JSON)


async def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body; no body is an empty one."""
    body = await request.body()
    if not body:
        return {}
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON and not _JSON_SUFFIX.fullmatch(media_type):
        raise InvalidInput(f"the body must be {JSON}, not {media_type or 'untyped'}")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput("the body must be a JSON object")
    return value


def _query(request: Request) -> dict[str, Any]:
    """Return the query: a name that is repeated has a list of values."""
    query = request.query_params
    return {name: texts[0] if len(texts := query.getlist(name)) == 1 else texts for name in query}
