"""
Check the arguments of a tool against its schema.

Only some keywords are known. `check_schema` refuses a schema of ours with another one; in the
schemas of others (of an MCP server, of an agent file) other keywords are not checked. A test
compares the verdicts with those of the package `jsonschema`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from recollect.wire.json_schema import Schema

_NOTES = {"description", "default"}
_CHECKED = {
    "type",
    "enum",
    "minimum",
    "maximum",
    "maxLength",
    "items",
    "properties",
    "required",
    "additionalProperties",
}
_OUR_TYPES = {"array", "boolean", "integer", "object", "string"}
_IS_OF_TYPE: Mapping[str, Callable[[Any], bool]] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    # JSON has one number type: 8.0 is an integer.
    "integer": lambda value: _is_number(value) and value == value // 1,
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


# What the keywords of a schema must be, so that values can be checked against it.
_IS_READABLE: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) or _is_list_of_texts(value),
    "required": lambda value: _is_list_of_texts(value),
    "properties": lambda value: isinstance(value, Mapping),
    "enum": lambda value: isinstance(value, list | tuple),
    "anyOf": lambda value: value is None or isinstance(value, list | tuple),
    "oneOf": lambda value: value is None or isinstance(value, list | tuple),
    **dict.fromkeys(("minimum", "maximum", "maxLength"), lambda value: _is_number(value)),
}


class SchemaError(NamedTuple):
    """Where a value does not fit its schema, '' for the whole, and why."""

    location: str
    message: str


def check_schema(schema: Schema) -> None:
    """Raise `ValueError` if *schema* has a keyword or a type that is not checked here."""
    unknown = schema.keys() - _CHECKED - _NOTES
    if unknown or schema["type"] not in _OUR_TYPES:
        raise ValueError(f"this schema cannot be checked: {', '.join(unknown) or schema['type']}")
    for inner in (*schema.get("properties", {}).values(), schema.get("items")):
        if inner is not None:
            check_schema(inner)


def is_readable(schema: Any) -> bool:
    """Return whether the keywords of somebody else's schema have values of the right kind."""
    if not isinstance(schema, Mapping):
        return False
    if not all(is_right(schema[name]) for name, is_right in _IS_READABLE.items() if name in schema):
        return False
    properties = schema.get("properties", {}).values()
    options = (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ()))
    items = [schema["items"]] if "items" in schema else []
    return all(map(is_readable, (*properties, *options, *items)))


def schema_errors(schema: Schema, value: Any, location: str = "") -> Iterator[SchemaError]:
    """Yield where *value* does not fit *schema*."""
    message = _mismatch(schema, value)
    options = schema.get("anyOf") or schema.get("oneOf")
    if message:
        yield SchemaError(location, message)
    elif options and all(any(schema_errors(option, value)) for option in options):
        yield SchemaError(location, f"{value!r} is not valid under any of the given schemas")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from schema_errors(schema.get("items", {}), item, _join(location, place))
    elif isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield from schema_errors(inner, value[name], _join(location, name))


def _mismatch(schema: Schema, value: Any) -> str:
    """Return what is wrong with *value* itself, '' if nothing is."""
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds and not any(_IS_OF_TYPE.get(kind, _accept)(value) for kind in kinds):
        return f"{value!r} is not of type {', '.join(map(repr, kinds))}"
    if "const" in schema and value != schema["const"]:
        return f"{schema['const']!r} was expected"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r} is not one of {schema['enum']!r}"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{value!r} is too long"
    if _is_number(value) and value < schema.get("minimum", value):
        return f"{value!r} is less than the minimum of {schema['minimum']!r}"
    if _is_number(value) and value > schema.get("maximum", value):
        return f"{value!r} is greater than the maximum of {schema['maximum']!r}"
    return _wrong_properties(schema, value) if isinstance(value, dict) else ""


def _wrong_properties(schema: Schema, value: Mapping[str, Any]) -> str:
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{missing[0]!r} is a required property"
    unknown = [name for name in value if name not in schema.get("properties", {})]
    if unknown and schema.get("additionalProperties") is False:
        names = ", ".join(map(repr, unknown))
        verb = "was" if len(unknown) == 1 else "were"
        return f"Additional properties are not allowed ({names} {verb} unexpected)"
    return ""


def _accept(value: Any) -> bool:
    return True


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _join(location: str, step: object) -> str:
    return f"{location}.{step}" if location else str(step)
