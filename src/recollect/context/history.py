"""
The end of a conversation that fits into a budget: whole turns, no call without its result.

Pure. What is older is stood for by the conversation's summary, or searched.
"""

from collections.abc import Callable, Sequence

from recollect.context.calls import groups_of
from recollect.domain.conversation import Message, Role
from recollect.text.message import calls_text, unspoken

PER_MESSAGE_TOKENS = 4  # role and separators, as chat formats count them
PICTURE_TOKENS = 1_500  # about the most vendors charge for one picture

Count = Callable[[str], int]


def size_of(message: Message, count: Count) -> int:
    """Return what a message costs in a model's window: words, calls, results, pictures."""
    pictures, others = unspoken(message.parts or (), tool=message.role is Role.TOOL)
    extra = calls_text((*message.tool_calls, *others))
    size = PER_MESSAGE_TOKENS + count(message.content) + PICTURE_TOKENS * pictures
    return size + (count(extra) if extra else 0)


def last_that_fit(
    messages: Sequence[Message], *, budget: int, count: Count
) -> tuple[tuple[Message, ...], int]:
    """Return the last messages, in order, that fit in *budget* tokens together, and their cost."""
    kept: set[int] = set()
    left = budget
    for group in sorted(groups_of(messages), key=lambda one: one.places[-1], reverse=True):
        cost = sum(size_of(messages[place], count) for place in group.places)
        if cost > left:
            break  # a gap in what was said would mislead more than an early beginning
        kept.update(group.places)
        left -= cost
    return tuple(messages[place] for place in sorted(kept)), budget - left
