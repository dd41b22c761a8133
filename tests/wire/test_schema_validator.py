"""Arguments of tools are checked as the package `jsonschema` checks them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from recollect.mcp.tool_definition import Tool
from recollect.mcp.tool_profiles import profile_tools
from recollect.wire.schema_validator import check_schema, schema_errors
from tables import each_row

TOOLS = [tool for name in ("recollect", "memory-graph", "chatgpt") for tool in profile_tools(name)]
NAMES = sorted({name for tool in TOOLS for name in tool.parameters} | {"entityName", "from"})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-1, 20_000)
    | st.floats()
    | st.sampled_from(["decision", "memories", "list", "x" * 2_001, "y" * 2_049])
    | st.text(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    tool=st.sampled_from(TOOLS),
    arguments=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)
def test_arguments_are_accepted_if_the_reference_accepts_them(
    tool: Tool, arguments: dict[str, Any]
) -> None:
    reference = Draft202012Validator(tool.input_schema)

    errors = list(schema_errors(tool.input_schema, arguments))

    assert bool(errors) is not reference.is_valid(arguments), errors


@each_row("tool", TOOLS, ids=lambda tool: f"{tool.name}-{len(tool.parameters)}")
def test_every_parameter_is_refused_if_it_has_the_wrong_type(tool: Tool) -> None:
    for name, schema in tool.parameters.items():
        others = {**dict.fromkeys(tool.required, "text"), name: object()}

        assert list(schema_errors(schema, others[name], name)), name


@each_row(
    ("schema", "value", "location", "message"),
    [
        ({"type": "integer"}, True, "", "True is not of type 'integer'"),
        ({"type": "integer", "maximum": 3}, 4.0, "", "4.0 is greater than the maximum of 3"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], "1", "1 is not of type"),
        ({"type": "object", "required": ["a"]}, {}, "", "'a' is a required property"),
        ({"type": "string", "enum": ["a", "b"]}, "c", "", "'c' is not one of ['a', 'b']"),
        (
            {"type": "object", "properties": {}, "additionalProperties": False},
            {"z": 1},
            "",
            "Additional properties are not allowed ('z' was unexpected)",
        ),
    ],
    ids=["bool", "maximum", "item", "missing", "enum", "unknown"],
)
def test_an_error_says_where_and_why(
    schema: dict[str, Any], value: Any, location: str, message: str
) -> None:
    error = next(schema_errors(schema, value))

    assert error.location == location
    assert error.message.startswith(message)


def test_a_schema_that_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="pattern"):
        check_schema({"type": "string", "pattern": "a+"})
    with pytest.raises(ValueError, match="null"):
        check_schema({"type": "array", "items": {"type": "null"}})
