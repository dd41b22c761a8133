"""
Detect the dialect of a request from its path, its headers and its body.

The host does not matter: many servers implement these protocols. Longer paths (counting tokens,
batches, a stored response) are not model calls.
"""

from collections.abc import Mapping

from recollect.client.intercept.anthropic_messages import MESSAGES
from recollect.client.intercept.dialect import Dialect
from recollect.client.intercept.gemini import GEMINI, GEMMA
from recollect.client.intercept.ollama_chat import OLLAMA
from recollect.client.intercept.openai_chat import CHAT
from recollect.client.intercept.openai_responses import RESPONSES
from recollect.text.transcripts.json_fields import JsonRecord, is_record

_GEMINI_CALLS = (":generateContent", ":streamGenerateContent")  # after the name of the model
_ENDINGS = ("/completions", "/responses", "/messages", "/api/chat", *_GEMINI_CALLS)


def may_call_model(path: str) -> bool:
    """Return whether a request with that path may call a model; its body decides."""
    return path.rstrip("/").endswith(_ENDINGS)


def detect_dialect(path: str, headers: Mapping[str, str], body: object) -> Dialect | None:
    """Return the dialect of a request with that path and JSON body, or None."""
    if not is_record(body):
        return None
    segments = path.partition("?")[0].rstrip("/").split("/")
    has_messages = isinstance(body.get("messages"), list)
    match segments:
        case [*_, "chat", "completions"] if has_messages:
            return CHAT
        case [*_, "responses"] if _is_responses_body(body):
            return RESPONSES
        case [*_, "messages"] if has_messages and "anthropic-version" in map(str.lower, headers):
            return MESSAGES
        case [*_, "api", "chat"] if has_messages and isinstance(body.get("model"), str):
            return OLLAMA
        case [*_, call] if call.endswith(_GEMINI_CALLS) and isinstance(body.get("contents"), list):
            return GEMMA if call.startswith("gemma") else GEMINI
        case _:
            return None


def _is_responses_body(body: JsonRecord) -> bool:
    """Return whether a body is of the Responses API: it has a model or a stored prompt."""
    prompt = body.get("prompt")
    has_model = isinstance(body.get("model"), str) or (is_record(prompt) and "id" in prompt)
    return has_model and isinstance(body.get("input", ""), str | list)
