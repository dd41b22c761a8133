"""
The JSON schema of a Python function, from its signature and its docstring.

The description is the docstring up to its section `Args:`; the lines of that section describe the
parameters. A default makes a parameter optional.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from recollect.errors import InvalidInput

_SECTIONS = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?):\s*$")
_PARAMETER = re.compile(r"^(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)$")
_PASSED_BY_LETTA = ("agent_state",)  # a parameter of Letta's tools that no model fills in


class FunctionSchema:
    """A function with the schema of its parameters."""

    def __init__(self, function: Callable[..., Any], *, name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", "")
        # The memory tools are methods, and the same ones for each run of each agent.
        read = _read_method if inspect.ismethod(function) else _read_signature
        self.description, self._model, self._parameters = read(
            getattr(function, "__func__", function), self.name
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of the parameters."""
        return deepcopy(self._parameters)  # a caller may change its own

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with *arguments*, converted to the types of its signature."""
        try:
            values = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or self.name
            raise InvalidInput(f"{place}: {first['msg']}") from None
        passed = {name: getattr(values, name) for name in values.model_fields_set}
        return self.function(**passed)


def _read_signature(
    function: Callable[..., Any], name: str, *, is_method: bool = False
) -> tuple[str, type[BaseModel], dict[str, Any]]:
    """Return the description of a function, the model of its arguments, and their schema."""
    description, texts = _read_docstring(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {}
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError) as error:
        raise InvalidInput(f"the signature of {name} cannot be read: {error}") from error
    for parameter in list(signature.parameters.values())[1 if is_method else 0 :]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise InvalidInput(
                f"{name} takes *{parameter.name}; a tool names each of its parameters"
            )
        if parameter.name in _PASSED_BY_LETTA:
            continue
        is_typed = parameter.annotation is not parameter.empty
        annotation = parameter.annotation if is_typed else Any
        default = ... if parameter.default is parameter.empty else parameter.default
        described = Field(default, description=texts.get(parameter.name))
        fields[parameter.name] = (annotation, described)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    model = create_model(f"{name}_arguments", __config__=config, **fields)
    schema: dict[str, Any] = _simplify(model.model_json_schema())
    parameters = {"properties": {}, **schema, "type": "object", "additionalProperties": False}
    return description, model, parameters


@lru_cache(maxsize=256)
def _read_method(
    function: Callable[..., Any], name: str
) -> tuple[str, type[BaseModel], dict[str, Any]]:
    return _read_signature(function, name, is_method=True)


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description and the texts about the parameters."""
    description: list[str] = []
    parameters: dict[str, str] = {}
    section, latest = "", ""
    for line in text.splitlines():
        if heading := _SECTIONS.match(line.strip()):
            section = heading.group(1)
        elif not section:
            description.append(line)
        elif section in ("Args", "Arguments", "Parameters"):
            parameter = _PARAMETER.match(line.strip())
            if parameter is not None:
                latest = parameter["name"]
                parameters[latest] = parameter["text"].strip()
            elif latest and line.strip():
                parameters[latest] += f" {line.strip()}"
    return "\n".join(description).strip(), parameters


def _simplify(schema: Any) -> Any:
    """Return a schema without titles, and without the null that every optional value allows."""
    if isinstance(schema, list):
        return [_simplify(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    simple = {
        name: {key: _simplify(item) for key, item in value.items()}
        if name in ("properties", "$defs")
        else _simplify(value)
        for name, value in schema.items()
        if name != "title" or isinstance(value, dict)
    }
    options = simple.get("anyOf")
    if options and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del simple["anyOf"]
        if simple.get("default", ...) is None:
            del simple["default"]
        simple = {**rest[0], **simple} if len(rest) == 1 else {**simple, "anyOf": rest}
    return simple
