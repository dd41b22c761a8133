"""
Keep answers small: cut texts, take as many items as fit, and say where the next page begins.

A cursor is opaque to callers. It holds a position and a mark of the question, so that one made for
another question is refused instead of answering nonsense.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.errors import InvalidInput
from recollect.text.fingerprint import sha256_hex

MOST_TOKENS = 2_000  # of one page
_MARK = 12

Item = Mapping[str, Any]


def as_json(value: object) -> str:
    """Return *value* as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cut(text: str, most: int) -> str:
    """Return *text* in at most *most* characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shown_to_person(text: str, most: int = 2_000) -> str:
    """Return *text* for a question, and how much of it is not shown: nobody agrees unseen."""
    if len(text) <= most:
        return text
    return f"{text[:most]}…\n[{len(text) - most:,} more characters are not shown here]"


def line(text: str, most: int) -> str:
    """Return *text* as one line of at most *most* characters."""
    return cut(" ".join(text.split()), most)


def fitting(
    items: Sequence[Item], count: Callable[[str], int], most_tokens: int = MOST_TOKENS
) -> list[Item]:
    """Return as many of *items* as fit into *most_tokens*, in order; one at least."""
    left = most_tokens
    kept: list[Item] = []
    for item in items:
        left -= count(as_json(item)) + 1
        if left < 0 and kept:
            break
        kept.append(item)
    return kept


def cursor_to(position: int, *asked: object) -> str:
    """Return a cursor for what follows *position* in the answer to what was *asked*."""
    written = as_json([position, _mark(asked)])
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def position_of(cursor: str, *asked: object) -> int:
    """Return where *cursor* points to; 0 where there is none."""
    if not cursor:
        return 0
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position, mark = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        position, mark = -1, ""
    if type(position) is not int or position < 0 or mark != _mark(asked):
        raise InvalidInput(
            "the cursor is not one of this question; leave it out to begin with the first page"
        )
    return position


def _mark(asked: tuple[object, ...]) -> str:
    # ASCII: a lone surrogate in a question must not stop it from being paged.
    return sha256_hex(json.dumps(asked))[:_MARK]
