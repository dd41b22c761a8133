"""
Parse the response of a chat server: its text and its token counts.

Two dialects: OpenAI's chat completion and Anthropic's message. A response that cannot be used
raises `CallFailed` with the reason; its shape is never trusted. A token count that makes no sense
is ignored: the text matters more.
"""

from typing import Any, Literal

from recollect.lazy_dataclass import dataclass
from recollect.models.http_post import CallFailed

Dialect = Literal["openai", "anthropic"]

MAX_TOKENS = 1_000_000_000  # no call costs more; a larger count is an error
TRY_AGAIN = "ask again, or use another model"


@dataclass(frozen=True)
class ParsedCompletion:
    """The text of a response, and its token counts if the server sent them."""

    text: str
    input_tokens: int | None
    output_tokens: int | None


def parse_completion(dialect: Dialect, response: Any) -> ParsedCompletion:
    """Return the text and counts of *response*, parsed JSON; raise `CallFailed` without text."""
    if failure := json_at(response, "error"):
        raise CallFailed(f"answered with an error: {json_at(failure, 'message') or failure}")
    return _parse_openai(response) if dialect == "openai" else _parse_anthropic(response)


def json_at(value: Any, *path: str | int) -> Any:
    """Return the value at *path* in parsed JSON, or None if there is no such path."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value


def _parse_openai(response: Any) -> ParsedCompletion:
    choice = json_at(response, "choices", 0)
    message = json_at(choice, "message")
    if not isinstance(message, dict):
        raise CallFailed("answered without a message")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    for refusal in (message.get("refusal"), *(json_at(part, "refusal") for part in parts)):
        if refusal:
            raise CallFailed(f"refused: {refusal}", next_step=TRY_AGAIN)
    return ParsedCompletion(
        _text(content, json_at(choice, "finish_reason")),
        token_count(json_at(response, "usage", "prompt_tokens")),
        token_count(json_at(response, "usage", "completion_tokens")),
    )


def _parse_anthropic(response: Any) -> ParsedCompletion:
    if not isinstance(response, dict) or "content" not in response:
        raise CallFailed("answered without a message")
    reason = response.get("stop_reason")
    if reason == "refusal":
        raise CallFailed("refused to answer", next_step=TRY_AGAIN)
    return ParsedCompletion(
        _text(response["content"], reason),
        token_count(json_at(response, "usage", "input_tokens")),
        token_count(json_at(response, "usage", "output_tokens")),
    )


def _text(content: Any, stop_reason: Any) -> str:
    parts = content if isinstance(content, list) else [content]
    text = repair_surrogates("".join(_part_text(part) for part in parts))
    if text.strip():
        return text
    if stop_reason in ("length", "max_tokens"):
        problem = "answered without text: it used all its tokens before writing any"
        raise CallFailed(problem, next_step="use a model that reasons less")
    raise CallFailed("answered without text", next_step=TRY_AGAIN)


def _part_text(part: Any) -> str:
    """Return the text of one part; thoughts, tool calls and images have none."""
    if isinstance(part, dict):
        part = part.get("text") if part.get("type", "text") in ("text", "output_text") else None
    if part is None:
        return ""
    if not isinstance(part, str):
        raise CallFailed("answered with content that is not text")
    return part


def repair_surrogates(text: str) -> str:
    """Join surrogate pairs that a stream split; replace single ones."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def token_count(count: Any) -> int | None:
    """Return *count* if it is a number of tokens, else None."""
    # Not isinstance: true is not a count. Servers that do not count send zero.
    return count if type(count) is int and 0 < count <= MAX_TOKENS else None
