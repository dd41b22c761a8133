"""
Build captured messages: the one format in which messages of every vendor are stored.

Tool calls are in `tool_calls`, as in OpenAI's chat completions. Tool results are messages with the
role `tool`; `recollect.context.tool_call_groups` matches them by id. Messages that the store would
refuse are not built.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from recollect.client.intercept.dialect import CapturedMessage, Json
from recollect.client.intercept.strip_payloads import MAX_CHARS, strip_payload_text, strip_payloads
from recollect.text.clean_text import clean
from recollect.text.message_text import non_text_parts, parts_text
from recollect.text.redact import redact
from recollect.text.transcripts.json_fields import is_record

MAX_NAME_CHARS = 200  # limit of the store for an id or a name
_EMPTY_RESULT: list[Json] = [{"type": "text", "text": ""}]  # the tool ran and returned nothing


def user_message(content: object, *, name: object = "") -> list[CapturedMessage]:
    """Return a user message, or an empty list if it has no content."""
    stored = _storable_content(content)
    return [_message("user", stored, name=_storable_name(name))] if stored else []


def tool_message(
    content: object, *, call_id: object, name: object = "", metadata: Json | None = None
) -> CapturedMessage:
    """Return the message of a tool result; an empty result is kept, because it ends the call."""
    return _message(
        "tool",
        _storable_content(content, tool=True) or _EMPTY_RESULT,
        tool_call_id=storable_call_id(call_id),
        name=_storable_name(name),
        metadata=metadata,
    )


def assistant_message(
    text: str, *, calls: Sequence[Json] = (), model: object = ""
) -> list[CapturedMessage]:
    """Return the model's message with its tool calls, or an empty list if it has neither."""
    stored = _storable_content(text)
    if not stored and not calls:
        return []
    model_name = _storable_name(model)
    metadata = {"model": model_name} if model_name else None
    return [_message("assistant", stored, tool_calls=list(calls), metadata=metadata)]


def tool_call(call_id: object, *, name: object, arguments: object) -> Json:
    """Return a tool call; *arguments* are an object or its JSON text."""
    arguments_json = arguments if isinstance(arguments, str) else _dump_json(arguments)
    function = {"name": _storable_name(name), "arguments": strip_payload_text(arguments_json)}
    call = {"id": storable_call_id(call_id), "type": "function", "function": function}
    return {key: value for key, value in call.items() if value}


def storable_call_id(value: object) -> str:
    """Return the id of a call; a long one is shortened in the same way for call and result."""
    if not isinstance(value, str) or len(value) <= MAX_NAME_CHARS:
        return value if isinstance(value, str) else ""
    # Some gateways put the model's signed reasoning into the id.
    digest = hashlib.sha256(value.encode(errors="surrogatepass")).hexdigest()
    return f"{value[:100]}-{digest[:32]}"


def _message(role: str, content: str | list[Any], **fields: object) -> CapturedMessage:
    present = {name: value for name, value in fields.items() if value}
    return {"role": role, "content": content, **present}


def _storable_content(content: object, *, tool: bool = False) -> str | list[Any]:
    """Return the text of *content*, or its parts if some are not text; '' if it is empty."""
    if isinstance(content, str):
        return _storable_text(content)
    parts = [content] if is_record(content) else content if isinstance(content, list) else []
    parts = [part for part in parts if _is_part(part)]
    images, others = non_text_parts(parts, tool=tool)
    if not images and not others:
        return _storable_text(parts_text(parts, tool=tool))
    fits = len(parts_text(parts, tool=tool)) <= MAX_CHARS
    max_chars = MAX_CHARS // (1 if fits else len(parts))
    return [strip_payloads(part, max_chars=max_chars) for part in parts]


def _is_part(part: object) -> bool:
    """Return whether *part* is a content part: not blank text, not a number."""
    if isinstance(part, str):
        return bool(part.strip())
    if not is_record(part):
        return False
    text = part.get("text")
    return bool(text.strip()) if isinstance(text, str) else bool(part)


def _storable_text(text: str) -> str:
    text = strip_payload_text(text)
    # The store redacts private text and refuses a message that is empty after that.
    public = redact(clean(text)).text if "private" in text.lower() else text
    return text if public.strip() else ""


def _storable_name(value: object) -> str:
    return value[:MAX_NAME_CHARS] if isinstance(value, str) else ""


def _dump_json(value: object) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""  # nested too deep: the call is stored without its arguments
