"""
Letta's paging: `after` and `before` are ids of items in the order of the list.

With `before` alone a page is what comes right before that item. A list ends with an empty page.
"""

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from pydantic import Field

from recollect.domain.limits import MAX_LIMIT
from recollect.errors import NotFound
from recollect.server.letta_v1.letta_call import LettaQuery

Item = TypeVar("Item")


class PageQuery(LettaQuery):
    """The parameters that every list of Letta has."""

    after: str | None = None
    before: str | None = None
    limit: int = Field(50, ge=0, le=MAX_LIMIT)
    order: Literal["asc", "desc"] = "desc"


def page_of(items: Sequence[Item], query: PageQuery, id_of: Callable[[Item], str]) -> list[Item]:
    """Return the page of *items*, which are given oldest first, that *query* asks for."""
    ordered = list(items) if query.order == "asc" else list(reversed(items))
    ids = [id_of(item) for item in ordered]
    start = 0 if query.after is None else _place(ids, query.after) + 1
    end = len(ids) if query.before is None else _place(ids, query.before)
    page = ordered[start:end]
    if query.before is not None and query.after is None:
        return page[len(page) - min(query.limit, len(page)) :]
    return page[: query.limit]


def _place(ids: Sequence[str], cursor: str) -> int:
    try:
        return ids.index(cursor)
    except ValueError:
        raise NotFound(f"{cursor!r} is not in this list; begin again without a cursor") from None
