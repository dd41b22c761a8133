"""The JSON schemas of tool parameters and results."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}


def object_of(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of an object."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": list(required)} if required else {})


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(items)}


def enum_of(*names: str) -> Schema:
    """Return the schema of a string that is one of *names*."""
    # Plain strings, because validation errors quote them.
    return {"type": "string", "enum": [str(name) for name in names]}


def describe(schema: Schema, description: str) -> Schema:
    """Return *schema* with a description for the model."""
    return {**schema, "description": description}
