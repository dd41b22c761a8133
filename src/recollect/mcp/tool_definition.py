"""
The definition of a tool: name, parameters, output and a function that calls the Python API.

A tool runs in a thread and returns its result, or a question for the user with the action to take
if they confirm. It does not depend on the protocol.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.mcp.caller_scope import Caller
from recollect.mcp.pagination import truncate
from recollect.wire.json_schema import Schema, object_of
from recollect.wire.schema_validator import check_schema, schema_errors

Arguments = Mapping[str, Any]
READ_ONLY: Mapping[str, bool] = {"readOnlyHint": True, "openWorldHint": False}
ADDITIVE: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": False,
    "openWorldHint": False,
}
DESTRUCTIVE: Mapping[str, bool] = {**ADDITIVE, "destructiveHint": True}
DESTRUCTIVE_IDEMPOTENT: Mapping[str, bool] = {**DESTRUCTIVE, "idempotentHint": True}

MAX_ERROR_CHARS = 300  # of a validation error, which may quote a long argument


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool: values for programs, and a text for clients that read only text."""

    values: Mapping[str, Any]
    text: str = ""  # '': the values as JSON


@dataclass(frozen=True)
class ConfirmationRequest:
    """A question for the user; `on_confirm` runs if they say yes."""

    question: str
    on_confirm: Callable[[], ToolResult]
    alternative: str = ""  # what the agent should do if the user cannot be asked
    propose: Callable[[], ToolResult] | None = None  # what is done instead in that case
    is_yes_by_default: bool = True  # False: the user must choose yes


ToolOutcome = ToolResult | ConfirmationRequest
ToolFunction = Callable[[LocalRecollect, Caller, Arguments], ToolOutcome]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool: its parameters and output by name, and which of them are always present."""

    name: str
    description: str
    parameters: Mapping[str, Schema]
    output: Mapping[str, Schema]
    hints: Mapping[str, bool]
    run: ToolFunction
    required: tuple[str, ...] = ()
    optional_output: tuple[str, ...] = ()  # output fields that are not always present

    def __post_init__(self) -> None:
        check_schema(self.input_schema)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of its arguments."""
        return object_of(self.parameters, self.required) | {"additionalProperties": False}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The schema of its output."""
        always = tuple(name for name in self.output if name not in self.optional_output)
        return object_of(self.output, always)

    def validate(self, arguments: Arguments) -> Arguments:
        """Return *arguments*, or raise `InvalidInput` with the first error."""
        error = next(schema_errors(self.input_schema, arguments), None)
        if error is None:
            return {name: _integral_as_int(value) for name, value in arguments.items()}
        message = truncate(error.message, MAX_ERROR_CHARS)
        if error.location:
            raise InvalidInput(f"{error.location}: {message}")
        takes = ", ".join(self.parameters) or "nothing"
        raise InvalidInput(f"{message}; {self.name} takes {takes}")


def _integral_as_int(value: Any) -> Any:
    # JSON has one number type: a schema accepts 8.0 as an integer, but Python functions do not.
    return int(value) if isinstance(value, float) and value.is_integer() else value
