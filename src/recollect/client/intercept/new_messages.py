"""
Find the new messages of a request: those after the model's last reply.

Chat protocols send the whole conversation each time, so everything before that reply was recorded
with an earlier request. The dialect decides which messages are replies.
"""

from collections.abc import Callable, Sequence

from recollect.text.message_text import non_text_parts
from recollect.text.transcripts.json_fields import JsonRecord


def messages_after_reply(
    messages: Sequence[JsonRecord], *, is_reply: Callable[[JsonRecord], bool]
) -> Sequence[JsonRecord]:
    """Return the messages after the last reply."""
    replies = (index for index in reversed(range(len(messages))) if is_reply(messages[index]))
    return messages[next(replies, -1) + 1 :]


def without_prefill(messages: Sequence[JsonRecord]) -> Sequence[JsonRecord]:
    """Return *messages* without a prefill: the beginning of a reply that the caller appended."""
    end = len(messages)
    while end and _is_prefill(messages[end - 1]):
        end -= 1
    return messages[:end]


def _is_prefill(message: JsonRecord) -> bool:
    # A message with calls or reasoning is a paused reply, sent back to be continued.
    if message.get("role") != "assistant" or message.get("tool_calls"):
        return False
    if message.get("function_call"):
        return False
    content = message.get("content")
    return isinstance(content, str) or (
        isinstance(content, list) and non_text_parts(content) == (0, [])
    )
