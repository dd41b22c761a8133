"""
Lists over HTTP come in pages: `limit` and `offset`, and a `Link` header to the next page.

Verbs that take a limit or an offset get it; for the others the page is cut from the whole list.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from recollect.errors import InvalidInput
from recollect.wire.request import VerbRequest

MAX_LIMIT = 1_000
MAX_OFFSET = 2**53
_NUMBER = re.compile(r"[0-9]{1,16}")  # MAX_OFFSET has 16 digits
_SCHEMA = {
    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT},
    "offset": {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0},
}


@dataclass(frozen=True)
class Paging:
    """The fields of the verb's request, and which part of its list is the page."""

    fields: Mapping[str, Any]
    schema: Mapping[str, Any]  # of the parameters the server adds
    start: int = 0
    end: int | None = None  # None: the verb itself returns just the page
    next_offset: int | None = None  # if the page is full
    limit: int | None = None

    def page(self, items: list[Any]) -> tuple[list[Any], int | None]:
        """Return the page and the offset of the next one, None at the end."""
        if self.end is None:
            full = self.limit is not None and len(items) == self.limit
            return items, self.next_offset if full else None
        more = len(items) > self.end or (self.limit is not None and len(items) == self.end)
        return items[self.start : self.end], self.next_offset if more else None


def paging_of(request_class: type[VerbRequest[Any]], query: Mapping[str, Any]) -> Paging:
    """Return how the list of a verb is cut into pages."""
    names = request_class.model_fields
    if "start" in names:  # positions of its own
        return Paging(query, {})
    has_limit, has_offset = "limit" in names, "offset" in names
    schema = {name: value for name, value in _SCHEMA.items() if name not in names}
    offset = _whole_number("offset", query.get("offset", 0), least=0, most=MAX_OFFSET)
    default = names["limit"].default if has_limit else MAX_LIMIT
    limit = _whole_number("limit", query.get("limit", default), least=1, most=MAX_LIMIT)
    rest = {name: value for name, value in query.items() if name not in ("limit", "offset")}
    if has_limit and has_offset:
        fields = {**rest, "limit": limit, "offset": offset}
        return Paging(fields, schema, next_offset=offset + limit, limit=limit)
    end = offset + limit
    if not has_limit:
        return Paging(rest, schema, start=offset, end=end, next_offset=end)
    # Such a verb returns at most MAX_LIMIT items; beyond that its filters lead further.
    return Paging(
        {**rest, "limit": min(end, MAX_LIMIT)},
        schema,
        start=offset,
        end=end,
        next_offset=end if end < MAX_LIMIT else None,
        limit=limit,
    )


def next_page_link(request: Request, offset: int, limit: Any) -> str:
    """Return the `Link` header of the next page."""
    query: dict[str, Any] = {"offset": offset} | ({} if limit is None else {"limit": limit})
    url = request.url.include_query_params(**query)
    return f'<{url.path}?{url.query}>; rel="next"'


def _whole_number(name: str, value: Any, *, least: int, most: int) -> int:
    text = str(value)
    number = int(text) if _NUMBER.fullmatch(text) else -1
    if not least <= number <= most:
        raise InvalidInput(f"{name} must be a whole number from {least} to {most}, not {text!r}")
    return number
