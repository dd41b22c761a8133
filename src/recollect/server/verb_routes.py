"""
One HTTP route per verb, made from the request models in `wire/requests`.

An endpoint builds the request model from the path, the query and the body, sends it to the store's
transport and writes the response as JSON. Validation and error messages are those of the Python
API, because it is the same model.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from inspect import cleandoc
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.server.error_handlers import PROBLEM_RESPONSES
from recollect.server.event_streams import event_response, wants_events
from recollect.server.idempotency import IdempotentResponses
from recollect.server.paging import added_parameters, next_page_link, paging_of
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


@cache
def verb_routes() -> APIRouter:
    """Return the routes of every verb; they serve the store in `app.state.served`."""
    router = APIRouter(prefix=PREFIX, responses=PROBLEM_RESPONSES)
    for request_class in request_classes().values():
        if request_class.__name__ in FILE_REQUESTS:
            continue
        route = request_class.route
        router.add_api_route(
            route.path,
            _endpoint(request_class),
            methods=[route.method],
            operation_id=request_class.verb(),
            summary=request_class.verb().replace("_", " "),
            description=cleandoc(request_class.__doc__ or ""),
            tags=[request_class.__module__.rpartition(".")[2]],
            response_model=request_class.response_type(),
            openapi_extra=_openapi(request_class),
        )
    return router


def _endpoint(request_class: type[VerbRequest[Any]]) -> Callable[..., Any]:
    route = request_class.route

    async def respond(
        request: Request, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
    ) -> Response:
        try:
            fields = await json_body(request) if route.has_body else _query(request)
        except ClientDisconnect:
            return Response(status_code=499)  # no client is left to read it
        for name in route.path_fields:
            if name in fields:
                raise InvalidInput(f"unknown: {name}; it is part of the path")
            fields[name] = path_segment.decode_segment(request.path_params[name])
        return await run_in_threadpool(_carry_out, request, fields, idempotency_key)

    def _carry_out(request: Request, fields: dict[str, Any], key: str | None) -> Response:
        served: ServedStore = request.app.state.served
        if request_class.is_list():
            return _list_page(served, request, fields)
        verb_request = request_class.of(fields, from_query=not route.has_body)
        if wants_events(request_class, request.headers.get("accept", "")):
            return event_response(verb_request, served.rec.engine.transport.stream(verb_request))
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

    if route.method == "GET":

        async def read(request: Request) -> Response:
            return await respond(request)

        return read
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


def _openapi(request_class: type[VerbRequest[Any]]) -> dict[str, Any]:
    schema = request_class.model_json_schema()
    fields = _inline(schema.get("properties", {}), schema.get("$defs", {}))
    route, required = request_class.route, set(schema.get("required", ()))
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in route.path_fields
    ]
    rest = {name: value for name, value in fields.items() if name not in route.path_fields}
    if route.has_body:
        body_schema = {
            "type": "object",
            "title": request_class.__name__,
            "properties": rest,
            "required": sorted(required & rest.keys()),
            "additionalProperties": False,
        }
        content = {JSON: {"schema": body_schema}}
        body = {"required": bool(required & rest.keys()), "content": content}
        return {"parameters": in_path, **({"requestBody": body} if rest else {})}
    if request_class.is_list():
        rest = {**added_parameters(request_class), **rest}
    in_query = [
        {"name": name, "in": "query", "required": name in required, "schema": value}
        for name, value in rest.items()
    ]
    return {"parameters": [*in_path, *in_query]}


def _inline(value: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a JSON schema with its references replaced by what they refer to."""
    if isinstance(value, dict):
        if "$ref" in value:
            return _inline(definitions[value["$ref"].rpartition("/")[2]], definitions)
        return {name: _inline(item, definitions) for name, item in value.items()}
    if isinstance(value, list):
        return [_inline(item, definitions) for item in value]
    return value
