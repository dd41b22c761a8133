"""The texts that the model already sees: those of the messages in a request, in any dialect."""

from collections.abc import Mapping
from typing import Any

from recollect.text.message_text import parts_text
from recollect.text.transcripts.json_fields import is_record


def visible_texts(body: Mapping[str, Any]) -> list[str]:
    """Return the text of each message in a request body."""
    messages = body.get("messages", body.get("input"))
    if not isinstance(messages, list):
        return []
    contents = (message.get("content") for message in messages if is_record(message))
    return [text for content in contents if (text := _text(content))]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return parts_text(content) if isinstance(content, list) else ""
