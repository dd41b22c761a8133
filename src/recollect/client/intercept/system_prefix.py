"""Where to insert memory in a list of messages, and its query, in OpenAI's dialects."""

from collections.abc import Callable, Sequence
from typing import Any

from recollect.text.transcripts.json_fields import JsonRecord, is_record

_SYSTEM_ROLES = ("system", "developer")


def system_prefix_length(messages: Sequence[Any]) -> int:
    """Return the number of system and developer messages at the beginning."""
    roles = [message.get("role") if is_record(message) else None for message in messages]
    others = (index for index, role in enumerate(roles) if role not in _SYSTEM_ROLES)
    return next(others, len(roles))


def last_user_text_in(
    messages: Sequence[JsonRecord], message_text: Callable[[JsonRecord], str]
) -> str:
    """Return the text of the last user message that has text."""
    for message in reversed(messages):
        if message.get("role") == "user" and (text := message_text(message)).strip():
            return text
    return ""
