"""
What a chat model is: a system text and a prompt in, one text out, and what it cost.

Like an embedder it is lazy: making one calls nobody. It knows nothing of budgets; whoever asks
counts the tokens of each `Completion`.
"""

from dataclasses import dataclass
from typing import Protocol

from recollect.text.tokens import estimate_tokens


@dataclass(frozen=True)
class Completion:
    """What a chat model answered. Tokens are as the server counts them, or an estimate."""

    text: str
    input_tokens: int
    output_tokens: int


class ChatModel(Protocol):
    """Answers a prompt. Raises `ModelUnavailable` when it cannot now."""

    @property
    def name(self) -> str:
        """Where it runs and which model it is, such as "openai:gpt-x"."""
        ...

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the model's answer, of at most about *max_tokens* tokens."""
        ...


def completion(
    text: str,
    *,
    system: str,
    prompt: str,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
) -> Completion:
    """Return the completion *text*, with an estimate where a number of tokens is not known."""
    return Completion(
        text,
        estimate_tokens(f"{system}\n{prompt}") if input_tokens is None else input_tokens,
        estimate_tokens(text) if output_tokens is None else output_tokens,
    )
