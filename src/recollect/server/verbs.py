"""
Every verb of the Python door as a route, made from the table in wire/routes.py.

An endpoint hands the request's path, query and body on to the verb by name and writes what comes
back as JSON. It decides nothing: what a verb takes is read from its signature, what it refuses it
refuses itself. Endpoints are plain functions and run in threads. The memory is the application's
(`served`), so that the routes, dear to make, are made once however many applications there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature, cleandoc
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, TypeAdapter

from recollect.app import Recollect
from recollect.server.once import Key, Once
from recollect.server.paging import Paging, link_to, page_of, paging_of
from recollect.server.taken import Taken, model_of, taken_by
from recollect.wire import segment
from recollect.wire.routes import GROUPS, PREFIX, Route

JSON = "application/json"
Verb = Callable[..., Any]


@dataclass(frozen=True)
class Served:
    """The memory an application serves, and the answers it gave to keyed writes."""

    memory: Recollect
    once: Once


@cache
def router() -> APIRouter:
    """Return the routes of every verb of the memory that `app.state.served` names."""
    routes = APIRouter(prefix=PREFIX)
    for group, in_group in GROUPS.items():
        for route in in_group:
            verb = getattr(Recollect, route.verb)
            routes.add_api_route(
                route.path,
                _endpoint(route, taken_by(verb)),
                methods=[route.method],
                operation_id=route.verb,
                summary=route.verb.replace("_", " ").strip(),
                description=cleandoc(verb.__doc__ or ""),
                tags=[group],
                response_model=route.returns,
            )
    return routes


def _endpoint(route: Route, taken: Sequence[Taken]) -> Callable[..., Response]:
    rest = [one for one in taken if one.name not in route.in_path]
    paging = paging_of(route, rest)
    anyhow = {one.name: None for one in rest if one.named_anyhow}
    shown = [*rest, *paging.added] if paging else rest

    def answer(request: Request, **received: Any) -> Response:
        served: Served = request.app.state.served
        verb, once = getattr(served.memory, route.verb), served.once
        key: str | None = received.pop("idempotency_key", None)
        given: BaseModel | None = received.pop("given", None)
        values: dict[str, Any] = dict(anyhow)
        if given is not None:
            values |= {name: getattr(given, name) for name in given.model_fields_set}
        values |= {name: segment.read(value) for name, value in received.items()}
        if paging is not None:
            return _one_page(route, verb, paging, values, request)
        if key is not None:
            return once.answer(key, request, values, lambda: _written(route, verb(**values)))
        response = _written(route, verb(**values))
        if route.method == "DELETE":
            once.forget()
        return response

    answer.__signature__ = _signature(route, shown)  # type: ignore[attr-defined]
    answer.__name__ = route.verb
    return answer


def _one_page(
    route: Route, verb: Verb, paging: Paging, values: dict[str, Any], request: Request
) -> Response:
    found, following = page_of(verb, paging, values)
    response = _written(route, found)
    if following is not None:
        response.headers["link"] = link_to(request, following, values.get("limit"))
    return response


def _written(route: Route, value: Any) -> Response:
    return Response(_adapter(route.returns).dump_json(value), media_type=JSON)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _signature(route: Route, taken: Sequence[Taken]) -> Signature:
    """Return what FastAPI reads off an endpoint: path, body or query, and the key of a write."""
    wanted: dict[str, Any] = {"request": Request}
    wanted |= {name: Annotated[str, Path()] for name in route.in_path}
    if taken:
        name = "".join(part.capitalize() for part in route.verb.split("_"))
        model = model_of(f"{name}Request", taken, in_query=not route.has_body)
        wanted["given"] = model if route.has_body else Annotated[model, Query()]
    if route.method != "GET":
        wanted["idempotency_key"] = Key
    optional = {"idempotency_key": None}
    return Signature(
        [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                annotation=kind,
                default=optional.get(name, Parameter.empty),
            )
            for name, kind in wanted.items()
        ]
    )
