"""
Find the route of a verb by the beginning of its path.

The router tries its routes one after the other, and there are some 160 verbs: to find one took a
third of the time that the event loop spends on a request. The index is one more route, before all
others. What it does not find is left to the router, which also answers a wrong method.
"""

from collections.abc import Iterable

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from recollect.wire.request import PREFIX


class RouteIndex(BaseRoute):
    """The routes of verbs, by the first segment after the prefix, in their order."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._routes: dict[str, list[Route]] = {}
        for route in routes:
            if isinstance(route, Route) and route.path.startswith(f"{PREFIX}/"):
                self._routes.setdefault(_first_segment(route.path), []).append(route)

    @property
    def routes(self) -> list[Route]:
        """Every route that it can find."""
        return [route for routes in self._routes.values() for route in routes]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the match of a route in whole, or none; the scope names the route."""
        if scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/"):
            for route in self._routes.get(_first_segment(scope["path"]), ()):
                match, child_scope = route.matches(scope)
                if match is Match.FULL:
                    return match, child_scope
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the route that matched."""
        await scope["route"].handle(scope, receive, send)


def _first_segment(path: str) -> str:
    return path[len(PREFIX) + 1 :].partition("/")[0]
