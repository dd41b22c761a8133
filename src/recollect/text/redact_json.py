"""
Remove secrets from JSON values: from each string, with the name that it is stored under.

In `{"password": "swordfish"}` only the name makes the value a secret; the string alone does not.
"""

from typing import Any

from recollect.text.clean_text import clean
from recollect.text.redact import redact
from recollect.text.redact_named_values import KIND, is_named_secret

_MARK = f"[redacted:{KIND}]"
_NAME_FIELDS = ("name", "key")  # {"name": "DB_PASSWORD", "value": "…"}


def redact_json(value: Any, max_depth: int, *, name: str = "") -> Any:
    """Return *value* without secrets; raise `RecursionError` below *max_depth* levels."""
    if max_depth < 0:
        raise RecursionError  # raised here, because the limit of Python depends on its version
    if isinstance(value, str):
        text = redact(clean(value)).text
        return _MARK if name and is_named_secret(name, text) else text
    if isinstance(value, int) and not isinstance(value, bool):
        return _MARK if is_named_secret(name, str(value)) else value  # {"pin": 4821}
    if not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        return [
            redact_json(item, max_depth - 1, name=_option_before(value, number))
            for number, item in enumerate(value)
        ]
    return {
        redact(clean(field)).text: redact_json(
            item, max_depth - 1, name=_pair_name(value) if field == "value" else field
        )
        for field, item in value.items()
    }


def _option_before(items: list[Any], number: int) -> str:
    """Return the option before an item of a command: ["mysql", "--password", "…"]."""
    before = items[number - 1] if number else None
    return before if isinstance(before, str) and before.startswith("--") else ""


def _pair_name(record: dict[str, Any]) -> str:
    names = (record[field] for field in _NAME_FIELDS if isinstance(record.get(field), str))
    return next(names, "value")
