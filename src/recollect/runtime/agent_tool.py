"""A tool that an agent may call: how a model sees it, and the function that runs it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.models.chat_turn import ToolSpec
from recollect.wire.function_schema import FunctionSchema
from recollect.wire.schema_validator import SchemaError, schema_errors

RETURN_CHARS = 50_000  # of a result, if the tool does not say


@dataclass(frozen=True, kw_only=True)
class AgentTool:
    """
    One tool. `run` gets the arguments of a call, which fit the schema, and returns the result.

    `source_code` is set if the tool came with an agent file; a person sees it before it runs.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], Any]
    return_char_limit: int = RETURN_CHARS
    enable_parallel_execution: bool = False
    requires_approval: bool = False
    source_code: str = ""

    def __post_init__(self) -> None:
        if not self.name.replace("-", "_").isidentifier() or len(self.name) > 64:
            raise InvalidInput(
                f"{self.name!r} cannot be the name of a tool; "
                "use at most 64 letters, digits, _ and -"
            )

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)

    def argument_errors(self, arguments: Any) -> Iterator[SchemaError]:
        """Yield where *arguments* do not fit the schema."""
        return schema_errors({"type": "object", **self.parameters}, arguments)


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str = "",
    return_char_limit: int = RETURN_CHARS,
    enable_parallel_execution: bool = False,
    requires_approval: bool = False,
) -> AgentTool:
    """Return a tool with the schema of the function's signature and docstring."""
    schema = FunctionSchema(function, name=name)
    return AgentTool(
        name=schema.name,
        description=schema.description,
        parameters=schema.parameters,
        run=schema.call,
        return_char_limit=return_char_limit,
        enable_parallel_execution=enable_parallel_execution,
        requires_approval=requires_approval,
    )
