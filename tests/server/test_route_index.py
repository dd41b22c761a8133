"""The index of routes finds what the router would find, only sooner."""

import re

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.engine.judges.durability import says_something_durable
from recollect.server.preload import preload
from recollect.server.route_index import RouteIndex
from recollect.server.verb_routes import VerbRoute
from recollect.server.web_app import web_app


def scope(method: str, path: str) -> Scope:
    return {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}


def test_every_route_of_a_verb_is_found_as_the_router_finds_it(words_only: LocalRecollect) -> None:
    index, *routes = web_app(words_only, Settings()).router.routes
    verbs = [route for route in routes if isinstance(route, (APIRoute, VerbRoute))]
    count = 0

    for route in verbs:
        request = scope(next(iter(route.methods or ())), re.sub(r"{\w+}", "some", route.path))
        first = next(each for each in verbs if each.matches(request)[0] is Match.FULL)
        match, child_scope = index.matches(request)
        if not route.path.startswith("/api/"):
            assert match is Match.NONE
            continue
        count += 1
        assert child_scope["route"] is first
        assert child_scope["path_params"] == first.matches(request)[1]["path_params"]

    assert isinstance(index, RouteIndex)
    assert count > 150


@pytest.mark.parametrize(
    ("method", "address"),
    [("DELETE", "/api/context"), ("GET", "/api/nix"), ("GET", "/api"), ("GET", "/health")],
)
def test_what_is_no_verb_is_left_to_the_router(
    words_only: LocalRecollect, method: str, address: str
) -> None:
    [index, *_] = web_app(words_only, Settings()).router.routes

    assert index.matches(scope(method, address)) == (Match.NONE, {})


def test_after_the_start_no_request_waits_for_the_patterns_of_a_bundle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    preload()
    compiled: list[object] = []
    monkeypatch.setattr(re, "compile", lambda source, flags=0: compiled.append(source))

    for text in ("What did we do on Monday?", "Where is the station?"):
        says_something_durable(text)

    assert compiled == []
