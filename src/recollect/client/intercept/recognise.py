"""
Which dialect a request speaks, by its path, its headers and its body; None for all other requests.

The host is not looked at: many servers speak these protocols. A path that merely begins alike
(counting tokens, batches, one stored answer) is another request.
"""

from collections.abc import Mapping

from recollect.client.intercept.chat import CHAT
from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.messages import MESSAGES
from recollect.client.intercept.responses import RESPONSES
from recollect.text.transcripts.fields import Record, is_record


def dialect_of(path: str, headers: Mapping[str, str], body: object) -> Dialect | None:
    """Return the dialect of a request, given its path and the JSON of its body."""
    if not is_record(body):
        return None
    segments = path.partition("?")[0].rstrip("/").split("/")
    talk = isinstance(body.get("messages"), list)
    match segments:
        case [*_, "chat", "completions"] if talk:
            return CHAT
        case [*_, "responses"] if _asks_a_model(body):
            return RESPONSES
        case [*_, "messages"] if talk and any(h.lower() == "anthropic-version" for h in headers):
            return MESSAGES
        case _:
            return None


def _asks_a_model(body: Record) -> bool:
    """Say whether a body is one of the Responses API: it names a model, or a prompt that does."""
    prompt = body.get("prompt")
    named = isinstance(body.get("model"), str) or (is_record(prompt) and "id" in prompt)
    return named and isinstance(body.get("input", ""), str | list)
