"""Turn values of a Python caller into JSON values: text, numbers, lists and objects."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.text.clean_text import clean


def to_json(value: Any, *, name: str = "") -> Any:
    """Return *value* as JSON; *name* is the argument it belongs to, for the error message."""
    match value:
        case Enum():
            return value.value
        case str():
            return clean(value)
        case float() if not math.isfinite(value):
            raise InvalidInput(f"{name or 'a value'} must be a number, not {value}")
        case bool() | int() | float() | None:
            return value
        case datetime():
            return value.isoformat()
        case PathLike():
            return clean(str(Path(value).absolute()))
        case Mapping():
            return {_key(key): to_json(item, name=name) for key, item in value.items()}
        case bytes() | bytearray():
            raise InvalidInput(f"{name or 'a value'} must be text, not bytes")
        case _ if is_dataclass(value) and hasattr(value, "id"):
            return value.id
        case Iterable() if not isinstance(value, Set | Iterator):  # a set has no order
            return [to_json(item, name=name) for item in value]
    raise InvalidInput(f"{name or 'a value'} cannot be a {type(value).__name__}")


def _key(key: Any) -> str:
    return clean(key if isinstance(key, str) else json.dumps(key, default=str))
