"""
A dialect: how one vendor's protocol is read and written, as five functions on its JSON.

`learning()` chooses the dialect of a call (`detect_dialect.py`); all other code is independent of
vendors. The functions are pure and accept any JSON: values of unexpected types are ignored, and
arguments are never changed.

A captured message has the format of `conversations.append_many`: a dict with `role`, `content`,
and, if present, `tool_calls`, `tool_call_id`, `name` and `metadata`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from recollect.client.intercept.sse import SseEvent
from recollect.lazy_dataclass import dataclass

Json = dict[str, Any]
CapturedMessage = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One vendor protocol."""

    name: str
    last_user_text: Callable[[object], str]
    """Return the text of the last user message that has text, or '': the query for memory."""
    add_memory: Callable[[object, str], Json]
    """Return a copy of the request body with *text* added; unchanged if it has no place for it."""
    new_messages: Callable[[object], list[CapturedMessage]]
    """Return the messages of users and tools after the model's last reply in a request."""
    reply_messages: Callable[[object], list[CapturedMessage]]
    """Return the assistant message of a complete response body, or an empty list."""
    assemble_stream: Callable[[Iterable[SseEvent]], Json]
    """Return the response body that the events of a stream add up to; they may be incomplete."""
