"""
One turn of a chat model that may call tools: what it is asked, and what it answers.

The same values for every vendor; `turn_request.py` and `turn_response.py` translate them.
"""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal, Protocol

from recollect.lazy_dataclass import dataclass

ANY_TOOL = "*"  # tool_choice: the model must call a tool, whichever


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # a JSON schema of an object


@dataclass(frozen=True)
class TurnCall:
    """A tool call of the model, with its arguments as the model wrote them."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class TurnMessage:
    """One message of the history; a message of role `tool` answers the call `call_id`."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[TurnCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, kw_only=True)
class TurnRequest:
    """What the model is asked. `tool_choice` is '' (it may), `ANY_TOOL` or the name of a tool."""

    system: str
    messages: tuple[TurnMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = ""
    max_tokens: int


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True)
class TurnText:
    """A part of the answer's text."""

    text: str


@dataclass(frozen=True)
class TurnReasoning:
    """A part of what the model thinks."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The whole answer. A token count is None if the server sent none."""

    text: str
    calls: tuple[TurnCall, ...] = ()
    finish: Finish = Finish.STOP
    input_tokens: int | None = None
    output_tokens: int | None = None


TurnPart = TurnText | TurnReasoning | Turn


class ToolChatModel(Protocol):
    """A chat model that may call tools."""

    @property
    def name(self) -> str:
        """The kind of server and the model, such as "openai:gpt-x"."""

    def stream_turn(self, request: TurnRequest) -> Iterator[TurnPart]:
        """
        Yield the parts of the answer as they arrive, and at the end the `Turn`.

        Raise `ContextOverflow` if the request is too long for the model, `InvalidModelResponse` if
        the answer cannot be used, and otherwise `ModelUnavailable`.
        """


def json_object(text: str) -> dict[str, Any]:
    """Return *text* as a JSON object, {} if it is not one."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
