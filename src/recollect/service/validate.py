"""
Validate what request models cannot: names, queries and JSON, which must not hold secrets.

Each function returns a clean value or raises `InvalidInput` with the field, the problem and what
is accepted. The types and ranges of request fields are in `wire/fields.py`.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from recollect.domain import limits
from recollect.errors import InvalidInput, TooLarge
from recollect.text.clean_text import clean
from recollect.text.redact import redact
from recollect.text.redact_json import redact_json
from recollect.wire.fields import parse_text

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def plain_text_of(field: str, value: object, max_chars: int = limits.MAX_CONTENT) -> str:
    """Return *value* as text that can be stored, without secrets."""
    return redact(parse_text(field, value, max_chars)).text


def query_of(query: str) -> str:
    """Return *query* cut to the maximum length and without secrets, because it is logged."""
    # Twice as much is redacted as is used, so that the cut does not hide half a secret.
    return redact(clean(query[: 2 * limits.MAX_QUERY])).text[: limits.MAX_QUERY]


def plain_name(field: str, name: str) -> str:
    """Return *name*, or refuse it if it holds a secret: names are stored and logged as they are."""
    if redact(name).redactions:
        raise InvalidInput(
            f"the {field}'s name looks like a secret, and names are stored as they are"
        )
    return name


def name_of(field: str, value: object) -> str:
    """Return *value* as the name of an agent or a session."""
    name = parse_text(field, value, limits.MAX_NAME).strip()
    if not name or has_control(name):
        raise InvalidInput(f"the {field}'s name is empty or has control characters; name one")
    return plain_name(field, name)


def new_name_of(field: str, value: object) -> str:
    """Return *value* as a name that cannot be mistaken for an id."""
    name = name_of(field, value)
    if looks_like_an_id(name):
        raise InvalidInput(f"the {field}'s name looks like an id; choose a name people can say")
    return name


def key_of(field: str, key: str) -> str:
    """Return *key*, a caller's own name for something, or refuse it if it holds a secret."""
    if has_control(key):
        raise InvalidInput(f"the {field} has control characters; a key is one line of text")
    return plain_name(field, key)


def has_control(text: str) -> bool:
    """Return whether *text* has control characters, which a terminal might execute."""
    return any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)


def looks_like_an_id(text: str) -> bool:
    """Return whether *text* has the form of an id of a store."""
    return _ID.fullmatch(text) is not None


def json_of(field: str, value: object) -> Any:
    """Return *value* as JSON without secrets."""
    try:
        raw = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if len(raw) <= limits.MAX_JSON:
            return redact_json(json.loads(raw), limits.MAX_DEPTH)
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            f"{field} must be made of what JSON knows (text, numbers, lists and objects), "
            f"nested {limits.MAX_DEPTH} deep at most"
        ) from None
    raise TooLarge(f"{field} has {len(raw):,} characters of JSON; the limit is {limits.MAX_JSON:,}")


def check_json_size(field: str, value: object) -> None:
    """Refuse a JSON value that is too large or too deep for the database."""
    # json_valid of SQLite gives up at 1,000 levels, and forgetting walks the value.
    if _depth(value) > limits.MAX_DEPTH:
        raise InvalidInput(f"{field} is nested more than {limits.MAX_DEPTH} deep")
    size = len(json.dumps(value))
    if size > limits.MAX_JSON:
        raise TooLarge(f"{field} has {size:,} characters of JSON; the limit is {limits.MAX_JSON:,}")


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return depth


def json_object_of(field: str, value: object) -> dict[str, Any]:
    """Return *value*, an object or None, as a JSON object without secrets."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be an object of names and values")
    return dict(json_of(field, dict(value)))
