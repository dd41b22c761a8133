"""
Remove injected memory from captured messages.

A model may quote the injected text, and a user may paste it. If it were stored, it would be
recalled and injected again, and grow. The fence around it identifies it.
"""

from typing import Any

from recollect.client.intercept.dialect import CapturedMessage
from recollect.text.fence import fenced_spans
from recollect.text.transcripts.json_fields import is_record


def strip_injected(message: CapturedMessage) -> CapturedMessage | None:
    """Return *message* without injected memory; None if nothing else is left."""
    content = message.get("content")
    if isinstance(content, str):
        stripped: Any = _strip_text(content)
    elif isinstance(content, list):
        stripped = [_strip_part(part) for part in content]
    else:
        return message
    if stripped == content:
        return message
    if not stripped and not message.get("tool_calls"):
        return None
    return {**message, "content": stripped}


def _strip_part(part: Any) -> Any:
    text = part.get("text") if is_record(part) else None
    return {**part, "text": _strip_text(text)} if isinstance(text, str) else part


def _strip_text(text: str) -> str:
    spans = fenced_spans(text)
    if not spans:
        return text
    rest, position = [], 0
    for start, end in spans:
        rest.append(text[position:start])
        position = end
    rest.append(text[position:])
    return "".join(rest).strip()
