"""The texts that the model already sees: those of the messages in a request, in any dialect."""

from collections.abc import Mapping
from typing import Any

from recollect.text.message_text import parts_text
from recollect.text.transcripts.json_fields import is_record

_MESSAGE_FIELDS = ("messages", "input", "contents")


def visible_texts(body: Mapping[str, Any]) -> list[str]:
    """Return the text of each message in a request body."""
    messages = next((body[name] for name in _MESSAGE_FIELDS if name in body), None)
    if not isinstance(messages, list):
        return []
    records = (message for message in messages if is_record(message))
    contents = (record.get("content", record.get("parts")) for record in records)
    return [text for content in contents if (text := _text(content))]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return parts_text(content) if isinstance(content, list) else ""
