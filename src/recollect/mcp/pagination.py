"""
Limit the size of results: truncate texts, fill a page up to a token limit, and make cursors.

A cursor is opaque to callers. It contains a position and a hash of the request, so that a cursor of
another request is rejected.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.errors import InvalidInput
from recollect.text.fingerprint import sha256_hex

MAX_PAGE_TOKENS = 2_000  # of one page
_DIGEST_CHARS = 12

Item = Mapping[str, Any]


def as_json(value: object) -> str:
    """Return *value* as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def truncate(text: str, max_chars: int) -> str:
    """Return *text*, truncated to *max_chars* characters."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def excerpt_for_person(text: str, max_chars: int = 2_000) -> str:
    """Return *text* for a question to the user, with the number of characters left out."""
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}…\n[{len(text) - max_chars:,} more characters are not shown here]"


def one_line(text: str, max_chars: int) -> str:
    """Return *text* as one line of at most *max_chars* characters."""
    return truncate(" ".join(text.split()), max_chars)


def take_fitting(
    items: Sequence[Item], count: Callable[[str], int], max_tokens: int = MAX_PAGE_TOKENS
) -> list[Item]:
    """Return as many of *items* as fit into *max_tokens*, in order, but at least one."""
    tokens_left = max_tokens
    page: list[Item] = []
    for item in items:
        tokens_left -= count(as_json(item)) + 1
        if tokens_left < 0 and page:
            break
        page.append(item)
    return page


def make_cursor(position: int, *request: object) -> str:
    """Return a cursor to *position* in the results of *request*."""
    content = as_json([position, _request_digest(request)])
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def cursor_position(cursor: str, *request: object) -> int:
    """Return the position of *cursor*, 0 if it is empty; raise if it is of another request."""
    if not cursor:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position, mark = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        position, mark = -1, ""
    if type(position) is not int or position < 0 or mark != _request_digest(request):
        message = "the cursor does not belong to this request; leave it out to get the first page"
        raise InvalidInput(message)
    return position


def _request_digest(request: tuple[object, ...]) -> str:
    # ASCII, so that a lone surrogate in the request does not fail.
    return sha256_hex(json.dumps(request))[:_DIGEST_CHARS]
