"""The end of a conversation that fits: whole turns, and no result without its call."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.context.history_window import last_messages_within, message_size
from recollect.domain.conversation import Message, Role
from support import START


def message(position: int, role: Role, content: str = "x", **fields: object) -> Message:
    return Message(
        id=f"m{position}",
        conversation_id="c",
        position=position,
        role=role,
        content=content,
        created_at=START,
        **fields,  # type: ignore[arg-type]
    )


def talk(kinds: list[str]) -> list[Message]:
    """Make a conversation: u user, a assistant, c a call of two tools with both answers."""
    messages: list[Message] = []
    for kind in kinds:
        position = len(messages)
        if kind == "u":
            messages.append(message(position, Role.USER, "word " * (position % 7 + 1)))
        elif kind == "a":
            messages.append(message(position, Role.ASSISTANT, "reply " * (position % 5 + 1)))
        else:
            calls = tuple({"id": f"{position}-{n}", "function": {"name": "f"}} for n in range(2))
            messages.append(message(position, Role.ASSISTANT, "", tool_calls=calls))
            messages += [
                message(position + n + 1, Role.TOOL, "out", tool_call_id=f"{position}-{n}")
                for n in range(2)
            ]
    return messages


@given(kinds=st.lists(st.sampled_from(["u", "a", "c"]), max_size=40), budget=st.integers(0, 500))
def test_the_last_messages_fit_and_no_call_is_parted(kinds: list[str], budget: int) -> None:
    messages = talk(kinds)

    recent, cost = last_messages_within(messages, budget=budget, count=len)

    assert cost == sum(message_size(message, len) for message in recent) <= budget
    assert list(recent) == messages[len(messages) - len(recent) :]  # the very end, without a gap
    call_ids = {call["id"] for message in recent for call in message.tool_calls}
    answered = {message.tool_call_id for message in recent if message.tool_call_id}
    assert call_ids == answered
