"""Where memory stands in a list of messages, and what it is asked for, in OpenAI's dialects."""

from collections.abc import Callable, Sequence
from typing import Any

from recollect.text.transcripts.fields import Record, is_record

_ORDERS = ("system", "developer")


def orders_before(messages: Sequence[Any]) -> int:
    """Return how many system and developer messages stand at the head."""
    roles = [one.get("role") if is_record(one) else None for one in messages]
    return next((at for at, role in enumerate(roles) if role not in _ORDERS), len(roles))


def last_asked(messages: Sequence[Record], words: Callable[[Record], str]) -> str:
    """Return the words of the last user message that has any."""
    for message in reversed(messages):
        if message.get("role") == "user" and (said := words(message)).strip():
            return said
    return ""
