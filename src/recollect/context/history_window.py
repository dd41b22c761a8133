"""
Select the last messages of a conversation that fit in a budget, never splitting a tool call.

Pure. Older messages are covered by the conversation's summary, or found by search.
"""

from collections.abc import Sequence

from recollect.context.token_budget import TokenCounter
from recollect.context.tool_call_groups import group_tool_calls
from recollect.domain.conversation import Message, Role
from recollect.text.message_text import non_text_parts, tool_calls_text

PER_MESSAGE_TOKENS = 4  # role and separators, as chat formats count them
IMAGE_TOKENS = 1_500  # about the most a vendor charges for one image


def message_size(message: Message, count: TokenCounter) -> int:
    """Return the tokens of a message in a model's window: text, calls, results, images."""
    images, other_parts = non_text_parts(message.parts or (), tool=message.role is Role.TOOL)
    extra = tool_calls_text((*message.tool_calls, *other_parts))
    size = PER_MESSAGE_TOKENS + count(message.content) + IMAGE_TOKENS * images
    return size + (count(extra) if extra else 0)


def last_messages_within(
    messages: Sequence[Message], *, budget: int, count: TokenCounter
) -> tuple[tuple[Message, ...], int]:
    """Return the last messages, in order, that fit in *budget* tokens, and their cost."""
    included: set[int] = set()
    remaining = budget
    groups = sorted(group_tool_calls(messages), key=lambda group: group.indexes[-1])
    for group in reversed(groups):
        cost = sum(message_size(messages[index], count) for index in group.indexes)
        if cost > remaining:
            break  # a gap in the conversation would be misleading
        included.update(group.indexes)
        remaining -= cost
    return tuple(messages[index] for index in sorted(included)), budget - remaining
