"""
Check what callers give. Everything is hostile until it has passed here.

Each function returns a clean value or raises `InvalidInput` with the field, the problem and what
would be accepted.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Any, TypeVar

from recollect.errors import InvalidInput, TooLarge
from recollect.text.clean_text import clean
from recollect.text.redact import redact

E = TypeVar("E", bound=StrEnum)

MAX_CONTENT = 1_000_000
MAX_TITLE = 500
MAX_SUMMARY = 8_000
MAX_TAGS = 64
MAX_TAG = 100
MAX_NAME = 200
MAX_ALTERNATIVES = 32
MAX_LIMIT = 1_000
MAX_JSON = 10_000_000
MAX_DEPTH = 200
MAX_QUERY = 8_000  # a longer question is cut, not refused

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_BARE_DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}(?:-?\d)?")


def text_of(field: str, value: object, *, most: int) -> str:
    """Return *value* as storable text of at most *most* characters."""
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {type(value).__name__}")
    if len(value) > most:
        raise TooLarge(
            f"{field} has {len(value):,} characters; the limit is {most:,}. "
            "Split it, or store it as a source with a summary"
        )
    return clean(value)


def plain_text_of(field: str, value: object, most: int = MAX_CONTENT) -> str:
    """Return *value* as storable text without secrets."""
    return redact(text_of(field, value, most=most)).text


def query_of(value: object) -> str:
    """Return *value* as a question: any text is one."""
    if not isinstance(value, str):
        raise InvalidInput(f"the query must be text, not {type(value).__name__}")
    # Private parts are not searched for either: what a search met is logged.
    return redact(clean(value[:MAX_QUERY])).text


def plain_name(field: str, name: str) -> str:
    """Return *name*, or refuse it: a name is stored and logged as it is, so it holds no secret."""
    if redact(name).redactions:
        raise InvalidInput(
            f"the {field}'s name looks like a secret, and names are stored as they are"
        )
    return name


def name_of(field: str, value: object) -> str:
    """Return *value* as the name of an agent or a session."""
    text = text_of(field, value, most=MAX_NAME).strip()
    if not text or has_control(text):
        raise InvalidInput(f"the {field}'s name is empty or has control characters; name one")
    return plain_name(field, text)


def new_name_of(field: str, value: object) -> str:
    """Return *value* as a name that can be told from an id."""
    text = name_of(field, value)
    if looks_like_an_id(text):
        raise InvalidInput(f"the {field}'s name looks like an id; choose a name people can say")
    return text


def has_control(text: str) -> bool:
    """Say whether *text* has characters that a terminal or a log might obey."""
    return any(ord(ch) < 32 or 127 <= ord(ch) < 160 for ch in text)


def looks_like_an_id(text: str) -> bool:
    """Say whether *text* is written as the ids of a store are."""
    return _ID.fullmatch(text) is not None


def json_of(field: str, value: object) -> Any:
    """Return *value* as what JSON can say, without secrets."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if len(text) <= MAX_JSON:
            return _redacted(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            f"{field} must be made of what JSON knows (text, numbers, lists and objects), "
            f"nested {MAX_DEPTH} deep at most"
        ) from None
    raise TooLarge(f"{field} has {len(text):,} characters of JSON; the limit is {MAX_JSON:,}")


def json_object_of(field: str, value: object) -> dict[str, Any]:
    """Return *value*, an object or nothing, as JSON without secrets."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be an object of names and values")
    found: dict[str, Any] = json_of(field, dict(value))
    return found


def _redacted(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise RecursionError  # the same on every version of Python, and known to the caller
    if isinstance(value, str):
        return redact(clean(value)).text
    if isinstance(value, list):
        return [_redacted(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {redact(clean(name)).text: _redacted(one, depth + 1) for name, one in value.items()}
    return value


def one_of(field: str, kind: type[E], value: object) -> E:
    """Return the member of *kind* that *value* names."""
    try:
        return kind(str(value))
    except ValueError:
        allowed = ", ".join(kind)
        raise InvalidInput(f"{field} {value!r} is not known; use one of {allowed}") from None


def some_of(field: str, kind: type[E], values: object) -> frozenset[E]:
    """Return the members of *kind* that *values*, one or many, name."""
    return frozenset(one_of(field, kind, value) for value in _many(field, values))


def tags_of(values: object) -> tuple[str, ...]:
    """Return tags: trimmed, each once, sorted."""
    tags = {text_of("tag", value, most=MAX_TAG).strip() for value in _many("tags", values)}
    tags.discard("")
    if len(tags) > MAX_TAGS:
        raise TooLarge(f"{len(tags)} tags were given; the limit is {MAX_TAGS}")
    return tuple(sorted(tags))


def moment_of(field: str, value: object, *, end_of_day: bool = False) -> datetime | None:
    """
    Return a moment from a datetime or ISO 8601 text; without a zone it is UTC.

    A bare date is its first moment, or its last where *end_of_day* says so.
    """
    if value is None:
        return None
    if isinstance(value, str):
        written = value.strip()
        try:
            value = datetime.fromisoformat(written)
            if end_of_day and _BARE_DATE.fullmatch(written):
                value = datetime.combine(value, time.max)
        except ValueError:
            raise InvalidInput(
                f"{field} {value!r} is no date or time; write it as 2026-05-08 or 2026-05-08T13:56"
            ) from None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{field} must be a datetime or ISO 8601 text")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{field} {value} is outside the calendar") from None


def local_moment_of(field: str, value: object) -> datetime | None:
    """Return a moment in its own zone: the days of a question are those of whoever asks."""
    found = moment_of(field, value)
    if isinstance(value, str) and found is not None:
        value = datetime.fromisoformat(value.strip())
    return value if isinstance(value, datetime) and value.tzinfo is not None else found


def share_of(field: str, value: object) -> float:
    """Return a number between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{field} must be a number from 0 to 1, not {value!r}")
    return float(value)


def count_of(field: str, value: object, *, most: int, least: int = 1) -> int:
    """Return a whole number between *least* and *most*."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"{field} must be a whole number from {least} to {most}, not {value!r}")
    return value


def _many(field: str, values: object) -> Iterable[object]:
    if isinstance(values, str):
        return (values,)
    if isinstance(values, Iterable):
        return tuple(values)
    raise InvalidInput(f"{field} must be a text or a list of texts")
