"""
Which messages of a request are new: those after the model's last answer.

Chat protocols send the whole conversation each time, so all before that answer was heard in an
earlier request. How an answer is told from the rest is the dialect's to say.
"""

from collections.abc import Callable, Sequence

from recollect.text.message import unspoken
from recollect.text.transcripts.fields import Record


def since_answer(
    messages: Sequence[Record], *, is_answer: Callable[[Record], bool]
) -> Sequence[Record]:
    """Return the messages after the last answer."""
    last = next((at for at in reversed(range(len(messages))) if is_answer(messages[at])), -1)
    return messages[last + 1 :]


def without_prefill(messages: Sequence[Record]) -> Sequence[Record]:
    """Return *messages* without the beginning of an answer that the caller put at their end."""
    end = len(messages)
    while end and _is_prefill(messages[end - 1]):
        end -= 1
    return messages[:end]


def _is_prefill(message: Record) -> bool:
    # One with calls or thoughts is an answer that was paused, sent back to be gone on with.
    if message.get("role") != "assistant" or message.get("tool_calls"):
        return False
    if message.get("function_call"):
        return False
    content = message.get("content")
    return isinstance(content, str) or (isinstance(content, list) and unspoken(content) == (0, []))
