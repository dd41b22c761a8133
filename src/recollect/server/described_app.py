"""
An application whose `/openapi.json` describes the routes of the verbs.

FastAPI makes the description from routes of its own kind. To make those of all verbs takes longer
than the server's start, so they are made when somebody asks for the description.
"""

from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from recollect.server.error_handlers import PROBLEM_RESPONSES
from recollect.server.idempotency import IdempotencyKey
from recollect.server.paging import added_parameters
from recollect.server.verb_routes import JSON, VerbRoute
from recollect.wire.request import PREFIX, VerbRequest


class DescribedApp(FastAPI):
    """A FastAPI application that has routes of verbs too."""

    def openapi(self) -> dict[str, Any]:
        """Return the description of all routes, made at the first call."""
        if self.openapi_schema is None:
            self.openapi_schema = get_openapi(
                title=self.title, version=self.version, routes=_described_routes(self.routes)
            )
        return self.openapi_schema


def _described_routes(routes: list[BaseRoute]) -> list[BaseRoute]:
    described: list[BaseRoute] = []
    for route in routes:
        described += _described(route.request_class) if isinstance(route, VerbRoute) else [route]
    return described


def _described(request_class: type[VerbRequest[Any]]) -> list[BaseRoute]:
    """Return the route of a verb as FastAPI describes it; it serves no request."""
    router = APIRouter(prefix=PREFIX, responses=PROBLEM_RESPONSES)
    route, verb = request_class.route, request_class.verb()
    router.add_api_route(
        route.path,
        _read if route.method == "GET" else _write,
        methods=[route.method],
        operation_id=verb,
        summary=verb.replace("_", " "),
        description=cleandoc(request_class.__doc__ or ""),
        tags=[request_class.__module__.rpartition(".")[2]],
        response_model=request_class.response_type(),
        openapi_extra=_openapi(request_class),
    )
    return router.routes


async def _read(request: Request) -> Response:
    raise NotImplementedError


async def _write(request: Request, idempotency_key: IdempotencyKey = None) -> Response:
    raise NotImplementedError


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
