"""The table of routes and the Python door say the same."""

from inspect import Parameter, isfunction, signature
from typing import Any, get_origin, get_type_hints

import pytest
from recollect.server.taken import taken_by
from recollect.wire.routes import EXPORTS, IMPORTS, ROUTES, Route

from recollect import LocalRecollect, RemoteRecollect
from recollect.client.remote import NOT_OVER_HTTP, bound

EVERY = {**ROUTES, **EXPORTS, **IMPORTS}
# Done where the caller is, with verbs that are in the table.
HERE = {"tools", "capture_file", "close"}


def verbs_of(kind: type[Any]) -> set[str]:
    return {
        name
        for one in kind.__mro__
        for name, value in vars(one).items()
        if isfunction(value) and not name.startswith("_")
    }


def test_every_verb_of_the_door_is_in_the_table_or_has_a_reason_not_to_be() -> None:
    assert verbs_of(LocalRecollect) == EVERY.keys() | NOT_OVER_HTTP.keys() | HERE


def test_a_memory_behind_a_server_has_every_verb() -> None:
    assert verbs_of(LocalRecollect) <= verbs_of(RemoteRecollect)


@pytest.mark.parametrize("route", EVERY.values(), ids=EVERY)
def test_a_route_takes_by_position_what_the_verb_does(route: Route) -> None:
    parameters = list(signature(getattr(LocalRecollect, route.verb)).parameters.values())[1:]

    assert route.positional == tuple(
        one.name for one in parameters if one.kind is Parameter.POSITIONAL_OR_KEYWORD
    )


@pytest.mark.parametrize("route", EVERY.values(), ids=EVERY)
def test_a_route_returns_what_the_verb_does(route: Route) -> None:
    assert route.returns == get_type_hints(getattr(LocalRecollect, route.verb))["return"]


@pytest.mark.parametrize("route", EVERY.values(), ids=EVERY)
def test_what_a_path_names_is_given_by_position(route: Route) -> None:
    assert set(route.in_path) <= set(route.positional)


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_lists_without_a_limit_are_wanted_whole(route: Route) -> None:
    taken = {one.name for one in taken_by(getattr(LocalRecollect, route.verb))}
    listed = route.method == "GET" and get_origin(route.returns) is list

    assert route.whole == (listed and "limit" not in taken)


def test_no_two_routes_are_the_same() -> None:
    assert len({(one.method, one.path) for one in EVERY.values()}) == len(EVERY)


def test_a_call_is_bound_as_python_binds_it() -> None:
    route = ROUTES["set_block"]

    assert bound(route, ["anna", "persona"], {"value": "x", "by": "agent"}) == {
        "agent": "anna",
        "label": "persona",
        "value": "x",
        "by": "agent",
    }
    with pytest.raises(TypeError, match="takes 3 positional arguments but 4 were given"):
        bound(route, ["anna", "persona", "x", "y"], {})
    with pytest.raises(TypeError, match="multiple values for argument 'agent'"):
        bound(route, ["anna"], {"agent": "bert"})
    with pytest.raises(TypeError, match="missing a required argument: 'label'"):
        bound(route, ["anna"], {})
