"""
The chat model protocol: a system text and a prompt in, one text and its token counts out.

Creating a chat model makes no call. It knows nothing of budgets; the caller counts the tokens of
each `Completion`.
"""

from typing import Protocol

from recollect.lazy_dataclass import dataclass
from recollect.text.token_counter import estimate_tokens


@dataclass(frozen=True)
class Completion:
    """The answer of a chat model. Tokens are as the server counts them, or an estimate."""

    text: str
    input_tokens: int
    output_tokens: int


class ChatModel(Protocol):
    """Answers a prompt. Raises `ModelUnavailable` when it cannot now."""

    @property
    def name(self) -> str:
        """The kind of server and the model, such as "openai:gpt-x"."""

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the model's answer, of at most about *max_tokens* tokens."""


def make_completion(
    text: str,
    *,
    system: str,
    prompt: str,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
) -> Completion:
    """Return the completion *text*, with an estimate for token counts that are not known."""
    return Completion(
        text,
        estimate_tokens(f"{system}\n{prompt}") if input_tokens is None else input_tokens,
        estimate_tokens(text) if output_tokens is None else output_tokens,
    )
