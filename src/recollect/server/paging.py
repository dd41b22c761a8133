"""
Lists over HTTP come in pages: `limit` and `offset`, and a `Link` header to the next page.

Verbs that take a limit or an offset get it; for the others the page is cut from the whole list.
"""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import Request

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.wire.request import VerbRequest

MAX_LIMIT = 1_000
MAX_OFFSET = 2**53
_NUMBER = re.compile(r"[0-9]{1,16}")  # MAX_OFFSET has 16 digits
_SCHEMA: dict[str, dict[str, Any]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT},
    "offset": {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0},
}


@dataclass(frozen=True)
class Paging:
    """A request whose list contains the page, and which part of the list is the page."""

    request: VerbRequest[Any]
    start: int = 0
    end: int | None = None  # None: the verb itself returns just the page
    next_offset: int | None = None  # if the page is full
    limit: int | None = None  # of the verb

    def page(self, items: list[Any]) -> tuple[list[Any], int | None]:
        """Return the page and the offset of the next one, None at the end."""
        if self.end is None:
            full = self.limit is not None and len(items) == self.limit
            return items, self.next_offset if full else None
        more = len(items) > self.end or (self.limit is not None and len(items) == self.end)
        return items[self.start : self.end], self.next_offset if more else None


def added_parameters(request_class: type[VerbRequest[Any]]) -> dict[str, dict[str, Any]]:
    """Return the schemas of the query parameters that the server adds to those of a list verb."""
    names = request_class.model_fields
    if _has_own_pages(request_class):
        return {}
    return {name: schema for name, schema in _SCHEMA.items() if name not in names}


def paging_of(request_class: type[VerbRequest[Any]], query: Mapping[str, Any]) -> Paging:
    """Return the request for the page that *query* selects; refuse a page that cannot exist."""
    added = added_parameters(request_class)
    fields = {name: value for name, value in query.items() if name not in added}
    numbers = {name: _whole_number(name, query, schema) for name, schema in added.items()}
    request: Any = request_class.of(fields, from_query=True)
    if _has_own_pages(request_class):
        return Paging(request)
    if "offset" in request_class.model_fields:
        next_offset = request.offset + request.limit
        return Paging(request, next_offset=next_offset, limit=request.limit)
    offset = numbers["offset"]
    if "limit" in numbers:
        end = offset + numbers["limit"]
        return Paging(request, start=offset, end=end, next_offset=end)
    # Such a verb returns at most MAX_LIMIT items; beyond that its filters lead further.
    end = offset + request.limit
    return Paging(
        request.model_copy(update={"limit": min(end, MAX_LIMIT)}),
        start=offset,
        end=end,
        next_offset=end if end < MAX_LIMIT else None,
        limit=request.limit,
    )


def _has_own_pages(request_class: type[VerbRequest[Any]]) -> bool:
    """Return whether the verb itself continues after a position or an id."""
    return not request_class.model_fields.keys().isdisjoint({"start", "after"})


def next_page_link(request: Request, offset: int, limit: Any) -> str:
    """Return the `Link` header of the next page."""
    query: dict[str, Any] = {"offset": offset} | ({} if limit is None else {"limit": limit})
    url = request.url.include_query_params(**query)
    return f'<{url.path}?{url.query}>; rel="next"'


def _whole_number(name: str, query: Mapping[str, Any], schema: Mapping[str, Any]) -> int:
    text = str(query.get(name, schema["default"]))
    least, most = schema["minimum"], schema["maximum"]
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not least <= number <= most:
        raise InvalidInput(f"{name} must be a whole number from {least} to {most}, not {text!r}")
    return number
