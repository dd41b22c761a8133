"""
Lists over HTTP come a page at a time: `limit` and `offset`, and a `Link` to the next page.

Verbs that page themselves are left to it; for the others the page is cut from what they return.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_origin

from fastapi import Request
from pydantic import Field

from recollect.server.taken import Taken
from recollect.wire.routes import Route

MOST = 1_000
USUAL = 50
_LIMIT = Taken("limit", Annotated[int, Field(ge=1, le=MOST)], required=False, default=MOST)
_OFFSET = Taken("offset", Annotated[int, Field(ge=0, le=2**53)], required=False, default=0)


@dataclass(frozen=True)
class Paging:
    """How a verb's list is cut: which of the two it takes itself, and its usual limit if known."""

    takes_limit: bool
    takes_offset: bool
    usual: int | None

    @property
    def added(self) -> tuple[Taken, ...]:
        """What is taken besides what the verb takes."""
        own = (self.takes_limit, self.takes_offset)
        return tuple(one for one, has in zip((_LIMIT, _OFFSET), own, strict=True) if not has)


def paging_of(route: Route, taken: Sequence[Taken]) -> Paging | None:
    """Return how the list of a route is cut; None where it is none, or has positions of its own."""
    by_name = {one.name: one for one in taken}
    if route.method != "GET" or get_origin(route.returns) is not list or "start" in by_name:
        return None
    usual = by_name.get("limit", _LIMIT).default
    return Paging("limit" in by_name, "offset" in by_name, usual)


def page_of(
    verb: Callable[..., list[Any]], paging: Paging, values: Mapping[str, Any]
) -> tuple[list[Any], int | None]:
    """Return one page, and the offset of the next one if there may be one."""
    given = dict(values)
    limit: int | None = given.pop("limit", paging.usual)
    offset: int = given.pop("offset", 0)
    if limit is None and not offset:
        return verb(**given), None  # as many as the verb gives by itself
    limit = USUAL if limit is None else limit
    if paging.takes_offset:
        found = verb(**given, limit=limit, offset=offset)
        return found, offset + limit if len(found) == limit else None
    end = offset + limit
    if not paging.takes_limit:
        found = verb(**given)
        return found[offset:end], end if len(found) > end else None
    # Such a verb gives so many at most; beyond that its filters lead further.
    found = verb(**given, limit=min(end, MOST) if 1 <= limit <= MOST else limit)
    more = len(found) == end and end < MOST
    return found[offset:end], end if more else None


def link_to(request: Request, offset: int, limit: int | None) -> str:
    """Return the header that leads to the next page."""
    query: dict[str, Any] = {"offset": offset} | ({} if limit is None else {"limit": limit})
    url = request.url.include_query_params(**query)
    return f'<{url.path}?{url.query}>; rel="next"'
