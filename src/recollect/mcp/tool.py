"""
What a tool is: a name, what it takes and gives, and a function on the Python door.

A tool runs in a thread and returns what it has to tell, or a question that only a person may
answer, with what to do on a yes. It knows nothing of the protocol.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from recollect.app import Recollect
from recollect.errors import InvalidInput
from recollect.mcp.caller import Caller

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
YES_NO: Schema = {"type": "boolean"}

READS: Mapping[str, bool] = {"readOnlyHint": True, "openWorldHint": False}
ADDS: Mapping[str, bool] = {
    "readOnlyHint": False,
    "destructiveHint": False,
    "idempotentHint": False,
    "openWorldHint": False,
}
CHANGES: Mapping[str, bool] = {**ADDS, "destructiveHint": True}
REMOVES: Mapping[str, bool] = {**CHANGES, "idempotentHint": True}

MOST_FAULT = 300  # characters of what is wrong with an argument: it quotes the argument


@dataclass(frozen=True)
class Told:
    """What a tool answers: values for programs, and the text for those who read no values."""

    values: Mapping[str, Any]
    text: str = ""  # '': the values as JSON


@dataclass(frozen=True)
class Ask:
    """A question for the person in front of the client; `then` is done when they say yes."""

    question: str
    then: Callable[[], Told]
    instead: str  # what to do where nobody can be asked


Outcome = Told | Ask
Run = Callable[[Recollect, Caller, Mapping[str, Any]], Outcome]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. `takes` are the parameters by name, `needs` those that must be given."""

    name: str
    description: str
    takes: Mapping[str, Schema]
    gives: Mapping[str, Schema]
    hints: Mapping[str, bool]
    run: Run
    needs: tuple[str, ...] = ()
    always: tuple[str, ...] = ()  # of what it gives, what is never left out
    validator: Draft202012Validator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "validator", Draft202012Validator(self.input_schema))

    @property
    def input_schema(self) -> dict[str, Any]:
        """The schema of its arguments."""
        return object_of(self.takes, self.needs) | {"additionalProperties": False}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The schema of its answers."""
        return object_of(self.gives, self.always)

    def checked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return *arguments*, or say what is wrong with them."""
        fault = best_match(self.validator.iter_errors(arguments))
        if fault is None:
            return {name: _whole(value) for name, value in arguments.items()}
        where = ".".join(str(step) for step in fault.absolute_path)
        said = str(fault.message)
        said = said if len(said) <= MOST_FAULT else said[: MOST_FAULT - 1] + "…"
        known = ", ".join(self.takes) or "nothing"
        raise InvalidInput(f"{where}: {said}" if where else f"{said}; {self.name} takes {known}")


def _whole(value: Any) -> Any:
    # JSON knows one kind of number: to a schema 8.0 is an integer, to a verb it is none.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def object_of(properties: Mapping[str, Schema], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of an object."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": list(required)} if required else {})


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(items)}


def one_of(*names: str) -> Schema:
    """Return the schema of one of some words."""
    # Plain texts: what is wrong with an argument is told with these words, not with our types.
    return {"type": "string", "enum": [str(name) for name in names]}


def told_about(schema: Schema, description: str) -> Schema:
    """Return *schema* with a sentence for the model that fills it in."""
    return {**schema, "description": description}
