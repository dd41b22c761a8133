"""
Read a chat server's answer: its text and its count of tokens.

Two dialects: OpenAI's chat completion and Anthropic's message. An answer that cannot be used is a
`CallFailed` that says why; nothing in it is trusted to have the shape it should. A count that makes
no sense is taken for none: the text is worth more than the figure beside it.
"""

from dataclasses import dataclass
from typing import Any, Literal

from recollect.models.post import CallFailed

Dialect = Literal["openai", "anthropic"]

MAX_TOKENS = 1_000_000_000  # no call costs more; a larger count is a fault
ANOTHER_MODEL = "ask again, or use another model"


@dataclass(frozen=True)
class Reading:
    """The text of an answer, and its tokens where the server counted them."""

    text: str
    input_tokens: int | None
    output_tokens: int | None


def read_answer(dialect: Dialect, answer: Any) -> Reading:
    """Return what *answer*, a parsed JSON value, says; raise `CallFailed` if it says nothing."""
    if failure := at(answer, "error"):
        raise CallFailed(f"answered with an error: {at(failure, 'message') or failure}")
    return _openai(answer) if dialect == "openai" else _anthropic(answer)


def at(value: Any, *path: str | int) -> Any:
    """Return what is at *path* in a parsed JSON value, None where there is no such place."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value


def _openai(answer: Any) -> Reading:
    choice = at(answer, "choices", 0)
    message = at(choice, "message")
    if not isinstance(message, dict):
        raise CallFailed("answered without a message")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    for refusal in (message.get("refusal"), *(at(part, "refusal") for part in parts)):
        if refusal:
            raise CallFailed(f"refused: {refusal}", next_step=ANOTHER_MODEL)
    return Reading(
        _text(content, at(choice, "finish_reason")),
        _tokens(at(answer, "usage", "prompt_tokens")),
        _tokens(at(answer, "usage", "completion_tokens")),
    )


def _anthropic(answer: Any) -> Reading:
    if not isinstance(answer, dict) or "content" not in answer:
        raise CallFailed("answered without a message")
    reason = answer.get("stop_reason")
    if reason == "refusal":
        raise CallFailed("refused to answer", next_step=ANOTHER_MODEL)
    return Reading(
        _text(answer["content"], reason),
        _tokens(at(answer, "usage", "input_tokens")),
        _tokens(at(answer, "usage", "output_tokens")),
    )


def _text(content: Any, stop_reason: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    text = _well_formed("".join(_text_of(part) for part in parts))
    if text.strip():
        return text
    if stop_reason in ("length", "max_tokens"):
        raise CallFailed(
            "answered without text: it used up its tokens before it came to any",
            next_step="use a model that reasons less",
        )
    raise CallFailed("answered without text", next_step=ANOTHER_MODEL)


def _text_of(part: Any) -> str:
    """Return the text of one part: what is thought, called or shown in pictures has none."""
    if isinstance(part, dict):
        part = part.get("text") if part.get("type", "text") in ("text", "output_text") else None
    if part is None:
        return ""
    if not isinstance(part, str):
        raise CallFailed("answered with content that is no text")
    return part


def _well_formed(text: str) -> str:
    """Join surrogates that a stream tore apart; replace those that stand alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _tokens(count: Any) -> int | None:
    # Not isinstance: true is no count. Zero is what servers say that do not count.
    return count if type(count) is int and 0 < count <= MAX_TOKENS else None
