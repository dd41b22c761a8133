"""A fake chat model with tools, for tests and examples: it answers with the turns it was given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import ModelUnavailable
from recollect.models.chat_model import Completion
from recollect.models.chat_turn import (
    Finish,
    Turn,
    TurnCall,
    TurnPart,
    TurnRequest,
    TurnText,
)
from recollect.models.turn_response import to_json_text


class ScriptedTurnModel:
    """Answers with its turns one after the other. Records what it was asked in `requests`."""

    def __init__(
        self, turns: Sequence[Turn | str | Exception] = (), *, name: str = "scripted"
    ) -> None:
        self.name = name
        self.turns = list(turns)
        self.requests: list[TurnRequest] = []

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Refuse: it has turns, and no completions."""
        raise ModelUnavailable(f"the scripted model {self.name} completes no prompts")

    def stream_turn(self, request: TurnRequest) -> Iterator[TurnPart]:
        """Yield the words of the next turn and then the turn, or raise it if it is an exception."""
        self.requests.append(request)
        if len(self.requests) > len(self.turns):
            raise ModelUnavailable(
                f"the scripted model has {len(self.turns)} turns and was asked"
                f" {len(self.requests)} times; script more"
            )
        turn = self.turns[len(self.requests) - 1]
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            turn = Turn(text=turn)
        for word in turn.text.split(" ") if turn.text else []:
            yield TurnText(word)
        yield turn


def call_turn(*calls: tuple[str, Mapping[str, Any] | str], text: str = "") -> Turn:
    """Return a turn that calls tools: each a name and its arguments, or their raw text."""
    turn_calls = tuple(
        TurnCall(
            f"call_{number}",
            name,
            arguments if isinstance(arguments, str) else to_json_text(arguments),
        )
        for number, (name, arguments) in enumerate(calls)
    )
    return Turn(text=text, calls=turn_calls, finish=Finish.CALLS)
